"""State dicts of layers, and containers after deletions."""

import copy

import numpy as np
import pytest

from dy2st import Tensor, nn
from dy2st.errors import AttributeValueError, StateDictError


class Twice(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2)
        self.b = self.a

    def forward(self, x):
        return self.b(self.a(x))


def test_a_shared_sublayer_is_there_under_both_names():
    net = Twice()
    assert list(net.state_dict()) == ["a.weight", "a.bias", "b.weight", "b.bias"]
    assert len(net.parameters()) == 2
    state = {k: v.numpy() + 1 for k, v in net.state_dict().items()}
    assert net.set_state_dict(state) == ([], [])
    np.testing.assert_array_equal(net.a.weight.numpy(), state["a.weight"])


@pytest.mark.parametrize("wrong", ["text", np.array([None]), [[1.0], [2.0, 3.0]], np.zeros(7)], ids=repr)
def test_nothing_is_changed_if_one_value_is_wrong(wrong):
    net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    before = copy.deepcopy({k: v.numpy() for k, v in net.state_dict().items()})
    state = {k: v + 1 for k, v in before.items()} | {"1.bias": wrong}
    with pytest.raises(StateDictError, match=r"1\.bias"):
        net.set_state_dict(state)
    for k, v in net.state_dict().items():
        np.testing.assert_array_equal(v.numpy(), before[k])


def test_what_is_no_dict():
    with pytest.raises(StateDictError, match="must be a dict, got list"):
        nn.Linear(1, 1).set_state_dict([1])


def test_append_after_a_deletion_replaces_nothing():
    net = nn.Sequential(nn.Linear(1, 1), nn.ReLU(), nn.Tanh())
    del net[0]
    net.append(nn.Sigmoid()).append(nn.ReLU())
    assert [type(layer).__name__ for layer in net] == ["ReLU", "Tanh", "Sigmoid", "ReLU"]


def test_the_padding_row_of_a_new_embedding_is_zero():
    weight = nn.Embedding(3, 2, padding_idx=-2).weight
    assert weight.numpy()[1].tolist() == [0, 0]
    assert (weight.numpy()[[0, 2]] != 0).all()
    assert weight.is_leaf
    assert not weight.stop_gradient
    with pytest.raises(AttributeValueError, match="3 is out of range for 3 rows"):
        nn.Embedding(3, 2, padding_idx=3)


def test_dropout_checks_its_axes():
    with pytest.raises(AttributeValueError, match="axis 2 is out of range"):
        nn.Dropout(0.5, axis=[0, 2])(Tensor([[1.0]]))
