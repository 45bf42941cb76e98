"""Recursion in static functions, beyond what the corpus can tell: depth, the limit, cost, files, what Python decides."""

import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from corpus import recursion
from dy2st_runtime import config, reference

from dy2st import jit, nn, no_grad
from dy2st.convert.guards.activations import OTHER_NUMBERS, OTHERS, Activation, Kind, require_end, to_be_traced
from dy2st.errors import Dy2stError, RecursionLimitError, StructureError
from dy2st.jit import InputSpec, static_function
from dy2st.tensor import Tensor
from dy2st.tensor.autograd import grad


def functions(static):
    return list(static.main_program.functions)


def down(x, n):
    if n == 0:
        return x
    return down(x * 0.999, n - 1) + x


def test_a_deep_recursion_with_its_gradient():
    static = jit.to_static(down)
    x = Tensor(np.array([1.0, 2.0], np.float32), stop_gradient=False)
    y = static(x, Tensor(5000))
    y.sum().backward()
    want = sum(0.999**k for k in range(5001))
    np.testing.assert_allclose(y.numpy(), np.array([1.0, 2.0]) * want, rtol=1e-4)
    np.testing.assert_allclose(x.grad.numpy(), np.array([1.0, 1.0]) * want, rtol=1e-4)


def endless(x):
    return endless(x + 1) if x.sum() > 0 else x


def test_a_recursion_without_end_is_an_error_at_its_line():
    static = jit.to_static(endless)
    with pytest.raises(RecursionLimitError, match="more than 10000 times") as caught:
        static(Tensor([1.0]))
    assert caught.value.location.text.strip() == "return endless(x + 1) if x.sum() > 0 else x"
    assert static(Tensor([-1.0])).numpy() == [-1.0]
    with config.RECURSION_LIMIT.override(50), pytest.raises(RecursionError, match="more than 50 times"):
        static(Tensor([1.0]))
    with config.NO_JIT.override(True), pytest.raises(RecursionError):
        jit.to_static(endless)(Tensor([1.0]))


def test_a_run_that_is_too_deep_changes_nothing():
    class Counting(nn.Layer):
        def __init__(self):
            super().__init__()
            self.calls = 0

        def forward(self, x):
            self.calls = self.calls + 1
            return endless(x)

    layer = Counting()
    static = jit.to_static(layer)
    with config.RECURSION_LIMIT.override(50), pytest.raises(RecursionError):
        static(Tensor([1.0]))
    assert layer.calls == 0
    static(Tensor([-1.0]))
    assert layer.calls == 1


def chain_of(n):
    """A tree of n nodes in which each but the last has a leaf to the left."""
    inner = (n - 1) // 2
    left = [2.0 * k + 1 if k < inner else -1.0 for k in range(inner + 1)]
    nodes_left, nodes_right = [-1.0] * n, [-1.0] * n
    for k in range(inner):
        nodes_left[2 * k], nodes_right[2 * k] = left[k], 2.0 * k + 2
    return nodes_left, nodes_right


def balanced(n):
    left = [2.0 * k + 1 if 2 * k + 2 < n else -1.0 for k in range(n)]
    right = [2.0 * k + 2 if 2 * k + 2 < n else -1.0 for k in range(n)]
    return left, right


@pytest.mark.parametrize("shape", [chain_of, balanced])
def test_the_cost_is_linear_in_the_number_of_nodes(shape, monkeypatch):
    counts = {}
    run_op = reference.run_op
    with config.NO_JIT.override(True):
        static = jit.to_static(recursion.several_results)
        for n in (7, 15, 31):
            count = []
            monkeypatch.setattr(reference, "run_op", lambda op, env, count=count: (count.append(op), run_op(op, env)))
            left, right = (Tensor(np.array(side, np.float32)) for side in shape(n))
            values = Tensor(np.full([n, 2], 0.5, np.float32), stop_gradient=False)
            w = Tensor(np.array([0.5, 0.25], np.float32), stop_gradient=False)
            y, _ = static(left, right, values, w)
            y.sum().backward()
            counts[n] = len(count)
            assert sum(op.type == "call" for op in count) == 2 * n
    assert counts[31] - counts[15] == 2 * (counts[15] - counts[7])


