import numpy as np
import pytest
from agreement import agree, normal
from dy2st_runtime import Predictor

import dy2st as paddle
from dy2st import Tensor, jit, nn
from dy2st.errors import AttributeValueError, ShapeError, StructureError
from dy2st.jit import InputSpec
from dy2st.nn import rnn_cells
from dy2st.tensor import dispatch


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def simple(w, x, state):
    h = np.tanh(x @ w["weight_ih"].T + w["bias_ih"] + state @ w["weight_hh"].T + w["bias_hh"])
    return h, h


def lstm(w, x, state):
    h, c = state
    i, f, g, o = np.split(x @ w["weight_ih"].T + w["bias_ih"] + h @ w["weight_hh"].T + w["bias_hh"], 4, axis=-1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    h = sigmoid(o) * np.tanh(c)
    if "weight_ho" in w:
        h = h @ w["weight_ho"]
    return h, (h, c)


def gru(w, x, state):
    xr, xz, xn = np.split(x @ w["weight_ih"].T + w["bias_ih"], 3, axis=-1)
    hr, hz, hn = np.split(state @ w["weight_hh"].T + w["bias_hh"], 3, axis=-1)
    z = sigmoid(xz + hz)
    new = np.tanh(xn + sigmoid(xr + hr) * hn)
    h = z * state + (1 - z) * new
    return h, h


def sequence(step, w, x, state, reverse):
    """One sequence [time, size] through one cell."""
    outputs = [None] * len(x)
    for t in reversed(range(len(x))) if reverse else range(len(x)):
        outputs[t], state = step(w, x[t], state)
    return np.stack(outputs), state


def network(step, layer, x, lengths):
    """What a recurrent layer gives: each sequence on its own, cut to its length."""
    own = {name: p.numpy().astype(np.float64) for name, p in layer.named_parameters(include_sublayers=False)}
    hidden = layer.hidden_size
    zero = lambda w: np.zeros(w["weight_ho"].shape[1] if "weight_ho" in w else hidden)  # noqa: E731
    outputs, last = [], []
    for row, length in zip(x.astype(np.float64), lengths, strict=True):
        y, states = row[:length], []
        for i in range(layer.num_layers):
            parts = []
            for suffix in ["", "_reverse"][: layer.num_directions]:
                w = {n.removesuffix(f"_l{i}{suffix}"): p for n, p in own.items() if n.endswith(f"_l{i}{suffix}")}
                first = (zero(w), np.zeros(hidden)) if step is lstm else zero(w)
                out, state = sequence(step, w, y, first, bool(suffix))
                parts.append(out)
                states.append(state)
            y = np.concatenate(parts, -1)
        outputs.append(np.concatenate([y, np.zeros((len(row) - length, y.shape[1]))]))
        last.append(states)
    if step is lstm:
        return np.stack(outputs), [np.stack([[s[k] for s in states] for states in last], 1) for k in range(2)]
    return np.stack(outputs), [np.stack(last, 1)]


KINDS = [
    (simple, lambda: nn.SimpleRNN(3, 4, num_layers=2)),
    (lstm, lambda: nn.LSTM(3, 4, num_layers=2, direction="bidirect")),
    (lstm, lambda: nn.LSTM(3, 4, num_layers=2, proj_size=2)),
    (gru, lambda: nn.GRU(3, 4, direction="bidirectional")),
]


@pytest.mark.parametrize(("step", "make"), KINDS)
def test_against_numpy(step, make):
    layer, x, lengths = make(), normal(3, 5, 3), [5, 2, 1]
    for given, each in ((None, [5, 5, 5]), (Tensor(lengths), lengths)):
        expected, states = network(step, layer, x, each)
        found, last = layer(Tensor(x), None, given)
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5, atol=1e-6)
        for a, b in zip(last if step is lstm else [last], states, strict=True):
            np.testing.assert_allclose(a.numpy(), b.transpose(1, 0, 2) if b.shape[0] == 3 else b, rtol=1e-5, atol=1e-6)


