"""A number before a loop and a tensor after it: what only the run can refuse, and what a saved model makes of it."""

import numpy as np
import pytest
from dy2st_runtime import Predictor

from dy2st import jit
from dy2st.tensor import Tensor


def beside_fewer_dims(x, n):
    s = 0
    for _ in range(n):
        s = s + x
    return s + x.sum()


def test_a_result_of_fewer_dims_is_an_error_in_the_run_that_has_it():
    static = jit.to_static(beside_fewer_dims)
    x = Tensor([1.0, 2.0])
    np.testing.assert_array_equal(static(x, Tensor(2)).numpy(), [5.0, 7.0])
    with pytest.raises(RuntimeError, match=r"'s' is a Python int on one path and .* a result of 0 dims") as caught:
        static(x, Tensor(0))
    assert "return s + x.sum()" in "".join(caught.value.__notes__)
    assert len(static.concrete_programs) == 1


def summed(x, n):
    s = 0
    for _ in range(n):
        s = s + x
    return s


def test_a_saved_model_gives_a_tensor_for_the_number(tmp_path):
    specs = [jit.InputSpec([None], "float32", "x"), jit.InputSpec([], "int64", "n")]
    jit.save(jit.to_static(summed), str(tmp_path / "m"), input_spec=specs)
    predictor = Predictor(str(tmp_path / "m"))
    x = np.array([1.0, 2.0], np.float32)
    assert [r.tolist() for n in (2, 0) for r in predictor.run({"x": x, "n": np.array(n)})] == [[2.0, 4.0], [0.0]]


def test_the_number_is_that_of_python():
    static = jit.to_static(summed)
    assert type(static(Tensor([1.0]), Tensor(0))) is int
    assert isinstance(static(Tensor([1.0]), Tensor(1)), Tensor)
