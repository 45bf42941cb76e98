"""Attributes and entries of layers that are other layers after a call, as a condition on tensors decides; hooks that a call registers."""

import warnings

import numpy as np
import pytest
from guarding import tensor

import dy2st as paddle
from dy2st import jit, nn
from dy2st.errors import EagerStatementWarning, StagedValueError, StructureError


class Net(nn.Layer):
    def __init__(self, change):
        super().__init__()
        self.first, self.second, self.third = (self.linear(k) for k in (1.0, 2.0, 3.0))
        self.layers = nn.LayerList([self.linear(4.0), self.linear(5.0)])
        self.optional = self.linear(6.0)
        self.change = change

    @staticmethod
    def linear(k):
        return nn.Linear(2, 2, weight_attr=nn.initializer.Constant(k), bias_attr=False)

    def forward(self, x, n):
        y = self.first(x)
        for i in range(2):
            if n > i:
                self.change(self, y)
                y = self.first(y) * 0.25
        y = y + self.layers[0](x)
        return y if self.optional is None else y + self.optional(x)


def replaces(net, y):
    net.first = net.second


def exchanges(net, y):
    net.first, net.second = net.second, net.first


def exchanges_in_a_list(net, y):
    net.layers[0], net.layers[1] = net.layers[1], net.layers[0]


def takes_away(net, y):
    net.optional = None


def chooses(net, y):
    net.third = net.first if y.sum() > 10 else net.second
    net.first = net.third


def trains_what_it_has_chosen(net, y):
    net.first = net.second
    with paddle.no_grad():
        net.first.weight.set_value(net.first.weight + 1)


def lists_parameters(net, y):
    net.first = net.second
    net.layers[0].weight.set_value(sum(p.mean() for p in net.layers[0].parameters()) * paddle.ones([2, 2]))


CHANGES = [replaces, exchanges, exchanges_in_a_list, takes_away, chooses, trains_what_it_has_chosen, lists_parameters]


@pytest.mark.parametrize("change", CHANGES)
def test_each_call_finds_what_the_last_one_left(change):
    nets = Net(change), Net(change)
    static = jit.to_static(nets[1].forward)
    for n in (1.0, 0.0, 2.0, 1.0, 0.0):
        found = []
        for net, f in zip(nets, (nets[0].forward, static), strict=True):
            for p in net.parameters():
                p.clear_grad()
            result = f(tensor(1.0, -0.5), tensor(n))
            result.sum().backward()
            known = [net.first, net.second, net.third, net.optional, *net.layers]
            grads = [None if p.grad is None else p.grad.numpy().tolist() for p in net.parameters()]
            names = [name for name, _ in net.named_sublayers()]
            found.append((result.numpy().tolist(), [known.index(x) for x in known], names, grads,
                          [None if x is None else x.weight.numpy().tolist() for x in known]))  # fmt: skip
        assert found[0] == found[1]


def makes_it_none_or_a_layer(net, y):
    net.fresh = net.first if y.sum() > 0 else None


def gives_a_parameter(net, y):
    net.second.weight = net.first.weight


def takes_a_buffer_away(net, y):
    while y.sum() < 0:
        del net.seen
        y = y + 100


@pytest.mark.parametrize(("change", "error", "text"), [
    (makes_it_none_or_a_layer, StagedValueError, "only the run knows whether attribute 'fresh' is a layer, a parameter or a buffer"),
    (gives_a_parameter, (StagedValueError, StructureError), "parameter or"),
    (takes_a_buffer_away, StagedValueError, "only the run knows whether attribute 'seen' is a layer, a parameter or a buffer"),
])  # fmt: skip
def test_what_only_the_run_could_say(change, error, text):
    net = Net(change)
    net.register_buffer("seen", tensor(0.0))
    with pytest.raises(error, match=text):
        jit.to_static(net)(tensor(1.0, -0.5), tensor(1.0))
    assert [name for name, _ in net.named_buffers()] == ["seen"]


def test_an_attribute_of_a_wrong_kind():
    net = Net(replaces)
    with pytest.raises(paddle.errors.DTypeError, match="attribute 'first' is a Layer; it cannot become int"):
        net.first = 3
    with pytest.raises(paddle.errors.DTypeError, match="attribute 'weight' is a Parameter; it cannot become Tensor"):
        net.first.weight = tensor(1.0)


def doubled(layer, inputs, outputs):
    return outputs * 2


def halved(layer, inputs):
    return inputs[0] * 0.5


class Hooked(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = Net.linear(1.0)

    def forward(self, x):
        handle = self.fc.register_forward_post_hook(doubled)
        y = self.fc(x)
        handle.remove()
        if y.sum() > 0:
            handles = self.fc.register_forward_pre_hook(halved), self.fc.register_forward_pre_hook(halved)
            y = y + self.fc(x)
            for handle in handles:
                handle.remove()
        return y + self.fc(x)


def test_hooks_that_a_call_registers_and_removes():
    eager, static = Hooked(), jit.to_static(Hooked())
    for values in ((1.0, 2.0), (-3.0, 1.0), (4.0, 1.0)):
        np.testing.assert_array_equal(static(tensor(*values)).numpy(), eager(tensor(*values)).numpy())
        assert not static.fc._forward_pre_hooks
        assert not static.fc._forward_post_hooks
    assert len(static.forward.concrete_programs) == 1


class Keeps(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = Net.linear(1.0), Net.linear(2.0)

    def forward(self, x):
        chosen = self.a.weight if x.sum() > 0 else self.b.weight
        self.kept = chosen
        return x * 2


def test_a_parameter_that_a_condition_chooses_is_kept_eagerly_where_that_is_allowed():
    net = Keeps()
    with pytest.raises(StructureError, match="is, or holds, a parameter"):
        jit.to_static(net.forward)(tensor(1.0, 2.0))
    static = jit.to_static(net.forward, full_graph=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error", EagerStatementWarning)
        static(tensor(1.0, 2.0))  # the run tells which it is, and to keep it is left to Python, as anything that is so small
    assert net.kept is net.a.weight
    static(tensor(-1.0, -2.0))
    assert net.kept is net.b.weight
    assert [name for name, _ in net.named_parameters()] == ["kept", "a.weight"]
