"""Copies by `copy` and `pickle`, and devices that tensors are asked to go to."""

import copy
import pickle

import numpy as np
import pytest

import dy2st as paddle
from dy2st import Tensor, nn
from dy2st.errors import DeviceError, GradientError
from dy2st.framework import place


def used_parameter():
    p = paddle.create_parameter([2])
    (p * 2).sum().backward()
    return p


def test_a_parameter_that_was_used_can_be_pickled():
    p = used_parameter()
    q = pickle.loads(pickle.dumps(p))
    assert (type(q), q.name, q.stop_gradient, q.grad) == (type(p), p.name, False, None)
    np.testing.assert_array_equal(p.numpy(), q.numpy())
    (q * 3).sum().backward()
    assert (p.grad.tolist(), q.grad.tolist()) == ([2, 2], [3, 3])


def test_a_trained_layer_can_be_pickled():
    layer = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1D(3))
    x = Tensor(np.ones((4, 2), np.float32))
    layer(x).sum().backward()
    again = pickle.loads(pickle.dumps(layer))
    layer.eval()
    again.eval()
    np.testing.assert_array_equal(layer(x).numpy(), again(x).numpy())


def test_a_tensor_with_a_graph_cannot_be_pickled():
    with pytest.raises(GradientError, match="only leaf tensors can be pickled"):
        pickle.dumps(used_parameter() * 2)


def test_a_shallow_copy_of_a_leaf_has_its_own_gradient():
    p = used_parameter()
    q = copy.copy(p)
    (q * 3).sum().backward()
    assert (p.grad.tolist(), q.grad.tolist()) == ([2, 2], [5, 5])


def test_a_shallow_copy_of_a_result_has_the_same_graph():
    x = Tensor([2.0], stop_gradient=False)
    (copy.copy(x * x) * 3).backward()
    assert x.grad.item() == 12


class TestDevices:
    def test_unknown_ones_are_errors(self):
        t = Tensor([1.0])
        for use in (t.to, nn.Linear(1, 1).to, lambda d: paddle.to_tensor([1.0], place=d)):
            with pytest.raises(DeviceError, match="'tpu' is not known"):
                use("tpu")
            use("cpu")
            use(paddle.CPUPlace())

    def test_cuda_without_cuda(self, monkeypatch):
        monkeypatch.setattr(place, "is_compiled_with_cuda", lambda: False)
        t = Tensor([1.0])
        for use in (t.cuda, lambda: t.to("gpu:0"), lambda: paddle.to_tensor([1.0], place=paddle.CUDAPlace(0)),
                    lambda: nn.Linear(1, 1).to("gpu"), lambda: paddle.set_device("gpu")):  # fmt: skip
            with pytest.raises(DeviceError, match="no CUDA support"):
                use()

    def test_dtype_and_device_together(self):
        assert Tensor([1.5]).to("cpu", "int32").dtype == "int32"
        assert Tensor([1.5]).to(dtype="float64", blocking=True).dtype == "float64"