def test_activation_relu():
    layer = nn.SimpleRNN(2, 3, activation="relu")
    w = {n: p.numpy() for n, p in layer[0].cell.named_parameters()}
    x, h = normal(4, 2), np.zeros(3)
    for row in x:
        h = np.maximum(row @ w["weight_ih"].T + w["bias_ih"] + h @ w["weight_hh"].T + w["bias_hh"], 0)
    np.testing.assert_allclose(layer(Tensor(x[None]))[1].numpy()[0, 0], h, rtol=1e-5)


@pytest.mark.parametrize("make", [lambda: nn.LSTM(3, 4, 2, "bidirect", dropout=0.4), lambda: nn.GRU(3, 4, time_major=True)])
@pytest.mark.parametrize("training", [True, False])
def test_static(make, training):
    layer = make()
    layer.train() if training else layer.eval()
    batches = [(normal(2, 2, 3),), (normal(3, 3, 3, seed=1),), (normal(1, 1, 3),)]
    agree(layer, batches, spec=[[None, None, 3]])


def test_static_with_states_and_lengths():
    layer = nn.LSTM(3, 4)

    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.lstm = layer

        def forward(self, x, h, c, lengths):
            return self.lstm(x, (h, c), lengths)

    calls = [(normal(b, t, 3), normal(1, b, 4), normal(1, b, 4, seed=1), np.arange(b) % t + 1) for b, t in ((2, 5), (3, 2))]
    agree(Net(), calls)


def test_the_loop_over_time_is_one_while_loop():
    layer = nn.LSTM(3, 4)
    static = jit.to_static(lambda x: layer(x)[0])
    static(Tensor(normal(2, 50, 3)))
    text = str(static.main_program)
    assert text.count("sigmoid(") == 3


