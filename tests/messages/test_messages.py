"""What users see of errors: the place that the caret shows, both sides of what does not fit, and a cure."""

import itertools
import linecache
import os
import subprocess
import sys
import textwrap
import traceback

import faulty
import numpy as np
import pytest
from dy2st_runtime.errors import Dy2stError, location_of
from dy2st_runtime.executor import planning

import dy2st as paddle
from dy2st import config, errors, jit, nn, static
from dy2st.nn import functional as F

counter = itertools.count()
BUILTIN = {e.__name__: e for e in (AssertionError, AttributeError, KeyError, ValueError)}


def names():
    return {
        "paddle": paddle, "np": np, "nn": nn, "F": F, "static": static, "jit": jit, "to_static": jit.to_static,
        "x": paddle.to_tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), "v": paddle.to_tensor([1.0, 2.0, 3.0]),
        "i": paddle.to_tensor([[0, 1, 2]]), "w": paddle.ones([2, 2]), "n": paddle.to_tensor(2),
        "spec": static.InputSpec([None, 3]),
    }  # fmt: skip


def unmarked(source):
    """The source without the marks, and the line and the columns between them."""
    before, inside, after = source.replace("»", "«").split("«")
    line, col = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1)
    return before + inside + after, (line, col, col + len(inside))


def run(source, found):
    file = f"<faulty {next(counter)}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    exec(compile(source, file, "exec"), found)
    return file


def check(source, call, kind, texts):
    text, where = unmarked(source)
    found = names()
    with pytest.raises(BUILTIN[kind] if kind in BUILTIN else getattr(errors, kind)) as caught:
        call(text, found)
    error = caught.value
    at = location_of(error)
    assert at.line == where[0], str(error)
    if sys.version_info >= (3, 11):
        assert (at.col, at.end_col) == where[1:], str(error)
    shown = "\n".join([str(error), *getattr(error, "__notes__", ())])
    for wanted in texts:
        assert wanted in shown, shown
    assert "^" in shown


def ids(rows):
    return [row[1].replace("«", "").replace("»", "").replace("\n", ";")[:60] for row in rows]


@pytest.mark.parametrize("row", faulty.EAGER, ids=ids(faulty.EAGER))
def test_eager(row, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kind, source, *texts = row
    check(source, run, kind, texts)


@pytest.mark.parametrize("row", faulty.STATIC, ids=ids(faulty.STATIC))
def test_static(row):
    kind, source, *texts = row

    def call(text, found):
        run(text, found)
        jit.to_static(found["f"])(found["x"], found["n"])

    check(source, call, kind, texts)


@pytest.mark.parametrize("row", faulty.BY_HAND, ids=ids(faulty.BY_HAND))
def test_by_hand(row):
    kind, source, *texts = row

    def call(text, found):
        main = static.Program()
        with static.program_guard(main, static.Program()):
            found["a"] = static.data("a", [3])
            found["p"] = found["a"].sum() > 0
            found["exe"], found["main"] = static.Executor(), main
            run(text, found)

    check(source, call, kind, texts)


def deep(x, n):
    return x[n]


def middle(x, n):
    y = x * 2
    return deep(y, n)


@jit.to_static
def outer(x, n):
    for _ in range(n):
        if n > 0:
            x = x + middle(x, n)
    return x


def lines_of(error, *functions):
    """The entries of a traceback in these functions, as function and line counted from its `def`."""
    firsts = {f.__name__: f.__code__.co_firstlineno for f in functions}
    found = [(e.name, e.lineno) for e in traceback.extract_tb(error.__traceback__)]
    return [(name, line - firsts[name]) for name, line in found if name in firsts]


@pytest.mark.parametrize("no_jit", [False, True])
def test_the_calls_that_led_to_an_op_are_in_the_traceback_of_its_failure(no_jit):
    with config.NO_JIT.override(no_jit), pytest.raises(IndexError) as caught:
        outer(paddle.ones([2, 3]), paddle.to_tensor(2))
    assert lines_of(caught.value, outer.raw, middle, deep) == [("outer", 4), ("middle", 2), ("deep", 1)]


def checked(n):
    assert n < 2, "too large"


@jit.to_static
def calls_checked(n):
    checked(n)
    return n


def test_so_they_are_for_exceptions_of_python():
    with pytest.raises(AssertionError) as caught:
        calls_checked(paddle.to_tensor(2))
    assert lines_of(caught.value, calls_checked.raw, checked) == [("calls_checked", 2), ("checked", 1)]


def test_a_program_built_by_hand_fails_at_the_line_that_built_the_op():
    main = static.Program()
    with static.program_guard(main):
        deep(static.data("x", [3]), static.data("n", [], "int64"))
    with pytest.raises(IndexError) as caught:
        static.Executor().run(main, feed={"x": np.ones(3, "float32"), "n": 5}, fetch_list=[main.global_block().ops[-1].output_names[0]])
    assert lines_of(caught.value, deep) == [("deep", 1)]
    files = [e.filename for e in traceback.extract_tb(caught.value.__traceback__)]
    assert len([f for f in files if "dy2st" in f.replace(__file__, "")]) == 1, files  # Executor.run itself


SCRIPT = """\
import dy2st as paddle

class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = paddle.nn.Linear(4, 2)

    def forward(self, x):
        return self.linear(x)

Net()(paddle.ones([2, 3]))
"""


@pytest.mark.parametrize("full", ["0", "1"])
def test_what_a_script_prints_has_no_frames_of_dy2st(tmp_path, full):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    env = {**os.environ, "DY2ST_FULL_TRACEBACK": full}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=env)
    assert done.returncode == 1
    assert ("dispatch.py" in done.stderr) == (full == "1")
    if full == "0":
        frames = [line.strip() for line in done.stderr.splitlines() if line.startswith("  File")]
        assert frames == [f'File "{script}", line 11, in <module>', f'File "{script}", line 9, in forward']
    assert "[D2S001] matmul of shapes [2, 3] and [4, 2]" in done.stderr


