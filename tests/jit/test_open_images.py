"""Images whose height and width are open in the InputSpec: one trace, and one saved model, for all sizes."""

import numpy as np
import pytest
from dy2st_runtime import Predictor

import dy2st
import dy2st.nn.functional as F
from dy2st import jit
from dy2st.errors import AttributeValueError
from dy2st.jit import InputSpec
from dy2st.tensor import Tensor

SPEC = [InputSpec([None, 2, None, None], name="x")]
SIZES = [(4, 6), (5, 9), (1, 3)]


def doubled(x):
    return F.interpolate(x, scale_factor=2, mode="nearest")


def enlarged(x):
    return F.interpolate(x, size=dy2st.shape(x)[2:] * 2 + 1, mode="bilinear", align_corners=True)


def squared(x):
    return F.interpolate(x, size=[8, x.shape[3]], mode="bilinear")


def pooled(x):
    return F.avg_pool2d(x, x.shape[2:]) + F.max_pool2d(x, x.shape[2:])


def padded(x):
    return F.pad(x, [0, x.shape[3] % 4, 0, 4 - x.shape[2] % 4])


@pytest.mark.parametrize("function", [doubled, enlarged, squared, pooled, padded], ids=lambda f: f.__name__)
def test_one_trace_and_one_model_serve_all_sizes(function, tmp_path):
    static = jit.to_static(function, input_spec=SPEC)
    jit.save(static, tmp_path / "model")
    predictor = Predictor(tmp_path / "model")
    for size in SIZES:
        x = np.random.default_rng(0).normal(size=[3, 2, *size]).astype(np.float32)
        expected = function(Tensor(x)).numpy()
        np.testing.assert_allclose(static(Tensor(x)).numpy(), expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(predictor.run([x])[0], expected, rtol=1e-5, atol=1e-6)
    assert len(static.concrete_programs) <= 2  # the one that was saved records gradients


def test_sizes_that_do_not_fit_are_errors_of_the_run_too():
    def resized(x, n):
        return F.interpolate(x, size=[n, 2])

    def bordered(x, n):
        return F.pad(x, [0, n, 0, 0])

    for function in (resized, bordered):
        static = jit.to_static(function)
        for f in (function, static):
            with pytest.raises(AttributeValueError):
                f(Tensor(np.ones([1, 2, 3, 3], np.float32)), Tensor(-1))


def test_what_is_infinite_stays_where_it_is_in_an_image_that_keeps_its_size():
    x = np.ones([1, 1, 3, 3], np.float32)
    x[0, 0, 1, 1] = np.inf
    static = jit.to_static(lambda x, n: F.interpolate(x, size=[n, n], mode="bilinear"))
    np.testing.assert_array_equal(static(Tensor(x), Tensor(3)).numpy(), x)
