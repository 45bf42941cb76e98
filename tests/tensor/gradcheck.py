"""Gradients against finite differences, in float64, of a random projection of the result."""

import numpy as np

import dy2st
from dy2st import Tensor


def leaf(array):
    return Tensor(np.asarray(array, np.float64), stop_gradient=False)


def check(function, *arrays, eps=1e-6, tolerance=1e-5, double=False):
    """`function` maps Tensors to a Tensor; all of `arrays` are differentiated. `double`: the gradient's gradient too."""
    rng = np.random.default_rng(0)
    arrays = [np.asarray(a, np.float64) for a in arrays]
    out = function(*map(leaf, arrays))
    weights = rng.normal(size=out.shape)

    def projected(xs):
        return (function(*xs) * Tensor(weights)).sum()

    def value(values):
        return projected([Tensor(v) for v in values]).item()

    xs = [leaf(a) for a in arrays]
    grads = dy2st.grad(projected(xs), xs)
    for i, (a, g) in enumerate(zip(arrays, grads, strict=True)):
        np.testing.assert_allclose(g.numpy(), _differences(value, arrays, i, eps), rtol=tolerance, atol=tolerance * 10)
        assert g.shape == list(a.shape)
        assert g.dtype == "float64"
    if double:
        directions = [rng.normal(size=a.shape) for a in arrays]

        def slope(xs):
            gs = dy2st.grad(projected(xs), xs, create_graph=True, allow_unused=True)
            terms = [(g * Tensor(d)).sum() for g, d in zip(gs, directions, strict=True) if g is not None]
            return sum(terms[1:], terms[0])

        xs = [leaf(a) for a in arrays]
        second = dy2st.grad(slope(xs), xs, allow_unused=True)
        for i, g in enumerate(second):
            expected = _differences(lambda v: slope([leaf(e) for e in v]).item(), arrays, i, eps)
            found = np.zeros_like(expected) if g is None else g.numpy()
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def _differences(value, arrays, which, eps):
    result = np.zeros(arrays[which].shape)
    for place in np.ndindex(result.shape):
        steps = []
        for sign in (1, -1):
            moved = [a.copy() for a in arrays]
            moved[which][place] += sign * eps
            steps.append(value(moved))
        result[place] = (steps[0] - steps[1]) / (2 * eps)
    return result
