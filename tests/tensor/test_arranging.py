"""Functions that are written with others: against NumPy, and the same statically, with gradients."""

import numpy as np
import pytest
from scipy import special

import dy2st as paddle
from dy2st import Tensor, jit
from dy2st.errors import AttributeValueError, ShapeError

RNG = np.random.default_rng(0)
A, B, C = (RNG.normal(size=s).astype(np.float32) for s in ((3, 4), (3, 4), (2, 3, 4)))
HOLES = np.where(B > 0.5, np.nan, A).astype(np.float32)
INF = np.array([1.0, np.inf, -np.inf, np.nan], np.float32)
PLACES = np.array([[0, 2], [1, 1], [3, 0]])

CASES = [
    ("hstack", lambda p, x, y: p.hstack([x, y]), [A, B], lambda x, y: np.hstack([x, y])),
    ("vstack", lambda p, x, y: p.vstack([x, y]), [A, B], lambda x, y: np.vstack([x, y])),
    ("rows", lambda p, x: p.vstack([x, x]), [A[0]], lambda x: np.vstack([x, x])),
    ("diagonal", lambda p, x: x.diagonal(1, 1, 2), [C], lambda x: np.diagonal(x, 1, 1, 2)),
    ("diagonal below", lambda p, x: p.diagonal(x, -1), [A], lambda x: np.diagonal(x, -1)),
    ("diagonal far away", lambda p, x: p.diagonal(x, 9), [A], lambda x: np.diagonal(x, 9)),
    ("trace", lambda p, x: p.trace(x, 0, -2, -1), [C], lambda x: np.trace(x, 0, -2, -1)),
    ("tensordot", lambda p, x, y: p.tensordot(x, y, [[0, 1], [1, 0]]), [A, B.T.copy()],
     lambda x, y: np.tensordot(x, y, [[0, 1], [1, 0]])),
    ("tensordot of the ends", lambda p, x, y: p.tensordot(x, y, 1), [C, B.T.copy()], lambda x, y: np.tensordot(x, y, 1)),
    ("kron", lambda p, x, y: p.kron(x, y), [A, C], np.kron),
    ("diff", lambda p, x: p.diff(x, 2, axis=0), [A], lambda x: np.diff(x, 2, axis=0)),
    ("diff with ends", lambda p, x, y: p.diff(x, prepend=y[:, :1], append=y[:, 1:2]), [A, B],
     lambda x, y: np.diff(x, prepend=y[:, :1], append=y[:, 1:2])),
    *[(f"rot90 {k}", lambda p, x, k=k: p.rot90(x, k, [0, 2]), [C], lambda x, k=k: np.rot90(x, k, (0, 2))) for k in range(-1, 4)],
    ("put_along_axis", lambda p, x, i, v: p.put_along_axis(x, i, v, 1), [A, PLACES[:, :1], B[:, :1]],
     lambda x, i, v: _put(x, i, v, False)),
    ("put_along_axis of one value", lambda p, x, i, v: p.put_along_axis(x, i, v, 1), [A, PLACES[:, :1], B[:1, :1]],
     lambda x, i, v: _put(x, i, v, False)),
    ("repeats", lambda p, x, n: p.repeat_interleave(x, n, 1), [A, np.array([0, 2, 1, 0])], lambda x, n: np.repeat(x, n, 1)),
    ("repeats of all", lambda p, x, n: x.repeat_interleave(n), [A, np.array([3])], lambda x, n: np.repeat(x, n)),
    ("no repeats", lambda p, x, n: x.repeat_interleave(n, -2), [A, np.array([0, 0, 0])], lambda x, n: np.repeat(x, n, 0)),
    ("repeats in a list", lambda p, x: p.repeat_interleave(x, [1, 0, 4], 0), [A], lambda x: np.repeat(x, [1, 0, 4], 0)),
    ("put_along_axis add", lambda p, x, i: x.put_along_axis(i, 2.0, 1, "add"), [A, PLACES], lambda x, i: _put(x, i, 2.0, True)),
    ("index_add", lambda p, x, i, v: p.index_add(x, i, 1, v), [A, np.array([1, 1, 0]), B[:, :3]], lambda x, i, v: _add(x, i, v)),
    ("isin", lambda p, x, y: p.isin(x, y), [PLACES, np.array([0, 3])], np.isin),
    ("is not in", lambda p, x, y: p.isin(x, y, invert=True), [PLACES, np.array([0, 3])], lambda x, y: ~np.isin(x, y)),
    ("searchsorted", lambda p, s, x: p.searchsorted(s, x), [np.sort(A[0]), A], np.searchsorted),
    ("searchsorted right", lambda p, s, x: p.bucketize(x, s, right=True), [np.array([1, 2, 2, 3]), PLACES],
     lambda s, x: np.searchsorted(s, x, "right")),
    ("searchsorted in rows", lambda p, s, x: p.searchsorted(s, x), [np.sort(A), B],
     lambda s, x: np.stack([np.searchsorted(a, b) for a, b in zip(s, x, strict=True)])),
    ("kthvalue", lambda p, x: p.kthvalue(x, 2, 0)[0], [A], lambda x: np.sort(x, 0)[1]),
    ("kthvalue kept", lambda p, x: p.kthvalue(x, 3, keepdim=True)[1], [A], lambda x: np.argsort(x, 1)[:, 2:3]),
    ("median", lambda p, x: x.median(axis=0), [A], lambda x: np.median(x, 0)),
    ("median of even", lambda p, x: p.median(x, 1, keepdim=True), [A], lambda x: np.median(x, 1, keepdims=True)),
    ("median of all", lambda p, x: p.median(x), [A], np.median),
    ("frac", lambda p, x: p.frac(x * 3), [A], lambda x: x * 3 - np.trunc(x * 3)),
    ("degrees", lambda p, x: p.rad2deg(p.deg2rad(x) * 2), [A], lambda x: x * 2),
    ("fmax", lambda p, x, y: p.fmax(x, y), [HOLES, B], np.fmax),
    ("fmin", lambda p, x, y: p.fmin(y, x), [HOLES, B], np.fmin),
    ("fmax of integers", lambda p, x: p.fmax(x, x - 1), [PLACES], lambda x: x),
    ("logaddexp", lambda p, x, y: p.logaddexp(x * 50, y), [A, B[:1]], lambda x, y: np.logaddexp(x * 50, y)),
    ("logaddexp of equals", lambda p, x: p.logaddexp(x, x), [np.array([1.0, -np.inf, np.inf], np.float32)],
     lambda x: np.logaddexp(x, x)),
    ("hypot", lambda p, x, y: p.hypot(x, y), [A, B], np.hypot),
    ("logit", lambda p, x: p.logit(x, 0.1), [np.abs(A) / 3], lambda x: special.logit(np.clip(x, 0.1, 0.9))),
    ("nan_to_num", lambda p, x: p.nan_to_num(x, 2.0), [INF], lambda x: np.nan_to_num(x, nan=2.0)),
    ("nansum", lambda p, x: x.nansum(1), [HOLES], lambda x: np.nansum(x, 1)),
    ("nanmean", lambda p, x: p.nanmean(x, 0, keepdim=True), [HOLES], lambda x: np.nanmean(x, 0, keepdims=True)),
    ("inverse hyperbolic", lambda p, x: p.asinh(x) + p.acosh(x.abs() + 1.5) + p.atanh(x / 4), [A],
     lambda x: np.arcsinh(x) + np.arccosh(np.abs(x) + 1.5) + np.arctanh(x / 4)),
]  # fmt: skip


