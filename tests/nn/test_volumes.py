import itertools

import numpy as np
import pytest
from agreement import Of, agree, normal

import dy2st as paddle
import dy2st.nn.functional as F
from dy2st import Tensor, nn
from dy2st.errors import AttributeValueError, ShapeError


def windows(x, kernel, stride, pads, dilation=(1, 1, 1), fill=0.0):
    """Each position of the output with its window, cut from the padded volume."""
    x = np.pad(x, [(0, 0), (0, 0), *pads], constant_values=fill)
    extents = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
    counts = [(n - e) // s + 1 for n, e, s in zip(x.shape[2:], extents, stride, strict=True)]
    for at in itertools.product(*map(range, counts)):
        cut = tuple(slice(i * s, i * s + e, d) for i, s, e, d in zip(at, stride, extents, dilation, strict=True))
        yield at, counts, x[(slice(None), slice(None), *cut)]


def conv(x, w, b, stride, pads, dilation, groups):
    out = None
    for at, counts, window in windows(x, w.shape[2:], stride, pads, dilation):
        if out is None:
            out = np.zeros((len(x), len(w), *counts))
        parts = np.split(window, groups, 1)
        out[(slice(None), slice(None), *at)] = np.concatenate(
            [np.einsum("ncdhw,mcdhw->nm", p, f) for p, f in zip(parts, np.split(w, groups), strict=True)], 1
        )
    return out + b[:, None, None, None]


@pytest.mark.parametrize(("stride", "padding", "dilation", "groups", "pads"), [
    (1, 0, 1, 1, [(0, 0)] * 3),
    ([2, 1, 2], [1, 0, 1], [1, 2, 1], 2, [(1, 1), (0, 0), (1, 1)]),
    (1, [2, 0, 1, 1, 0, 1], 1, 1, [(2, 0), (1, 1), (0, 1)]),
    (1, [[0, 0], [0, 0], [1, 0], [0, 0], [0, 2]], 1, 1, [(1, 0), (0, 0), (0, 2)]),
    (2, "SAME", 1, 2, [(1, 1), (0, 0), (1, 1)]),
    (2, "valid", 1, 1, [(0, 0)] * 3),
])  # fmt: skip
def test_conv3d(stride, padding, dilation, groups, pads):
    x, w, b = normal(2, 4, 5, 6, 7), normal(6, 4 // groups, 3, 2, 3, seed=1), normal(6, seed=2)
    steps, spread = (np.broadcast_to(v, 3) for v in (stride, dilation))
    expected = conv(x.astype(np.float64), w, b, steps, pads, spread, groups)
    found = F.conv3d(*map(Tensor, (x, w, b)), stride, padding, dilation, groups)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-4)
    last = F.conv3d(Tensor(x.transpose(0, 2, 3, 4, 1)), Tensor(w), Tensor(b), stride, padding, dilation, groups, "NDHWC") \
        if not isinstance(padding, list) or not isinstance(padding[0], list) else None  # fmt: skip
    if last is not None:
        np.testing.assert_allclose(last.numpy(), expected.transpose(0, 2, 3, 4, 1), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("stride", "padding", "extra", "dilation"), [
    ([2, 1, 3], [1, 0, 1], [1, 0, 2], [1, 2, 1]), (1, [2, 1, 2], 0, 1), (2, 0, 0, 1),
])  # fmt: skip
def test_the_transposed_convolution_is_the_adjoint(stride, padding, extra, dilation):
    y, w = normal(1, 4, 3, 4, 5), normal(4, 3, 3, 2, 3, seed=1)
    out = F.conv3d_transpose(Tensor(y), Tensor(w), None, stride, padding, extra, 2, dilation)
    x = Tensor(normal(*out.shape, seed=2), stop_gradient=False)
    # for groups, the filter of the convolution in this direction is the same one
    forward = F.conv3d(x, Tensor(w), None, stride, padding, dilation, 2)
    assert forward.shape == list(y.shape)
    (forward * Tensor(y)).sum().backward()
    np.testing.assert_allclose(out.numpy(), x.grad.numpy(), rtol=1e-4, atol=1e-5)


def pool(x, kernel, stride, pads, kind, exclusive=True):
    out = None
    ones = np.ones_like(x)
    fill = -np.inf if kind == "max" else 0.0
    for (at, counts, window), (_, _, inside) in zip(
        windows(x, kernel, stride, pads, fill=fill), windows(ones, kernel, stride, pads), strict=True
    ):
        if out is None:
            out = np.zeros((*x.shape[:2], *counts))
        axes = (2, 3, 4)
        if kind == "max":
            value = window.max(axes)
        else:
            value = window.sum(axes) / (inside.sum(axes) if exclusive else np.prod(kernel))
        out[(slice(None), slice(None), *at)] = value
    return out


def test_pools():
    x = normal(2, 3, 5, 6, 7)
    pads = [(1, 1), (1, 1), (0, 0)]
    for kind, exclusive in (("max", True), ("avg", True), ("avg", False)):
        expected = pool(x, (2, 3, 2), (2, 1, 2), pads, kind, exclusive)
        function = F.max_pool3d if kind == "max" else F.avg_pool3d
        options = {} if kind == "max" else {"exclusive": exclusive}
        found = function(Tensor(x), [2, 3, 2], [2, 1, 2], [1, 1, 0], **options)
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5, atol=1e-6)
        last = function(Tensor(x.transpose(0, 2, 3, 4, 1)), [2, 3, 2], [2, 1, 2], [1, 1, 0], data_format="NDHWC", **options)
        np.testing.assert_allclose(last.numpy(), expected.transpose(0, 2, 3, 4, 1), rtol=1e-5, atol=1e-6)
    assert F.max_pool3d(Tensor(x), 2, ceil_mode=True).shape == [2, 3, 3, 3, 4]
    assert F.max_pool3d(Tensor(x), 2, padding="SAME").shape == [2, 3, 3, 3, 4]
    sums = F.avg_pool3d(Tensor(x), 2, divisor_override=1).numpy()
    np.testing.assert_allclose(sums, pool(x, (2, 2, 2), (2, 2, 2), [(0, 0)] * 3, "avg") * 8, rtol=1e-5, atol=1e-6)


