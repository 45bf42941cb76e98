"""Loops over time: products that do not need the state are one, and results and gradients are those of eager mode."""

import numpy as np
import pytest
from dy2st_runtime.executor.executable import Executable

import dy2st as paddle
from dy2st import Tensor, jit, nn


class Recurrent(nn.Layer):
    """Two cells over time; `step` says how time is gone through."""

    def __init__(self, cell, step):
        super().__init__()
        paddle.seed(0)
        self.first, self.second, self.step = cell(3, 4), cell(4, 5), step

    def forward(self, x):
        return self.step(self, x)


def in_order(self, xs):
    first = second = None
    outs = []
    for x in xs:
        h, first = self.first(x, first)
        h, second = self.second(h, second)
        outs.append(h)
    return paddle.stack(outs)


def by_number(self, xs):
    first = second = None
    total = paddle.zeros([5])
    for t in range(xs.shape[0]):
        h, first = self.first(xs[t], first)
        h, second = self.second(h, second)
        total = total + h.sum(axis=0) * t
    return total


def from_the_end(self, xs):
    first = None
    h = paddle.zeros([xs.shape[1], 4])
    for t in reversed(range(xs.shape[0])):
        h, first = self.first(xs[t], first)
    return h


def with_a_mask(self, xs):
    first = None
    h = paddle.zeros([xs.shape[1], 4])
    for x, keep in zip(xs, xs[:3].mean(axis=2, keepdim=True) > 0.4, strict=False):
        new, first = self.first(x, first)
        h = paddle.where(keep, new, new * 0.5) + h
    return h


def until_it_is_large(self, xs):
    first = None
    h = paddle.zeros([xs.shape[1], 4])
    for x in xs:
        h, first = self.first(x, first)
        if h.sum() > 0.5:
            break
    return h


def outcome(model, x):
    x = Tensor(x, stop_gradient=False)
    model.clear_gradients()
    out = model(x)
    (out * out).sum().backward()
    return [out.numpy(), x.grad.numpy(), *(p.grad.numpy() for p in model.parameters() if p.grad is not None)]


@pytest.mark.parametrize("step", [in_order, by_number, from_the_end, with_a_mask, until_it_is_large])
@pytest.mark.parametrize("cell", [nn.LSTMCell, nn.GRUCell, nn.SimpleRNNCell])
def test_cells_over_time(cell, step):
    eager, static = Recurrent(cell, step), jit.to_static(Recurrent(cell, step))
    rng = np.random.default_rng(0)
    for length, batch in ((4, 2), (7, 2), (1, 2), (5, 3), (3, 1)):
        x = rng.random((length, batch, 3)).astype("f")
        for a, b in zip(outcome(eager, x), outcome(static, x), strict=True):
            np.testing.assert_allclose(b, a, rtol=2e-4, atol=1e-6)
    assert len(static.forward.concrete_programs) <= 2  # of 2 rows, and of any number


@pytest.fixture
def made(monkeypatch):
    """The optimized Programs."""
    found = []
    init = Executable.__init__

    def remember(self, *args, **kwargs):
        init(self, *args, **kwargs)
        found.append(self.program)

    monkeypatch.setattr(Executable, "__init__", remember)
    return found


def count(program):
    """The products outside and inside of loops, alone or with what is fused with them."""
    bodies = [op.attrs["body_block"] for op in program.global_block().ops if op.type == "while_loop"]
    return tuple(sum(op.type in ("matmul_v2", "fused_matmul") for block in blocks for op in block.ops)
                 for blocks in ([program.global_block()], bodies))  # fmt: skip


@pytest.mark.parametrize(("step", "expected"), [(in_order, (1, 3)), (by_number, (1, 3)), (from_the_end, (1, 1)), (with_a_mask, (1, 1)),
                                                (until_it_is_large, (0, 2))])  # fmt: skip
def test_the_products_of_the_inputs_are_one(step, expected, made):
    model = Recurrent(nn.LSTMCell, step)
    model.eval()
    static = jit.to_static(model)
    with paddle.no_grad():
        for length in (4, 6):
            static(Tensor(np.ones((length, 2, 3), "f")))
    assert [count(program) for program in made if sum(count(program))] == [expected]
