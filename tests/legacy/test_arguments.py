"""Functions of `fluid.layers` with the names and defaults that their arguments have in 1.x, which are others than in 2.x."""

import numpy as np
import pytest

import dy2st as paddle
from dy2st import Tensor, fluid, jit
from dy2st.fluid import dygraph, layers

RNG = np.random.default_rng(0)
A = RNG.normal(size=(2, 6)).astype(np.float32)
CUBE = RNG.normal(size=(2, 3, 4)).astype(np.float32)
ROWS = np.array([1, 0])


@pytest.fixture(autouse=True)
def dynamic():
    with fluid.dygraph.guard():
        yield


@pytest.mark.parametrize(("call", "expected"), [
    (lambda: layers.split(A, 2), np.split(A, 2, -1)),
    (lambda: layers.split(input=A, num_or_sections=2, dim=0), np.split(A, 2)),
    (lambda: [layers.argmax(CUBE), layers.argmin(CUBE)], [CUBE.argmax(0), CUBE.argmin(0)]),
    (lambda: layers.argmax(CUBE, axis=-1), CUBE.argmax(-1)),
    (lambda: layers.argsort(input=A, axis=0), [np.sort(A, 0), A.argsort(0)]),
    (lambda: layers.argsort(A, descending=True), [-np.sort(-A), (-A).argsort()]),
    (lambda: layers.cumsum(CUBE), CUBE.cumsum(-1)),
    (lambda: layers.cumsum(CUBE, axis=1, exclusive=True), CUBE.cumsum(1) - CUBE),
    (lambda: layers.cumsum(CUBE, 0, reverse=True), CUBE[::-1].cumsum(0)[::-1]),
    (lambda: layers.flatten(CUBE), CUBE.reshape(2, 12)),
    (lambda: [layers.flatten(CUBE, axis=a) for a in (0, 2, 3)], [CUBE.reshape(shape) for shape in ((1, 24), (6, 4), (24, 1))]),
    (lambda: layers.sum([Tensor(A), Tensor(A)]), A + A),
    (lambda: layers.sum(A), A),
    (lambda: layers.pow(A, factor=2.0), A**2),
    (lambda: layers.gather(input=A, index=ROWS), A[ROWS]),
    (lambda: layers.gather_nd(input=A, index=[[0, 1], [1, 2]]), A[[0, 1], [1, 2]]),
    (lambda: layers.scatter(input=A, index=ROWS, updates=A), A[ROWS]),
    (lambda: layers.scatter_nd_add(ref=A, index=[[0]], updates=A[1:]), A + [[1], [0]] * A[1]),
    (lambda: layers.expand_as(A[:1, :3], target_tensor=A), np.tile(A[:1, :3], (2, 2))),
    (lambda: layers.expand_as(A[:1], A), np.tile(A[:1], (2, 1))),
    (lambda: layers.where(A > 0), np.argwhere(A > 0)),
    (lambda: layers.eye(2, 3, batch_shape=[2]), np.broadcast_to(np.eye(2, 3), (2, 2, 3))),
    (lambda: layers.triu(input=A, diagonal=1), np.triu(A, 1)),
    (lambda: layers.strided_slice(input=A, axes=[1], starts=[0], ends=[6], strides=[2]), A[:, ::2]),
    (lambda: layers.hard_sigmoid(3 * A), np.clip(0.2 * 3 * A + 0.5, 0, 1)),
    (lambda: layers.hard_swish(3 * A, threshold=4.0, scale=4.0, offset=2.0), 3 * A * np.clip(3 * A + 2, 0, 4) / 4),
    (lambda: layers.swish(A, beta=2.0), A / (1 + np.exp(-2 * A))),
    (lambda: layers.swish(A), A / (1 + np.exp(-A))),
    (lambda: layers.relu6(9 * A, threshold=5.0), np.clip(9 * A, 0, 5)),
    (lambda: layers.softshrink(A, alpha=0.2), np.sign(A) * np.maximum(np.abs(A) - 0.2, 0)),
    (lambda: layers.hard_shrink(A), np.where(np.abs(A) > 0.5, A, 0)),
    (lambda: layers.thresholded_relu(2 * A), np.where(2 * A > 1, 2 * A, 0)),
])  # fmt: skip
def test_as_in_1_x(call, expected):
    found = call()
    pairs = zip(found, expected, strict=True) if isinstance(found, (list, tuple)) else [(found, expected)]
    for one, wanted in pairs:
        assert one.shape == list(np.shape(wanted))
        np.testing.assert_allclose(one.numpy(), wanted, rtol=1e-5, atol=1e-6)


class Dropped(dygraph.Layer):
    def forward(self, x):
        return self.dropped(x)

    def dropped(self, x):
        return layers.dropout(x, 0.5, dropout_implementation="upscale_in_train")


@pytest.mark.parametrize("static", [False, True])
def test_dropout_is_that_of_the_layers_mode(static):
    layer, x = Dropped(), paddle.ones([64])
    if static:
        jit.to_static(layer)
    for _ in range(2):
        layer.train()
        assert 0 < (layer(x).numpy() == 0).sum() < 64
        layer.eval()
        np.testing.assert_array_equal(layer(x).numpy(), x.numpy())
    assert (layers.dropout(x, 0.5, is_test=False).numpy() == 0).any()
    np.testing.assert_array_equal(layers.dropout(x, 0.5, is_test=True).numpy(), x.numpy() / 2)
    assert (layers.dropout(x, 0.5).numpy() == 0).any()  # in no layer


def test_lists_that_grow_in_a_loop():
    def joined(x, n):
        out = []
        for i in range(n):
            out.append(x * i)
        return layers.concat(out, axis=1), layers.sums(out), layers.sum(out), paddle.add_n(out), layers.stack(out)

    static = jit.to_static(joined)
    for dtype in ("float32", "int32"):
        x, n = Tensor(np.array([[1, 2]], dtype)), Tensor(3)
        for one, wanted in zip(static(x, n), joined(x, n), strict=True):
            assert one.dtype == wanted.dtype
            np.testing.assert_array_equal(one.numpy(), wanted.numpy())
