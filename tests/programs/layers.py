"""Layers that loop themselves, or call what the user wrote, in branches and loops."""

import dy2st as paddle
from dy2st import nn

_FIXED = {name: nn.initializer.Constant(v) for name, v in
          (("weight_ih_attr", 0.3), ("weight_hh_attr", -0.4), ("bias_ih_attr", 0.1), ("bias_hh_attr", 0.05))}  # fmt: skip
gru = nn.GRU(2, 2, **_FIXED)
both = nn.LSTM(2, 2, direction="bidirect", **_FIXED)
lstm_cell, gru_cell = nn.LSTMCell(2, 2, **_FIXED), nn.GRUCell(2, 2, **_FIXED)


class Pondering(nn.Layer):
    """A cell that thinks as long as it takes."""

    def forward(self, x, h):
        for _ in range(5):
            if h.sum() > x.sum():
                break
            h = h * 0.5 + x.abs()
        return h * 2, h


pondering = nn.RNN(Pondering())
decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(2, 1, 4, dropout=0.0, weight_attr=nn.initializer.Constant(0.4)), 2)


def recurrent_on_one_path(x):
    if x.sum() > 0:
        y, h = gru(x)
        return y * h.sum()
    return x * 2


def recurrent_until(x):
    steps = 0
    while x.norm() > 0.9 and steps < 4:
        x, _ = gru(x)
        steps += 1
    return x, steps


def recurrent_for_each(x, n):
    total = x.sum() * 0
    for i in range(n):
        y, (h, c) = both(x * (i + 1))
        total = total + (y * y).mean() + h[0].sum() * c[1].sum()
    return total


def recurrent_with_lengths(x, n):
    lengths = paddle.stack([n, n - 1])
    y, (h, c) = both(x, sequence_length=lengths)
    return y, h, c


def cell_with_a_loop(x):
    y, h = pondering(x, x[:, 0] * 0)
    return y, h


def cells_without_a_state_before(x, n):
    pair = state = None
    total = x.sum()
    for _ in range(n):
        y, pair = lstm_cell(x[0], pair) if pair is not None else lstm_cell(x[0])
        z, state = gru_cell(y, state)
        total = total + (y * z).sum()
    return total, pair is None


def decoded_with_a_cache(memory, n):
    cache = decoder.gen_cache(memory)
    word = memory[:, :1]
    words = []
    for _ in range(n):
        word, cache = decoder(word, memory, cache=cache)
        words.append(word)
        if word.sum() > 2:
            break
    return word, len(words), cache[0][0].k


def beams_traced_back(x, n):
    ids, parents = [], []
    for i in range(n):
        ids.append(x[:, :, 0].argsort(-1) + i * 10)
        parents.append((x[:, :, 1] * (i - 1)).argsort(-1))
    return nn.functional.gather_tree(paddle.stack(ids), paddle.stack(parents)), x.sum()


def mapped_structures(x, n):
    def halved(v):
        while v.abs().sum() > n:
            v = v / 2
        return v

    found = paddle.utils.map_structure(halved, {"b": [x, x[0]], "a": (x * 3,)})
    return found, paddle.utils.flatten(found)[0]


X = [[[1.0, 2.0], [0.5, -1.0], [0.3, 0.2]], [[-1.0, 0.5], [2.0, 1.0], [0.1, -0.7]]]
MINUS = [[[-1.0, -2.0], [0.5, -1.0], [0.3, 0.2]]]

CASES = [
    (recurrent_on_one_path, [(X,), (MINUS,)], 1),
    (recurrent_until, [(X,), (MINUS,)], 1),
    (recurrent_for_each, [(X, 2), (X, 0)], 1),
    (recurrent_with_lengths, [(X, 3), (X, 2)], 1),
    (cell_with_a_loop, [(X,), (MINUS,)], 1),
    (cells_without_a_state_before, [(X, 3), (X, 0)], 1),
    (decoded_with_a_cache, [(X, 3), (X, 1)], 1),
    (beams_traced_back, [(X, 3), (X, 1)], 1),
    (mapped_structures, [(X, 3), (MINUS, 1)], 1),
]
