"""Functions of many early returns, breaks and continues: the values and gradients of eager mode, and cost that grows with their number."""

import linecache
import textwrap

import numpy as np
import pytest
from dy2st_runtime import config
from dy2st_runtime.ir.visit import all_ops

import dy2st as paddle
from dy2st import jit


def compiled(name, text):
    file = f"<many exits: {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope = {"paddle": paddle}
    exec(compile(text, file, "exec"), scope)
    return scope["f"]


def returns(count, step="y = y * 1.01 + {i}", result="y - {i}", start="y = x"):
    lines = "".join(f"if k == {i}:\n    return {result}\n{step}\n".format(i=i) for i in range(count))
    return f"def f(x, k):\n    {start}\n{textwrap.indent(lines, '    ')}    return {result.format(i=count)}\n"


def loop(count, words, step="y = y * 1.01 + {i}"):
    lines = "".join(f"if k + i == {i + 2}:\n    {words[i % len(words)]}\n{step}\n".format(i=i) for i in range(count))
    head = "def f(x, k):\n    y, i = x * 1, k * 0\n    while i < 3:\n        i = i + 1\n"
    return f"{head}{textwrap.indent(lines, ' ' * 8)}    return y\n"


COUNT = 17
# the shape of a tensor, a number, a list and a function, which each section changes
KNOWN = """\
t = y.reshape([1, -1]) if n % 2 else [y][0]
n += 1
rows.append(t.sum())
f = (paddle.sin, paddle.cos)[n % 2]
y = f(y) + n + len(rows)"""
TEXTS = {
    "returns": returns(COUNT),
    "what Python knows": returns(COUNT, KNOWN, "y + n + rows[-1] * len(rows)", "y, n, rows = x, 0, [x.sum()]"),
    "returned and changed": returns(COUNT, "y[0] = y[0] * 2 + {i}", "y", "y = x * 1"),
    "list returned and changed": returns(COUNT, "rows.append(y * {i})", "rows", "y, rows = x, []"),
    "in try": returns(COUNT).replace("\n    if", "\n    try:\n        pass\n    finally:\n        y = y + 1\n    if"),
    "breaks": loop(COUNT, ["break"]),
    "continues": loop(COUNT, ["continue"]),
    "all": loop(COUNT, ["break", "continue", "return y + {i}"]),
    "returned from a loop and changed": loop(COUNT, ["return y", "continue"], "y[0] = y[0] * 2 + {i}"),
    "returned and changed behind the last one": loop(16, ["return y"], "y[0] = y[0] * 2 + {i}"),
    "of two loops": loop(COUNT, ["break", "for j in range(2):\n        if k == j + {i}:\n            return y * j"]),
}


def outcome(function, k):
    x = paddle.to_tensor([0.5, 2.0], stop_gradient=False)
    found = function(x, paddle.to_tensor(k))
    values = found if isinstance(found, list) else [found]
    if values:
        sum(v.sum() for v in values).backward()
    return [v.numpy() for v in values], None if x.grad is None else x.grad.numpy()


@pytest.mark.parametrize("name", TEXTS)
def test_as_eagerly(name):
    function = compiled(name, TEXTS[name])
    static = jit.to_static(function)
    with config.NO_JIT.override(True):
        for k in (0, 8, COUNT - 1, COUNT + 3):
            (values, gradient), (found, its_gradient) = outcome(function, k), outcome(static, k)
            assert len(values) == len(found)
            for a, b in zip(values, found, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-5)
            if gradient is not None:
                np.testing.assert_allclose(gradient, its_gradient, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("break",), ("continue",), ("break", "continue", "return y")], ids="-".join)
def test_the_program_grows_with_their_number(words):
    """Results of branches are counted too: what is carried out of an inner one is a result of all around it."""
    sizes = []
    for count in (40, 120):  # 100 that nest are too deep for Python's parser
        text = loop(count, words) if words else returns(count)
        static = jit.to_static(compiled(f"{count} {words}", text))
        with config.NO_JIT.override(True):
            static(paddle.to_tensor([0.5, 2.0]), paddle.to_tensor(count + 9))
        ops = list(all_ops(static.main_program.global_block()))
        sizes.append(sum(1 + len(op.output_names) for op in ops))
    assert sizes[1] < 4 * sizes[0]


@pytest.mark.slow
@pytest.mark.parametrize("text", [returns(200), loop(200, ["break", "continue", "return y"])], ids=["returns", "all"])
def test_two_hundred_saved_and_loaded(text, tmp_path):
    function = compiled("two hundred", text)
    specs = [paddle.static.InputSpec([2], "float32", stop_gradient=False), paddle.static.InputSpec([], "int64")]
    jit.save(jit.to_static(function), str(tmp_path / "model"), input_spec=specs)
    loaded = jit.load(str(tmp_path / "model"))
    for k in (0, 100, 199, 300):
        for a, b in zip(outcome(function, k), outcome(loaded, k), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5)