def test_an_error_in_dy2st_itself_keeps_its_frames():
    from dy2st.tensor.tracebacks import without_own

    try:
        paddle.ones([2]).astype.__func__(None, "float32")
    except AttributeError as error:
        kept = traceback.extract_tb(without_own(error, error.__traceback__))
    assert kept[-1].filename != __file__


def test_an_error_that_the_runtime_raises_alone_has_no_location():
    code = textwrap.dedent("""
        import numpy as np
        from dy2st_runtime.errors import ShapeError
        from dy2st_runtime.ops import registry
        import dy2st_runtime.ops
        try:
            registry.get("matmul_v2").run_reference((np.ones((2, 3)), np.ones((4, 5))), {"trans_x": False, "trans_y": False})
        except ShapeError as error:
            assert error.location is None
            print(error)
    """)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("[D2S001] matmul of shapes [2, 3] and [4, 5]: the inner sizes differ: 3 against 4\n  hint: ")


def test_what_an_op_was_given_is_said_once():
    error = Dy2stError("sizes [2, 3] and [4]").of([("X", "float32", "[2, 3]"), ("Y", "float32", "[4]")])
    assert error.operands is None
    error = Dy2stError("sizes differ").of([("X", "float32", "[2, 3]")]).of([("Z", "int64", "[1]")])
    assert error.operands == "X float32[2, 3]"


@pytest.mark.parametrize("asked", [False, True])
def test_why_a_kernel_does_not_compile_is_shown_only_if_asked_for(monkeypatch, asked):
    source = f"def kernel(a):\n    return nothing_{asked}(a)\n"
    monkeypatch.setattr(planning.cpu, "render", lambda *args, **options: source)

    def doubled(x):
        return paddle.tanh(x) * 2

    with config.DUMP.override(frozenset({"source"} if asked else ())), pytest.raises(errors.CompileError) as caught:
        jit.to_static(doubled)(paddle.ones([2]))
    assert caught.value.location.line == doubled.__code__.co_firstlineno + 1
    assert "does not compile: TypeError" in str(caught.value)
    assert ("nothing_" in "".join(traceback.format_exception(caught.value))) == asked