def test_the_program_has_one_function_for_all_depths():
    static = jit.to_static(recursion.sum_of_tree)
    for n in (3, 5, 9):
        left, right = (Tensor(np.array(side, np.float32)) for side in balanced(n))
        static(left, right, Tensor(np.ones([n, 2], np.float32)))
    assert len(static.concrete_programs) == 1
    assert functions(static) == ["visit"]
    assert "recursive: 'visit' is a function of the Program" in static.explain()


def test_what_python_decides_is_unrolled():
    static = jit.to_static(recursion.decided_by_python)
    static(Tensor([1.0, 2.0]))
    assert functions(static) == []
    fixed, any_size = (jit.to_static(recursion.decided_by_shapes, input_spec=[InputSpec([n], "float32")]) for n in (4, None))
    x = Tensor([1.0, 2.0, -3.0, 4.0])
    np.testing.assert_allclose(fixed(x).numpy(), any_size(x).numpy())
    assert functions(fixed) == []
    assert functions(any_size) == ["decided_by_shapes"]


def counts_levels(x):
    levels = [0]

    def visit(y):
        levels[0] += 1
        if levels[0] > 3:
            return y
        return visit(y * 2) if y.sum() > 0 else visit(y - 1)

    return visit(x)


def test_what_python_decides_by_something_that_changes_is_unrolled():
    static = jit.to_static(counts_levels)
    # each path of a condition counts on from the same number
    np.testing.assert_allclose(static(Tensor([1.0])).numpy(), [8.0])
    assert functions(static) == []


def test_second_derivatives_are_an_error():
    static = jit.to_static(down)
    x = Tensor(np.array([1.0], np.float32), stop_gradient=False)
    y = static(x, Tensor(2))
    with pytest.raises(Dy2stError):
        grad([y], [x], create_graph=True)


def test_no_gradient_is_computed_in_no_grad():
    from dy2st import no_grad

    static = jit.to_static(down)
    with no_grad():
        y = static(Tensor(np.array([1.0], np.float32)), Tensor(3))
    assert y.stop_gradient
    assert functions(static) == ["down"]


class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.encoder = recursion.Encoder()

    def forward(self, left, right, values):
        root = left.sum().astype("int64") * 0
        return self.encoder(root, left, right, values)


DEPLOYED = """
import sys
import numpy as np
from dy2st_runtime import Predictor

predictor = Predictor(sys.argv[1])
with np.load(sys.argv[2]) as data:
    np.save(sys.argv[3], predictor.run(dict(data))[0])
assert not {"dy2st", "gast", "astor"} & set(sys.modules)
"""


def test_a_saved_model_calls_itself_in_a_process_of_its_own(tmp_path):
    model = Model()
    tree = [np.array(side, np.int64) for side in balanced(15)]
    values = np.random.default_rng(0).normal(size=[15, 2]).astype(np.float32)
    want = model(*map(Tensor, (*tree, values))).numpy()
    specs = [InputSpec([None], "int64", "left"), InputSpec([None], "int64", "right"), InputSpec([None, 2], "float32", "values")]
    jit.save(model, tmp_path / "tree", specs)
    np.savez(tmp_path / "feeds.npz", left=tree[0], right=tree[1], values=values)
    paths = [str(tmp_path / name) for name in ("tree", "feeds.npz", "out.npy")]
    subprocess.run([sys.executable, "-c", DEPLOYED, *paths], check=True)
    np.testing.assert_allclose(np.load(tmp_path / "out.npy"), want, rtol=1e-5, atol=1e-6)


