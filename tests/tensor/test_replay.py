"""Gradient rules that were run before: the ops that they made are made again without them."""

import numpy as np
import op_cases
import pytest

import dy2st as paddle
from dy2st import custom_op, grad
from dy2st.errors import NonFiniteError
from dy2st.nn import functional as F
from dy2st.tensor import Tensor, dispatch, replay, tape


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.setattr(replay, "_kept", {})


def leaf(*shape, dtype="float32", seed=0):
    return Tensor((0.5 + np.random.default_rng(seed).random(shape)).astype(dtype), stop_gradient=False)


def rules(monkeypatch):
    """The types of the ops whose rules run from now on."""
    found = []
    rule = tape.OpNode.rule

    def noted(self, *args):
        found.append(self.op.type)
        return rule(self, *args)

    monkeypatch.setattr(tape.OpNode, "rule", noted)
    return found


def gradients(function, *xs):
    for x in xs:
        x.clear_gradient()
    function(*xs).sum().backward()
    return [x.grad.numpy() for x in xs]


FUNCTIONS = {
    "elementwise": lambda x, y: paddle.tanh(x * y) / (x + 2) - y,
    "broadcast": lambda x, y: x * y[0] + y[:, :1],
    "products": lambda x, y: paddle.matmul(x, y, transpose_y=True),
    "both operands are one": lambda x, y: x * x + y,
    "attributes": lambda x, y: F.leaky_relu(x - 1, 0.1) + paddle.clip(y, 0.7, 1.2).scale(3.0),
    "means and moves": lambda x, y: x.mean(1) + y.transpose([1, 0]).reshape([-1])[:3] + paddle.max(x, 1),
    "rows": lambda x, y: F.softmax(x) * F.log_softmax(y) + F.layer_norm(x, [3]),
    "of integers": lambda x, y: F.embedding(Tensor([0, 1, 1]), x) + paddle.gather(y, Tensor([2, 0, 2])),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_again_the_digits_are_the_same_and_no_rule_runs(name, dtype, monkeypatch):
    gradients(FUNCTIONS[name], leaf(3, 3, dtype=dtype), leaf(3, 3, dtype=dtype, seed=1))
    ran = rules(monkeypatch)
    x, y = leaf(3, 3, dtype=dtype, seed=2), leaf(3, 3, dtype=dtype, seed=3)
    other = gradients(FUNCTIONS[name], x, y)
    assert not {"elementwise_mul", "elementwise_add", "tanh", "matmul_v2", "reduce_mean", "scale", "gather"} & {*ran}
    replay._kept.clear()
    np.testing.assert_array_equal(other, gradients(FUNCTIONS[name], x, y))


def test_each_kind_of_types_attributes_and_wishes_has_its_own(monkeypatch):
    def backward(a, b, scale):
        return [None if g is None else g.numpy() for g in grad((a * b).scale(scale).sum(), [a, b], allow_unused=True)]

    kinds = [(leaf(3), leaf(3), 1.0), (leaf(2, 3), leaf(3), 1.0), (leaf(3, dtype="float64"), leaf(3, dtype="float64"), 1.0),
             (leaf(3), leaf(3), 2.0), (leaf(3), leaf(3).detach(), 1.0), (leaf(3), leaf(3), 0.0), (leaf(3), leaf(3), -0.0)]  # fmt: skip
    found = [backward(*kind) for kind in kinds]
    for kind, got in zip(kinds, found, strict=True):
        replay._kept.clear()
        for g, again in zip(got, backward(*kind), strict=True):
            assert (g is None) == (again is None)
            if g is not None:
                assert g.dtype == again.dtype
                np.testing.assert_array_equal(g, again)
                np.testing.assert_array_equal(np.signbit(g), np.signbit(again))


def test_gradients_that_are_one_tensor_are_given_out_as_two():
    for _ in range(2):
        a, b = leaf(3), leaf(3)
        (a + b).sum().backward()
        a.grad.zero_()
        assert (b.grad.numpy() == 1).all()


def test_a_rule_of_the_users_runs_each_time():
    calls = []

    @custom_op(infer=lambda x: (x.shape, x.dtype), name="replay_doubled")
    def doubled(x):
        return x * 2

    @doubled.gradient
    def rule(x, out, dout):
        calls.append(len(calls))
        return dout * (2.0 + len(calls))

    for want in (3.0, 4.0, 5.0):
        assert (gradients(doubled, leaf(2))[0] == want).all()


def test_gradients_of_gradients_and_hooks_are_as_before():
    for _ in range(2):
        x = leaf(3)
        (dx,) = grad((x * x * x).sum(), [x], create_graph=True)
        (ddx,) = grad(dx.sum(), [x])
        np.testing.assert_allclose(ddx.numpy(), 6 * x.numpy(), rtol=1e-6)
        h = x * x
        h.register_hook(lambda g: g * 10)
        np.testing.assert_allclose(gradients(lambda x, h=h: h * 1.0, x)[0], 20 * x.numpy(), rtol=1e-6)


def test_what_a_flag_looks_at_is_looked_at_again():
    for _ in range(2):
        gradients(paddle.sqrt, leaf(2))
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    try:
        x = Tensor([0.0, 1.0], stop_gradient=False)
        with pytest.raises(NonFiniteError):
            gradients(paddle.sqrt, x)
    finally:
        paddle.set_flags({"FLAGS_check_nan_inf": False})


def test_so_many_are_kept(monkeypatch):
    monkeypatch.setattr(replay, "MOST", 4)
    for size in range(1, 9):
        gradients(lambda x: x * x, leaf(size))
        assert len(replay._kept) <= 4


def _plain(case):
    return case.raises is None and not case.record.effect and not case.record.host and not any(
        isinstance(v, (op_cases.TensorArray, op_cases.Missing)) for value in case.inputs.values() for v in op_cases.as_list(value)
    )  # fmt: skip


CASES = [case for case in op_cases.all_cases() if case.gradient_slots() and _plain(case)]


@pytest.mark.parametrize("case", CASES, ids=op_cases.case_ids(CASES))
def test_of_every_op(case):
    wanted = case.gradient_slots()
    ins = [[Tensor(v, stop_gradient=slot.name not in wanted) for v in value] if type(value) is list
           else None if value is None else Tensor(value, stop_gradient=slot.name not in wanted)
           for slot, value in zip(case.record.input_slots, case.values(), strict=True)]  # fmt: skip
    outs = dispatch.ops.apply(case.record, tuple(ins), case.full_attrs())
    node = next((t._node for t in outs if type(t) is Tensor and t._node is not None), None)
    if node is None or not node.plain:
        return  # of lists with entries the rule always runs
    needed = [edge is not None for edge in node.edges]
    rng = np.random.default_rng(0)
    for _ in range(3):
        grads = [None if t is None or t._stop else Tensor(rng.normal(size=t.shape).astype(t.dtype)) for t in outs]
        found = replay.gradients(node, grads, needed)
        if found is None:
            continue
        for got, want in zip(found, node.rule(dispatch.ops, grads, needed)[2], strict=True):
            assert (got is None) == (want is None)
            if got is not None:
                np.testing.assert_array_equal(got.numpy(), want.numpy())
                assert got.dtype == want.dtype
