import gc
import weakref

import numpy as np
import pytest
from gradcheck import check

import dy2st as paddle
import dy2st.nn.functional as F
from dy2st import Tensor
from dy2st.errors import DTypeError, GradientError, ShapeError
from dy2st.tensor import tape


def leaf(*values):
    return Tensor(list(values), stop_gradient=False)


R = np.random.default_rng(1)
A, B = R.uniform(0.5, 2, (2, 3)), R.uniform(0.5, 2, (3,))

# name → function of Tensors, arrays; with the gradient of the gradient
SMOOTH = {
    "add": (lambda x, y: x + y * y, A, B),
    "sub": (lambda x, y: x * x - y * x, A, B),
    "mul": (lambda x, y: x * y, A, B),
    "div": (lambda x, y: x / y, A, B),
    "pow": (lambda x, y: x**y, A, B),
    "pow2": (lambda x: x**3, A),
    "pow_of_bools": (lambda x, y: Tensor([True, True, True]) ** x + y ** Tensor([True, False, True]), A, B),
    "exp": (lambda x: paddle.exp(x), A),
    "log": (lambda x: paddle.log(x) * paddle.log1p(x), A),
    "sqrt": (lambda x: paddle.sqrt(x) + paddle.rsqrt(x), A),
    "trig": (lambda x: paddle.sin(x) * paddle.cos(x) + paddle.tan(x / 4), A),
    "inverse_trig": (lambda x: paddle.asin(x / 3) + paddle.acos(x / 3) * paddle.atan(x), A),
    "hyperbolic": (lambda x: paddle.tanh(x) * paddle.sinh(x) + paddle.cosh(x), A),
    "erf": (lambda x: paddle.erf(x) * x, A),
    "square": (lambda x: paddle.square(x) * paddle.reciprocal(x + 1), A),
    "matmul": (lambda x, y: x @ y, A, R.normal(size=(3, 2))),
    "matmul_vectors": (lambda x, y: x @ y, B, R.normal(size=(3,))),
    "matmul_batch": (lambda x, y: paddle.matmul(x, y, True), R.normal(size=(2, 3, 2)), R.normal(size=(3, 2))),
    "einsum": (lambda x, y: paddle.einsum("ij,kj->ik", x, y), A, R.normal(size=(4, 3))),
    "sum": (lambda x: (x.sum(0) * x.sum(1, keepdim=True)).sum(), A),
    "mean": (lambda x: x.mean([0, 1]) * x, A),
    "prod": (lambda x: x.prod(1), A),
    "logsumexp": (lambda x: paddle.logsumexp(x, 1), A),
    "var": (lambda x: x.var(1) + x.std(1, unbiased=False), A),
    "norm": (lambda x: paddle.norm(x, axis=1) + paddle.norm(x, p=3, axis=1), A),
    "cumsum": (lambda x: paddle.cumsum(x * x, 1), A),
    "cumprod": (lambda x: paddle.cumprod(x, 1), A),
    "shapes": (lambda x: paddle.transpose(x.reshape([3, 2]), [1, 0]).unsqueeze(1).squeeze(1).flatten() ** 2, A),
    "concat": (lambda x, y: paddle.concat([x, y.unsqueeze(0), x * x]), A, B),
    "stack": (lambda x, y: paddle.stack([x[0], y * y], axis=1), A, B),
    "split": (lambda x: paddle.split(x * x, [1, -1], axis=1)[1], A),
    "unbind": (lambda x: paddle.unbind(x, 1)[2] * paddle.unbind(x, 1)[0], A),
    "expand": (lambda x: paddle.expand(x, [2, 2, 3]) ** 2, A),
    "tile": (lambda x: paddle.tile(x, [2, 1]) ** 2, A),
    "flip_roll": (lambda x: paddle.flip(x, [1]) * paddle.roll(x, 1, 1), A),
    "gather": (lambda x: paddle.gather(x * x, Tensor([1, 0, 1]), 0), A),
    "gather_nd": (lambda x: paddle.gather_nd(x * x, Tensor([[1, 0], [0, 2]])), A),
    "where": (lambda x, y: paddle.where(Tensor([True, False, True]), x * x, y * y), A, B),
    "scatter": (lambda x, y: paddle.scatter(x * x, Tensor([1]), (y * y).unsqueeze(0)), A, B),
    "sigmoid": (lambda x: F.sigmoid(x), A),
    "softplus": (lambda x: F.softplus(x) * F.log_sigmoid(x), A),
    "gelu": (lambda x: F.gelu(x) + F.gelu(x, True), A),
    "silu": (lambda x: F.silu(x) + F.mish(x), A),
    "softmax": (lambda x: F.softmax(x, axis=0) * F.log_softmax(x), A),
    "layer_norm": (lambda x, y: F.layer_norm(x, 3, y, y), R.normal(size=(2, 3)), B),
    "linear": (lambda x, y: F.linear(x, y) ** 2, A, R.normal(size=(3, 2))),
}
KINKED = {
    "abs": (lambda x: paddle.abs(x - 1.2) * x, A),
    "max_min": (lambda x, y: paddle.maximum(x, y) * paddle.minimum(x, y), A, B + 0.013),
    "reduce_max": (lambda x: x.max(1) * x.min(1), A),
    "clip": (lambda x: paddle.clip(x, 0.8, 1.3) * x, A),
    "relu": (lambda x: F.relu(x - 1) * F.leaky_relu(x - 1.5) + F.relu6(x) + F.elu(x - 1.1), A),
    "hard": (lambda x: F.hardswish(x) + F.hardsigmoid(x) * x + F.hardtanh(x - 1), A),
    "topk": (lambda x: paddle.topk(x * x, 2)[0], A),
    "sort": (lambda x: paddle.sort(x * x, 1, True), A),
    "masked": (lambda x: paddle.masked_select(x * x, x > 1), A),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_and_their_gradients(name):
    function, *arrays = SMOOTH[name]
    check(function, *arrays, double=True)


@pytest.mark.parametrize("name", KINKED)
def test_gradients_with_kinks(name):
    function, *arrays = KINKED[name]
    check(function, *arrays)


class TestBackward:
    def test_accumulates_in_leaves(self):
        x = leaf(1.0, 2.0)
        for _ in range(2):
            (x * x).sum().backward()
        assert x.grad.tolist() == [4, 8]
        np.testing.assert_array_equal(x.gradient(), [4, 8])
        x.clear_grad()
        assert x.grad is None
        assert x.gradient() is None

    def test_a_tensor_used_twice(self):
        x = leaf(3.0)
        y = x * x
        (y * y + y).backward()
        assert x.grad.item() == 4 * 27 + 6

    def test_a_gradient_to_start_with(self):
        x = leaf(1.0, 2.0)
        (x * x).backward(Tensor([1.0, 10.0]))
        assert x.grad.tolist() == [2, 40]
        with pytest.raises(ShapeError, match="start with"):
            (x * x).backward(Tensor([1.0]))

    def test_several_roots(self):
        x = leaf(2.0)
        paddle.autograd.backward([x * x, x * 3], [None, Tensor([2.0])])
        assert x.grad.item() == 4 + 6

    def test_tensors_on_the_way_get_theirs(self):
        x = leaf(2.0)
        y = x * x
        loss = y * 3
        loss.backward()
        assert (loss.gradient().item(), y.grad.item(), x.grad.item()) == (1, 3, 12)

    def test_a_freed_graph_is_an_error(self):
        x = leaf(1.0)
        y = x * x
        y.backward()
        with pytest.raises(GradientError, match=r"elementwise_mul was freed"):
            y.backward()
        z = x * x
        z.backward(retain_graph=True)
        z.backward()
        assert x.grad.item() == 6

    def test_nothing_to_differentiate_is_an_error(self):
        with pytest.raises(GradientError, match="stop_gradient"):
            Tensor([1.0]).backward()
        x = leaf(1.0)
        with pytest.raises(GradientError, match="is bool"):
            (x > 0).backward()
        with pytest.raises(DTypeError):
            paddle.grad([1.0], x)

    def test_integers_carry_no_gradient(self):
        x = leaf(1.5)
        n = x.astype("int64")
        assert n.stop_gradient
        assert (x * n).stop_gradient is False

    def test_gradients_have_the_dtype_of_the_tensor(self):
        x = Tensor([1.0], dtype="float32", stop_gradient=False)
        y = Tensor([2.0], dtype="float64", stop_gradient=False)
        (x * y).backward()
        assert (x.grad.dtype, y.grad.dtype) == ("float32", "float64")

    def test_graphs_are_freed_without_the_collector(self):
        gc.disable()
        try:
            x = leaf(1.0)
            y = x * x
            dead = weakref.ref(y._node)
            z = y * y
            del y
            z.sum().backward(retain_graph=True)
            del z
            assert dead() is None
        finally:
            gc.enable()

    def test_a_long_chain_does_not_overflow_the_stack(self):
        x = leaf(1.0)
        y = x
        for _ in range(5000):
            y = y + 1.0
        y.backward()
        assert x.grad.item() == 1


class TestGrad:
    def test_no_grad_attribute_changes(self):
        x, w = leaf(2.0), leaf(3.0)
        (g,) = paddle.grad(x * x * w, x)
        assert g.item() == 12
        assert (x.grad, w.grad, g.stop_gradient) == (None, None, True)

    def test_of_tensors_on_the_way(self):
        x = leaf(2.0)
        y = x * x
        z = y * y
        dy, dx = paddle.grad(z, [y, x])
        assert (dy.item(), dx.item()) == (8, 32)

    def test_unused_inputs(self):
        x, y = leaf(1.0), leaf(1.0)
        with pytest.raises(GradientError, match="allow_unused"):
            paddle.grad(x * x, y)
        assert paddle.grad(x * x, [x, y], allow_unused=True)[1] is None

    def test_blocked_tensors(self):
        x = leaf(2.0)
        y = x * x
        (g,) = paddle.grad(y * x, x, no_grad_vars=[y])
        assert g.item() == 4

    def test_higher_orders(self):
        x = leaf(2.0)
        y = x**4
        found = []
        for _ in range(3):
            (y,) = paddle.grad(y, x, create_graph=True)
            found.append(y.item())
        assert found == [32, 48, 48]

    def test_gradient_penalty(self):
        x, w = leaf(1.0, 2.0), leaf(3.0, -1.0)
        (g,) = paddle.grad((w * x * x).sum(), x, create_graph=True)
        ((g * g).sum()).backward()
        np.testing.assert_allclose(w.grad.numpy(), 8 * w.numpy() * x.numpy() ** 2)

    def test_only_what_is_needed_is_computed(self, monkeypatch):
        from dy2st_runtime.ops import registry

        monkeypatch.setattr("dy2st.tensor.replay._kept", {})
        mul, calls = registry.get("elementwise_mul"), []
        for name in ("grad_x", "grad_y"):
            rule = getattr(mul, name)
            monkeypatch.setattr(mul, name, staticmethod(lambda *a, name=name, rule=rule: calls.append(name) or rule(*a)))
        x, w = leaf(1.0), leaf(2.0)
        paddle.grad(x * w, x)
        assert calls == ["grad_x"]

    def test_wrong_numbers(self):
        x = leaf(1.0)
        with pytest.raises(GradientError, match="1 tensors, but 2"):
            paddle.grad(x * x, x, [None, None])
        with pytest.raises(GradientError, match="only_inputs"):
            paddle.grad(x * x, x, only_inputs=False)


class TestModes:
    def test_no_grad(self):
        x = leaf(1.0)
        with paddle.no_grad():
            assert (x * x).stop_gradient
            with paddle.enable_grad():
                assert not (x * x).stop_gradient
        assert not (x * x).stop_gradient

    def test_as_decorators(self):
        x = leaf(1.0)

        @paddle.no_grad
        def plain():
            return x * x

        @paddle.no_grad()
        def called():
            return x * x

        @paddle.no_grad()
        def generator():
            yield (x * x).stop_gradient
            yield (x * x).stop_gradient

        assert plain().stop_gradient
        assert called().stop_gradient
        states = []
        for state in generator():
            states += [state, paddle.is_grad_enabled()]
        assert states == [True, True, True, True]
        assert paddle.is_grad_enabled()

    def test_the_mode_comes_back_after_an_exception(self):
        with pytest.raises(KeyError), paddle.no_grad():
            raise KeyError
        assert paddle.is_grad_enabled()

    def test_set_grad_enabled(self):
        with paddle.set_grad_enabled(False):
            assert not paddle.is_grad_enabled()
        assert paddle.is_grad_enabled()
        paddle.set_grad_enabled(False)
        assert not paddle.is_grad_enabled()
        paddle.set_grad_enabled(True)

    def test_detach_and_stop_gradient(self):
        x = leaf(2.0)
        (x * x.detach()).backward()
        assert x.grad.item() == 2
        y = x * x
        y.stop_gradient = True
        assert (y * 2).stop_gradient
        c = x.clone()
        c.backward()
        assert x.grad.item() == 3


class TestHooks:
    def test_see_and_change_gradients(self):
        x = leaf(1.0, 2.0)
        seen = []
        handle = x.register_hook(lambda g: seen.append(g.tolist()))
        x.register_hook(lambda g: g * 10)
        (x * 3).sum().backward()
        assert seen == [[3, 3]]
        assert x.grad.tolist() == [30, 30]
        assert handle.remove()
        assert not handle.remove()
        (x * 3).sum().backward()
        assert seen == [[3, 3]]

    def test_on_the_way(self):
        x = leaf(2.0)
        y = x * x
        y.register_hook(lambda g: g * 0)
        (y + x).backward()
        assert x.grad.item() == 1

    def test_see_the_sum_of_all_uses(self):
        x = leaf(2.0)
        seen = []
        y = x * 1.0
        y.register_hook(lambda g: seen.append(g.item()))
        (y * y + y).backward()
        assert seen == [5]

    def test_errors(self):
        with pytest.raises(GradientError, match="stop_gradient"):
            Tensor([1.0]).register_hook(print)
        x = leaf(1.0)
        x.register_hook(lambda g: 1)
        with pytest.raises(DTypeError, match="hook"):
            (x * x).backward()


class TestFunctionNodes:
    def test_a_node_with_its_own_gradient(self):
        x, y = leaf(2.0), leaf(3.0)
        a, b = Tensor([6.0], stop_gradient=False), Tensor([5.0], stop_gradient=False)
        asked = []

        def backward(grads, needed):
            asked.append(([None if g is None else g.item() for g in grads], needed))
            return [grads[0] * 3, None]

        tape.FunctionNode([x, y], [a, b], backward, "a static call")
        (a * 2).backward()
        assert asked == [([2.0, None], [True, True])]
        assert (x.grad.item(), y.grad) == (6, None)

    def test_errors_name_it(self):
        x = leaf(2.0)
        a = Tensor([1.0], stop_gradient=False)
        tape.FunctionNode([x], [a], lambda grads, needed: [], "a static call")
        with pytest.raises(GradientError, match="a static call has 1 inputs"):
            a.backward(retain_graph=True)
        with pytest.raises(GradientError, match="a static call cannot be differentiated again"):
            paddle.grad(a, x, create_graph=True)

    def test_pylayer(self):
        class Cube(paddle.autograd.PyLayer):
            @staticmethod
            def forward(ctx, x, scale):
                ctx.save_for_backward(x)
                ctx.scale = scale
                return x * x * x * scale, x

            @staticmethod
            def backward(ctx, dy, dx):
                (x,) = ctx.saved_tensor()
                assert dx.numpy().tolist() == [0.0]  # nobody has used it
                return dy * 3 * x * x * ctx.scale

        x = leaf(2.0)
        y, same = Cube.apply(x, 2.0)
        assert (y.item(), same.item()) == (16, 2)
        (dx,) = paddle.grad(y, x, create_graph=True)
        assert dx.item() == 24
        dx.backward()
        assert x.grad.item() == 24

        class Wrong(Cube):
            @staticmethod
            def backward(ctx, *grads):
                return grads[0], grads[0]

        with pytest.raises(GradientError, match=r"Wrong\.backward returned 2 gradients for 1 inputs"):
            Wrong.apply(x, 1.0)[0].backward()