def _put(x, index, value, add):
    out, value = x.copy(), np.broadcast_to(value, index.shape)
    for i, j in np.ndindex(*index.shape):
        out[i, index[i, j]] = value[i, j] + (out[i, index[i, j]] if add else 0)
    return out


def _add(x, index, value):
    out = x.copy()
    for k, j in enumerate(index):
        out[:, j] += value[:, k]
    return out


def run(function, arrays):
    args = [Tensor(a, stop_gradient=a.dtype.kind != "f") for a in arrays]
    out = function(*args)
    if not out.stop_gradient:
        (out * out).sum().backward()
    return [out.numpy(), *(a.grad.numpy() for a in args if a.grad is not None)]


@pytest.mark.parametrize(("name", "function", "arrays", "expected"), CASES, ids=[c[0] for c in CASES])
def test_function(name, function, arrays, expected):
    def call(*args):
        return function(paddle, *args)

    eager = run(call, arrays)
    np.testing.assert_allclose(eager[0], expected(*arrays), rtol=1e-4, atol=1e-5)
    open_dims = [jit.InputSpec([None] * a.ndim, str(a.dtype)) for a in arrays]
    for a, b in zip(eager, run(jit.to_static(call, input_spec=open_dims), arrays), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(b, a, rtol=1e-4, atol=1e-5)


def test_triangles():
    for offset in (-1, 0, 2):
        np.testing.assert_array_equal(paddle.tril_indices(3, 4, offset).numpy(), np.tril_indices(3, offset, 4))
        np.testing.assert_array_equal(paddle.triu_indices(3, 4, offset).numpy(), np.triu_indices(3, offset, 4))
    assert paddle.triu_indices(2, 2, 5).shape == [2, 0]


def test_what_is_refused():
    with pytest.raises(AttributeValueError, match="must differ"):
        paddle.diagonal(Tensor(C), 0, 1, -2)
    with pytest.raises(AttributeValueError, match="negative"):
        paddle.diff(Tensor(A), -1)
    with pytest.raises(ShapeError, match="2 axes of x do not fit 1"):
        paddle.tensordot(Tensor(C), Tensor(A), [[0, 1], [0]])