def test_a_loaded_model_can_be_trained_and_called_by_another(tmp_path):
    model = Model()
    tree = [np.array(side, np.int64) for side in balanced(7)]
    values = np.random.default_rng(0).normal(size=[7, 2]).astype(np.float32)
    args = [Tensor(a) for a in (*tree, values)]
    specs = [InputSpec([None], "int64"), InputSpec([None], "int64"), InputSpec([None, 2], "float32")]
    jit.save(model, tmp_path / "tree", specs)
    loaded = jit.load(tmp_path / "tree")
    outer = jit.to_static(lambda left, right, v: loaded(left, right, v) + loaded(left, right, v * 2))
    want = model(*args) + model(args[0], args[1], args[2] * 2)
    got = outer(*args)
    np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-5)
    (want**2).sum().backward()
    (got**2).sum().backward()
    found = {p.name: p.grad.numpy() for p in loaded.parameters()}
    for p in model.parameters():
        np.testing.assert_allclose(found[p.name], p.grad.numpy(), rtol=1e-4, atol=1e-6)


def test_integers_have_no_gradient():
    static = jit.to_static(recursion.fibonacci)
    assert int(static(Tensor(10))) == 55
    assert static(Tensor(10)).stop_gradient


def halves(v):
    if v.abs().sum() < 0.5:
        return v
    return halves(v / 2) + v


def once_without_gradient(x):
    with no_grad():
        y = halves(x)
    return halves(x) + y


def then_without_gradient(x):
    z = halves(x)
    with no_grad():
        y = halves(x)
    return z * y * x


def given_or_made(v, depth):
    if depth <= 0:
        return v
    return v * 2 if v.sum() > 0 else given_or_made(v, depth - 1)


def passed_through_without_gradient(x):
    with no_grad():
        y = given_or_made(x, (x > 5).sum())
        z = given_or_made(x, (x < 5).sum())
    return y * x + z


class Kept:
    def __init__(self, value):
        self.value = value


def keep(kept, x, depth):
    if depth <= 0:
        return
    if x.sum() > 0:
        kept.value = x
    keep(kept, x, depth - 1)


def left_alone_without_gradient(x):
    kept = Kept(x * 3)
    with no_grad():
        keep(kept, x * 2, (x < 5).sum())
    return kept.value * x


@pytest.mark.parametrize("function", [
    once_without_gradient, then_without_gradient, passed_through_without_gradient, left_alone_without_gradient,
])  # fmt: skip
def test_gradients_flow_where_they_are_recorded(function):
    found = []
    for f in (function, jit.to_static(function)):
        x = Tensor(np.float32([1.0, -2.0]), stop_gradient=False)
        (f(x) ** 2).sum().backward()
        found.append(x.grad.tolist())
    assert found[0] == pytest.approx(found[1])


def test_calls_of_another_kind_in_each_trace_are_an_error():
    def unchanged(v):
        return v

    kinds = {Kind(unchanged.__code__, None, (number,)) for number in range(OTHERS)}
    require_end(kinds, Kind(unchanged.__code__))
    with pytest.raises(RecursionLimitError, match="'unchanged' calls itself, in each trace with other objects"):
        require_end({*kinds, Kind(unchanged.__code__)}, Kind(unchanged.__code__))


def test_calls_that_differ_in_many_numbers_are_calls_with_any():
    def unchanged(v):
        return v

    def kind(number, other="a"):
        return Kind(unchanged.__code__, None, ((int, number), (str, other)))

    known = [kind(number) for number in range(OTHER_NUMBERS)]
    assert to_be_traced(known[1:], kind(-1)) == kind(-1)
    assert to_be_traced(known, kind(-1)) == kind(-1).general
    assert to_be_traced(known, kind(-1, "b")) == kind(-1, "b")


class Counting(nn.Layer):
    def __init__(self):
        super().__init__()
        self.last = Tensor(np.float32(0.0))

    def down(self, x, depth):
        if depth <= 0:
            return x
        self.last = self.last + x.sum()
        return self.down(x / 2, depth - 1)

    def forward(self, x, depth):
        return self.down(x, depth) + self.last


