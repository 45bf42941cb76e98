"""`jit.recompute`: the gradients of eager mode, with less in memory."""

import contextlib
import gc
import io

import numpy as np
import pytest
from dy2st_runtime import config
from dy2st_runtime.executor.frame import Frame

import dy2st as paddle
from dy2st import jit, nn

F = nn.functional


class Block(nn.Layer):
    """Draws, prints, counts, updates buffers, branches and loops."""

    def __init__(self):
        super().__init__()
        self.inner, self.outer, self.norm, self.drop = nn.Linear(4, 16), nn.Linear(16, 4), nn.BatchNorm1D(4), nn.Dropout(0.4)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        h = self.drop(F.gelu(self.inner(x)))
        if h.mean() > 0.1:
            print("large", h.shape[1])
            h = h * 2
        for i in range(4):
            if h.sum() < i - 5:
                break
            h = h + paddle.tanh(h) * 0.1
        assert h.shape[0] == x.shape[0], "rows"
        return x + self.norm(self.outer(h))


class Each(nn.Layer):
    def __init__(self):
        super().__init__()
        self.blocks = nn.LayerList([Block() for _ in range(3)])

    def forward(self, x, n):
        for block in self.blocks:
            x = jit.recompute(block, x)
        return x


class Nested(Each):
    def half(self, x):
        return jit.recompute(self.blocks[1], jit.recompute(self.blocks[0], x)) * 2

    def forward(self, x, n):
        return jit.recompute(self.half, x) + jit.recompute(self.blocks[2], x)


class InALoop(Each):
    def forward(self, x, n):
        for i in range(n):
            if i == 2:
                continue
            x = jit.recompute(self.blocks[0], x) * 0.5
            if x.sum() > 1e4:
                break
        return x


class UnderAnIf(Each):
    def forward(self, x, n):
        if n > 2:
            return jit.recompute(self.blocks[0], x) + 1
        elif n > 0:
            x = jit.recompute(self.blocks[1], x)
        return x * jit.recompute(lambda v: F.dropout(v, 0.5).sum(), x)


class Recursive(Each):
    def visit(self, x, n):
        if n <= 0:
            return x
        return self.visit(jit.recompute(self.blocks[0].inner, x)[:, :4].tanh(), n - 1) + x

    def forward(self, x, n):
        return self.visit(x, n) + jit.recompute(self.visit, x, n - 1)


class DrawingRecursion(Each):
    """Recursion that draws in what is computed again, and what is computed again in recursion."""

    def visit(self, x, n):
        if n <= 0:
            return x
        return self.visit(F.dropout(x * 1.5, 0.5), n - 1) + x

    def inside(self, x, n):
        if n <= 0:
            return x
        return self.inside(jit.recompute(lambda v: F.dropout(v * 1.5, 0.5).tanh(), x), n - 1) * F.dropout(x, 0.3)

    def forward(self, x, n):
        return jit.recompute(self.visit, x, n) + self.inside(x, n) + F.dropout(x, 0.5)


class Parts(Each):
    """Several results in containers, some of which nobody uses; a variable of the function around, and what it computes of it."""

    def forward(self, x, n):
        scale, kept = x.mean(), []

        def parts(v, *, factor):
            h = self.blocks[0].inner(v) * scale
            kept.append(h.max())
            with paddle.no_grad():
                still = h.exp()
            return {"a": h[:, :4] * factor, "rest": [h[:, 4:8].tanh(), still[:, :4], v.shape[0]]}

        found = jit.recompute(parts, x, factor=2.0)
        a, (b, still, rows) = found["a"], found["rest"]
        return a * b + still + rows + kept[0]


class Remainders(Each):
    """Numbers that jump, with gradients through them."""

    def forward(self, x, n):
        def parts(v):
            rest = v.sum() % 0.7
            return rest * v + (rest if rest > 0.3 else v.mean().floor()) + v.max() // 0.5

        return jit.recompute(parts, x)


class GrowingList(Each):
    def forward(self, x, n):
        rows = []

        def body(v):
            for i in range(n):
                rows.append(self.blocks[0].inner(v).sum(0)[:4] * i)
            return v * 2

        x = jit.recompute(body, x)
        return x + paddle.stack(rows).sum(0) if len(rows) > 0 else x


MODELS = [Each, Nested, InALoop, UnderAnIf, Recursive, DrawingRecursion, Parts, Remainders, GrowingList]