def test_adaptive_pools():
    x = normal(2, 3, 5, 6, 7)
    cells = [[(i * n // m, -(-(i + 1) * n // m)) for i in range(m)] for n, m in zip((5, 6, 7), (2, 3, 4), strict=True)]
    for function, reduce in ((F.adaptive_avg_pool3d, np.mean), (F.adaptive_max_pool3d, np.max)):
        expected = np.array([[[reduce(x[:, :, a:b, c:d, e:f], (2, 3, 4)) for e, f in cells[2]] for c, d in cells[1]]
                             for a, b in cells[0]]).transpose(3, 4, 0, 1, 2)  # fmt: skip
        np.testing.assert_allclose(function(Tensor(x), [2, 3, 4]).numpy(), expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(function(Tensor(x), 1).numpy()[:, :, 0, 0, 0], reduce(x, (2, 3, 4)), rtol=1e-4, atol=1e-6)
        assert function(Tensor(x), [None, 2, 1]).shape == [2, 3, 5, 2, 1]
    for layer in (nn.AdaptiveAvgPool3D(2), nn.AdaptiveMaxPool3D((1, 2, 2)), nn.AvgPool3D(2, 1, 1)):
        agree(layer, [(x,), (x[:1, :, :4],)], spec=[[None, 3, None, None, None]])


def test_static():
    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv3D(2, 4, 3, stride=2, padding=1, groups=2)
            self.pool, self.up = nn.MaxPool3D(2, 1), nn.Conv3DTranspose(4, 2, 2, stride=2, padding=1)

        def forward(self, x):
            y = self.conv(x)
            if y.sum() > 0:
                y = self.pool(y)
            return self.up(y)

    agree(Net(), [(normal(2, 2, 6, 5, 7),), (-normal(1, 2, 5, 6, 8),)], spec=[[None, 2, None, None, None]])


def test_sequences():
    x, w, b = normal(2, 4, 7), normal(4, 3, 3, seed=1), normal(6, seed=2)
    out = np.zeros((2, 6, 7 * 2 + 2))
    for i in range(7):
        for k in range(3):
            for g in range(2):
                cut = slice(g * 2, g * 2 + 2)
                out[:, g * 3 : g * 3 + 3, i * 2 + k] += x[:, cut, i] @ w[cut, :, k]
    expected = out[:, :, 1:15] + b[:, None]
    found = F.conv1d_transpose(Tensor(x), Tensor(w), Tensor(b), 2, 1, 1, 2)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-5)
    sized = F.conv1d_transpose(Tensor(x), Tensor(w), Tensor(b), 2, 1, 0, 2, output_size=14)
    np.testing.assert_allclose(sized.numpy(), expected, rtol=1e-4, atol=1e-5)
    last = F.conv1d_transpose(Tensor(x.transpose(0, 2, 1)), Tensor(w), Tensor(b), 2, 1, [1], 2, data_format="NLC")
    np.testing.assert_allclose(last.numpy(), expected.transpose(0, 2, 1), rtol=1e-4, atol=1e-5)
    agree(nn.Conv1DTranspose(4, 2, 3, stride=2, padding=1), [(x,), (x[:1, :, :3],)], spec=[[None, 4, None]])


def test_circular_padding():
    layer = nn.Conv3D(1, 1, 3, padding=1, padding_mode="circular", bias_attr=False)
    x = normal(1, 1, 3, 4, 5)
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1), (1, 1)], mode="wrap")
    expected = F.conv3d(Tensor(padded), layer.weight).numpy()
    np.testing.assert_allclose(layer(Tensor(x)).numpy(), expected, rtol=1e-5, atol=1e-6)


def test_what_is_refused():
    x, w = paddle.zeros([1, 2, 3, 3, 3]), paddle.zeros([4, 2, 2, 2, 2])
    for error, call in (
        (ShapeError, lambda: F.conv3d(x, paddle.zeros([4, 2, 4, 1, 1]))),
        (ShapeError, lambda: F.conv3d(x, paddle.zeros([4, 3, 2, 2, 2]))),
        (ShapeError, lambda: F.conv3d(x[0], w)),
        (ShapeError, lambda: F.max_pool3d(x[0], 2)),
        (AttributeValueError, lambda: F.conv3d(x, w, data_format="NHWC")),
        (AttributeValueError, lambda: F.conv3d(x, w, padding="FULL")),
        (AttributeValueError, lambda: F.conv3d(x, w, padding=[1, 2])),
        (AttributeValueError, lambda: F.conv3d(x, w, padding=[[1, 0], [0, 0], [0, 0], [0, 0], [0, 0]])),
        (AttributeValueError, lambda: F.conv3d_transpose(x, w, padding="SAME")),
        (AttributeValueError, lambda: F.max_pool3d(x, 2, return_mask=True)),
        (AttributeValueError, lambda: F.adaptive_max_pool3d(x, 2, return_mask=True)),
    ):
        with pytest.raises(error):
            call()
    with pytest.raises(ShapeError, match="depth that is known"):
        agree(Of(lambda x: F.conv3d(x, paddle.ones([1, 1, 2, 2, 2]), padding="SAME")), [(normal(1, 1, 2, 2, 2),)])