def test_a_tensor_that_takes_the_place_of_another_one_is_nothing_that_python_decides_by(monkeypatch):
    kinds = []
    monkeypatch.setattr(static_function, "require_end", lambda _, kind: kinds.append(kind))
    found = [f(Tensor(np.float32([1.0, 2.0])), Tensor(3)).numpy() for f in (Counting(), jit.to_static(Counting()))]
    np.testing.assert_allclose(*found)
    assert [kind.leaves is None for kind in kinds] == [False]  # found at the first call inside, not after `OTHERS` of them


def branching(x, level):
    if x.sum() > 0:
        return branching(x - 4, level + 1) + branching(x - 5, level + 1)
    return x * level


def test_two_calls_at_each_level_are_not_unrolled_as_deep_as_one(monkeypatch):
    """Python knows the level, which is another one in each call: 16 levels would be 65,536 of these."""
    calls, of = [], Activation.of

    def counted(code, *args):
        calls.append(code)
        assert len(calls) < 1000
        return of(code, *args)

    monkeypatch.setattr(Activation, "of", staticmethod(counted))
    static = jit.to_static(branching)
    for x in ([9.0], [[1.0, 8.0]]):
        np.testing.assert_allclose(static(Tensor(x), 1).numpy(), branching(Tensor(x), 1).numpy())
    assert len(static.main_program.functions) == 1
    first, calls[:] = len(calls), []
    static(Tensor([[[9.0]]]), 1)
    assert len(calls) < 20 < first  # a further trace knows that it is recursive


@dataclass
class Holder:
    value: Tensor


def a_new_list_or_that_outside(own, depth):
    if depth > 0:
        if depth > 1:
            a_new_list_or_that_outside(own, depth - 1)
        return [own["list"][1], own["list"][0]]
    return own["list"]


def a_new_dict_or_that_outside(own, depth):
    if depth > 0:
        return a_new_dict_or_that_outside(own, depth - 1) if depth > 1 else {0: own["dict"][1], 1: own["dict"][0]}
    return own["dict"]


def a_new_object_or_that_outside(own, depth):
    if depth > 0:
        if depth > 1:
            a_new_object_or_that_outside(own, depth - 1)
        return Holder(own["object"].value * 2)
    return own["object"]


def a_growing_list_or_that_outside(own, depth):
    if depth > 0:
        if depth > 1:
            a_growing_list_or_that_outside(own, depth - 1)
        return [own["list"][0] + i for i in range(depth)]
    return own["list"]


def a_new_list_or_the_argument(own, depth, given=None):
    given = own["list"] if given is None else given
    if depth > 0:
        if depth > 1:
            a_new_list_or_the_argument(own, depth - 1, [given[1], given[0]])
        return [given[1], given[0]]
    return given


def change(found):
    if isinstance(found, Holder):
        found.value = found.value + 1
    else:
        found[0] = found[0] + 1


@pytest.mark.parametrize("function", [a_new_list_or_that_outside, a_new_dict_or_that_outside, a_new_object_or_that_outside,
                                      a_growing_list_or_that_outside, a_new_list_or_the_argument], ids=lambda f: f.__name__)  # fmt: skip
def test_what_may_be_a_container_outside(function):
    """What such a call returns can be read; it cannot be kept beside the other one, nor be changed."""

    def scalars():
        return {"list": [Tensor(1.0), Tensor(2.0)], "dict": {0: Tensor(1.0), 1: Tensor(2.0)}, "object": Holder(Tensor(1.0))}

    def read(own, depth):
        found = function(own, depth)
        return found.value if isinstance(found, Holder) else found[0] * 2

    def kept(own, depth):
        own["kept"] = function(own, depth)

    def changed(own, depth):
        found = function(own, depth)
        change(found)

    static = jit.to_static(read)
    for depth in (0, 1, 3):
        assert static(scalars(), Tensor(depth)).item() == read(scalars(), Tensor(depth)).item()
    with pytest.raises(StructureError, match="kept after the call is, in some runs, one that is kept elsewhere too"):
        jit.to_static(kept)(scalars(), Tensor(0))
    with pytest.raises(StructureError, match="is changed in place after this, which is one or another one"):
        jit.to_static(changed)(scalars(), Tensor(0))
