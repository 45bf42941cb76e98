"""`explain()` speaks of the user's own conditions and values."""

import re

import dy2st as paddle
from dy2st import jit, nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.rnn = nn.GRU(2, 2)
        self.act = nn.Sequential(nn.Dropout(0.1), nn.ReLU())

    def forward(self, x):
        x, _ = self.rnn(x)
        x = self.act(self.fc(x))
        if x.sum() > 100:
            x = x * 2
        for k in (1, 2):
            x = x + k
        return x


def test_conditions_of_own_layers_are_left_out():
    net = jit.to_static(Net())
    net(paddle.ones([1, 3, 2]))
    notes = [line for line in net.forward.explain().splitlines() if ": if " in line or ": for " in line or ": while " in line]
    assert len(notes) == 2
    assert "if staged: its condition depends on a tensor   | if x.sum() > 100:" in notes[0]
    assert "for unrolled while tracing: it runs over a Python tuple   | for k in (1, 2):" in notes[1]


class Remembering(nn.Layer):
    def forward(self, x):
        if hasattr(self, "last"):
            x = x + self.last
        self.last = x * 2
        return x


def test_values_of_the_user_are_readable():
    net = jit.to_static(Remembering())
    net(paddle.ones([2, 2]))
    net(paddle.ones([2, 2]))
    net.last = 3
    net(paddle.ones([2, 2]))
    text = net.forward.explain()
    assert not re.search(r"<object object|<class|0x[0-9a-f]+", text), text
    assert "was not there, is a float32 Tensor of shape [2, 2], stop_gradient=True" in text