def steps(cls, make, whole=False):
    """What three steps leave: losses, gradients, buffers, counts and prints."""
    paddle.seed(0)
    model = cls()
    for i, p in enumerate(model.parameters()):
        p.set_value(np.random.default_rng(i).normal(size=p.shape).astype("float32") * 0.3)
    called = model if whole else make(model)

    def step(x, n):
        model.clear_gradients()
        loss = (called(x, n) ** 2).mean()
        loss.backward()
        return loss

    step = make(step) if whole else step
    found = []
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        for seed, n in enumerate((3, 1, 0, 4)):
            paddle.seed(seed)
            x = paddle.to_tensor(np.random.default_rng(seed).normal(size=(5, 4)).astype("float32"), stop_gradient=False)
            found.append(step(x, paddle.to_tensor(n)).numpy())
            found += [None if t.grad is None else t.grad.numpy() for t in (*model.parameters(), x)]
            found += [b.numpy() for b in model.buffers()]
            found.append(float(paddle.rand([1])))
    return found, [b.calls for b in model.blocks], shown.getvalue()


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("cls", MODELS, ids=lambda c: c.__name__)
def test_gradients_are_those_of_eager_mode(cls, native):
    wanted, calls, shown = steps(cls, lambda f: f)
    with config.NO_JIT.override(not native):
        found, found_calls, found_shown = steps(cls, jit.to_static)
    assert found_calls == calls
    assert found_shown == shown
    for a, b in zip(found, wanted, strict=True):
        if b is None:
            assert a is None or not a.any()
        else:
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)


def test_a_training_step_as_one_static_function():
    wanted, calls, shown = steps(Each, lambda f: f)
    found, found_calls, found_shown = steps(Each, jit.to_static, whole=True)
    assert (found_calls, found_shown) == (calls, shown)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)


class Deep(nn.Layer):
    def __init__(self, again):
        super().__init__()
        self.again = again
        self.layers = nn.LayerList([nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 16)) for _ in range(12)])

    def forward(self, x):
        for layer in self.layers:
            x = x + (jit.recompute(layer, x) if self.again else layer(x))
        return x


@pytest.mark.parametrize("whole", [False, True])
def test_less_is_in_memory(whole):
    taken = {}
    for again in (False, True):
        model = Deep(again)
        f = model if whole else jit.to_static(model)

        def step(x, f=f):
            (f(x) ** 2).mean().backward()

        step = jit.to_static(step) if whole else step
        before = {id(x) for x in gc.get_objects() if isinstance(x, Frame)}
        step(paddle.ones([2000, 16]))
        frames = [x for x in gc.get_objects() if isinstance(x, Frame) and id(x) not in before]
        taken[again] = max(frame.allocated for frame in frames)
    assert taken[True] < 0.6 * taken[False]


def test_second_derivatives_through_it():
    def f(x):
        y = jit.recompute(lambda v: (v * v * v).sum(), x)
        (dx,) = paddle.grad(y, x, create_graph=True)
        return dx

    for make in (lambda g: g, jit.to_static):
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        make(f)(x).sum().backward()
        assert x.grad.tolist() == [6.0, 12.0]


def test_recursion_that_prints_is_an_error_that_names_the_line():
    def visit(v, n):
        if n <= 0:
            return v
        print("visit", n)
        return visit(v * 2, n - 1)

    @jit.to_static
    def f(x, n):
        return jit.recompute(visit, x, n)

    x = paddle.to_tensor([1.0], stop_gradient=False)
    with pytest.raises(paddle.errors.GradientError, match="prints, logs or warns: it would do so twice") as caught:
        f(x, paddle.to_tensor(2)).backward()
    assert caught.value.location.text.strip() == 'print("visit", n)'


def test_an_error_in_it_names_the_line_of_the_user():
    def wrong(v):
        return v @ paddle.ones([3, 3])

    @jit.to_static
    def f(x):
        return jit.recompute(wrong, x)

    with pytest.raises(paddle.errors.ShapeError) as caught:
        f(paddle.ones([2, 2]))
    assert caught.value.location.text.strip() == "return v @ paddle.ones([3, 3])"


def test_what_an_exception_leaves_can_be_differentiated():
    def drawn(v):
        y = F.dropout(v, 0.5)
        kept.append(y)
        raise KeyError("out")

    def f(x):
        kept.clear()
        try:
            jit.recompute(drawn, x)
        except KeyError:
            x = x + 1
        return kept[0] * kept[0] * x

    kept, found = [], []
    for make in (lambda g: g, jit.to_static):
        paddle.seed(7)
        x = paddle.to_tensor(np.arange(8, dtype="float32"), stop_gradient=False)
        make(f)(x).sum().backward()
        found.append(x.grad.tolist())
    assert found[0] == found[1]


def test_it_can_be_saved_for_inference(tmp_path):
    model = Deep(True)
    model.eval()
    jit.save(model, tmp_path / "deep", [paddle.static.InputSpec([None, 16])])
    x = paddle.rand([3, 16])
    np.testing.assert_allclose(jit.load(tmp_path / "deep")(x).numpy(), model(x).numpy(), rtol=1e-4, atol=1e-5)
