"""Cube roots of 1,000 numbers by Newton's iteration with a stop test, and the gradient through it."""

import numpy as np

from .common import jax_call

CASES = {"grad": "roots and gradient"}
A, TOLERANCE = np.linspace(1, 1000, 1000, dtype="float32"), 1e-4


def on_paddle(paddle, stage, case):
    def roots(a):
        x = a
        change = paddle.ones([])
        while change > TOLERANCE:
            new = x - (x * x * x - a) / (3 * x * x)
            change = ((new - x) / new).abs().max()
            x = new
        return x

    roots = stage(roots)
    a = paddle.to_tensor(A, stop_gradient=False)

    def step():
        x = roots(a)
        return x, paddle.grad(x.sum(), a)[0]

    return stage.step(step)


def on_torch(torch, stage, case):
    def roots(a):
        x = a
        change = torch.ones([])
        while bool(change > 1e-4):
            new = x - (x * x * x - a) / (3 * x * x)
            change = ((new - x) / new).abs().max()
            x = new
        return x

    roots = stage(roots)
    a = torch.tensor(A, requires_grad=True)

    def step():
        x = roots(a)
        return x, torch.autograd.grad(x.sum(), a)[0]

    return step


def on_jax(jax, case):
    """There is no gradient of `lax.while_loop`: 32 iterations are done, and those after the stop are masked."""
    jnp = jax.numpy

    def roots(a):
        def iteration(state, _):
            x, change = state
            new = x - (x * x * x - a) / (3 * x * x)
            going = change > TOLERANCE
            return (jnp.where(going, new, x), jnp.where(going, jnp.abs((new - x) / new).max(), change)), None

        (x, _), _ = jax.lax.scan(iteration, (a, jnp.ones(())), length=32)
        return x.sum(), x

    def step(a):
        g, x = jax.grad(roots, has_aux=True)(a)
        return x, g

    return jax_call(jax, step, A)