class Gate(nn.Layer):
    """A cell with a decision and a structure of its own."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def get_initial_states(self, batch_ref, batch_dim_idx=0):
        return {"h": paddle.zeros([batch_ref.shape[batch_dim_idx], 2]), "n": paddle.zeros([batch_ref.shape[batch_dim_idx]])}

    def forward(self, x, states, scale=1.0):
        h = states["h"]
        if x.sum() > 0:
            h = paddle.tanh(self.fc(x * scale) + h)
        else:
            h = h * 0.5
        return h * 2, {"h": h, "n": states["n"] + 1}


@pytest.mark.parametrize("reverse", [False, True])
def test_a_cell_of_the_user(reverse):
    net = nn.RNN(Gate(), is_reverse=reverse)
    y, states = net(Tensor(normal(2, 6, 2)), scale=2.0)
    assert y.shape == [2, 6, 2]
    assert states["n"].numpy().tolist() == [6, 6]

    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.rnn = net

        def forward(self, x, lengths):
            y, states = self.rnn(x, sequence_length=lengths, scale=0.5)
            return y, states["h"], states["n"]

    results = agree(Net(), [(normal(2, 6, 2), np.array([6, 4])), (normal(3, 2, 2), np.array([1, 2, 0]))])
    assert results[2].tolist() == [1, 2, 0]


def test_cells_along_time_are_the_layer():
    layer, x = nn.GRU(3, 4, direction="bidirect"), Tensor(normal(2, 5, 3))
    y, h = layer(x)
    again, (forward, backward) = layer[0](x)  # a BiRNN
    np.testing.assert_allclose(again.numpy(), y.numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(np.stack([forward.numpy(), backward.numpy()]), h.numpy(), rtol=1e-5, atol=1e-6)
    out, state = layer[0].cell_fw(x[:, 0])
    np.testing.assert_allclose(out.numpy(), y.numpy()[:, 0, :4], rtol=1e-5, atol=1e-6)
    assert out is state


def test_structure_of_inputs():
    class Sum(nn.RNNCellBase):
        @property
        def state_shape(self):
            return ((3,), (-1, 3))

        def forward(self, inputs, states):
            a, b = inputs
            first, second = states
            return first + a * b, (first + a * b, second + b)

    a, b = Tensor(normal(2, 4, 3)), Tensor(normal(2, 4, 3, seed=1))
    y, (first, second) = nn.RNN(Sum())((a, b))
    np.testing.assert_allclose(y.numpy(), np.cumsum(a.numpy() * b.numpy(), 1), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(second.numpy(), b.numpy().sum(1), rtol=1e-5, atol=1e-6)
    assert first.shape == [2, 3]


def test_names():
    layer = nn.LSTM(3, 4, num_layers=2, direction="bidirect", bias_hh_attr=False)
    own = [f"{kind}_l{i}{s}" for i in (0, 1) for s in ("", "_reverse") for kind in ("weight_ih", "weight_hh", "bias_ih")]
    of_cells = [f"{i}.cell_{d}.{kind}" for i in (0, 1) for d in ("fw", "bw") for kind in ("weight_ih", "weight_hh", "bias_ih")]
    assert list(layer.state_dict()) == own + of_cells
    assert [n for n, _ in layer.named_parameters()] == own
    assert layer.weight_ih_l1.shape == [16, 8]
    assert layer.weight_hh_l0_reverse is layer[0].cell_bw.weight_hh
    assert np.abs(layer.weight_ih_l0.numpy()).max() <= 0.5
    assert list(nn.GRU(2, 3)[0].state_dict()) == ["cell.weight_ih", "cell.weight_hh", "cell.bias_ih", "cell.bias_hh"]


def test_states_and_saved_models(tmp_path):
    a, b = nn.GRU(3, 4), nn.GRU(3, 4)
    paddle.save(a.state_dict(), str(tmp_path / "gru.pdparams"))
    b.set_state_dict(paddle.load(str(tmp_path / "gru.pdparams")))
    x = normal(2, 3, 3)
    expected = a(Tensor(x))[0].numpy()
    np.testing.assert_array_equal(b(Tensor(x))[0].numpy(), expected)
    jit.save(b, tmp_path / "gru", [InputSpec([None, None, 3], "float32", "x")])
    np.testing.assert_allclose(Predictor(tmp_path / "gru").run({"x": x})[0], expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(jit.load(tmp_path / "gru")(Tensor(x))[0].numpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda: nn.LSTM(3, 4)(paddle.zeros([2, 5, 4])), ShapeError, r"\[batch, time, 3\], got \[2, 5, 4\]"),
    (lambda: nn.LSTM(3, 4, time_major=True)(paddle.zeros([2, 3])), ShapeError, r"\[time, batch, 3\], got \[2, 3\]"),
    (lambda: nn.LSTM(3, 4)(paddle.zeros([2, 5, 3]), paddle.zeros([1, 2, 4])), ShapeError, "2 initial states, got 1"),
    (lambda: nn.GRU(3, 4)(paddle.zeros([2, 5, 3]), paddle.zeros([2, 2, 4])), ShapeError, r"\[1, 2, hidden\], got \[2, 2, 4\]"),
    (lambda: nn.GRU(3, 4)(paddle.zeros([2, 5, 3]), paddle.zeros([1, 1, 4])), ShapeError, r"\[1, 2, hidden\]"),
    (lambda: nn.GRU(3, 4)(paddle.zeros([2, 5, 3]), None, paddle.ones([3], "int64")), ShapeError, r"\[2\], one length"),
    (lambda: nn.LSTMCell(3, 4)(paddle.zeros([2, 3]), paddle.zeros([2, 4])), ShapeError, r"a pair \(h, c\), got value"),
    (lambda: nn.GRUCell(3, 4)(paddle.zeros([2, 2])), ShapeError, "3 features"),
    (lambda: nn.GRUCell(3, 4)(paddle.zeros([2, 3]), paddle.zeros([2, 5])), ShapeError, r"\[batch, 4\], got \[2, 5\]"),
    (lambda: nn.LSTM(3, 4, direction="back"), AttributeValueError, "'back' is unknown"),
    (lambda: nn.LSTM(3, 4, num_layers=0), AttributeValueError, "positive"),
    (lambda: nn.LSTMCell(3, 4, proj_size=4), AttributeValueError, "less than hidden_size"),
    (lambda: nn.GRUCell(3, 0), AttributeValueError, "positive"),
    (lambda: nn.SimpleRNN(3, 4, activation="sine"), AttributeValueError, "'sine' is unknown"),
    (lambda: nn.RNN(lambda x, s: ((x, x), s))(paddle.zeros([2, 5, 3]), ()), StructureError, r"one tensor, got \(value, value\)"),
])  # fmt: skip
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("make", [nn.LSTM, nn.GRU, nn.LSTMCell, nn.GRUCell], ids=lambda make: make.__name__)
def test_the_gates_are_one_op_in_eager_mode_and_the_same_as_many(make, monkeypatch):
    """Values, gradients and gradients of gradients."""
    paddle.seed(3)
    layer = make(3, 4)
    x = Tensor(normal(2, 5, 3) if make in (nn.LSTM, nn.GRU) else normal(2, 3), stop_gradient=False)

    def found():
        y, states = layer(x)
        wrt = [x, *layer.parameters()]
        total = (y**2).sum() + sum((s**3).sum() for s in (states if isinstance(states, tuple) else (states,)))
        grads = paddle.grad(total, wrt, create_graph=True)
        return [y, *grads, *paddle.grad(sum((g**2).sum() for g in grads), wrt)]

    types = []
    apply = type(dispatch.ops).apply
    monkeypatch.setattr(type(dispatch.ops), "apply", lambda self, op, *args: (types.append(op.type), apply(self, op, *args))[1])
    one = found()
    gates = "lstm_sequence" if make is nn.LSTM else f"{'lstm' if 'LSTM' in make.__name__ else 'gru'}_gates"
    assert {gates, f"{gates}_grad"} <= set(types)
    monkeypatch.setattr(rnn_cells, "_fit_together", lambda *_: False)
    monkeypatch.setattr(nn.LSTMCell, "over_time", lambda *_: None)
    types.clear()
    many = found()
    assert gates not in types
    for a, b in zip(one, many, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("options", [{"direction": "bidirect"}, {"num_layers": 2, "time_major": True}, {"bias_hh_attr": False}], ids=str)
def test_a_layer_of_lstm_over_time_is_one_op_in_eager_mode_and_the_same_as_its_steps(options, monkeypatch):
    paddle.seed(4)
    layer, x = nn.LSTM(3, 4, **options), Tensor(normal(3, 5, 3), stop_gradient=False)
    count = layer.num_layers * layer.num_directions
    initial = tuple(Tensor(normal(count, 5 if layer.time_major else 3, 4), stop_gradient=False) for _ in range(2))

    def found():
        y, (h, c) = layer(x, initial)
        (y.sum() + (y[:, 0] ** 2).sum() + (h**3).sum() + (c**2).sum()).backward()
        grads = [t.grad for t in (x, *initial, *layer.parameters())]
        for t in (x, *initial, *layer.parameters()):
            t.clear_grad()
        return [y, h, c, *grads]

    one = found()
    monkeypatch.setattr(nn.LSTMCell, "over_time", lambda *_: None)
    for a, b in zip(one, found(), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-5)


def test_a_step_of_the_users_own_is_what_a_layer_does():
    layer = nn.LSTM(3, 4)
    cell = layer[0].cell
    cell.step = lambda projected, states: (projected[:, :4], states)
    y, _ = layer(Tensor(normal(2, 5, 3)))
    np.testing.assert_allclose(y.numpy(), cell.project(Tensor(normal(2, 5, 3))).numpy()[..., :4], rtol=1e-5)
