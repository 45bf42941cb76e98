"""Rows of the gates of recurrent cells."""

from __future__ import annotations

import numpy as np
from dy2st_runtime.errors import DTypeError, ShapeError
from op_cases import Case
from scipy.special import expit

rng = np.random.default_rng(16)


def f32(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def lstm(x: np.ndarray, hidden: np.ndarray, state: np.ndarray) -> tuple:
    i, f, g, o = np.split(x + hidden, 4, 1)
    new = expit(f) * state + expit(i) * np.tanh(g)
    return new, expit(o) * np.tanh(new), np.concatenate([expit(i), expit(f), np.tanh(g), expit(o)], 1)


def gru(x: np.ndarray, hidden: np.ndarray, state: np.ndarray) -> tuple:
    (r, z, new), (hidden_r, hidden_z, hidden_new) = np.split(x, 3, 1), np.split(hidden, 3, 1)
    reset, keep = expit(r + hidden_r), expit(z + hidden_z)
    c = np.tanh(new + reset * hidden_new)
    return keep * (state - c) + c, np.concatenate([reset, keep, c], 1)


def inputs(parts: int, batch: int = 2, size: int = 3) -> dict[str, np.ndarray]:
    return {"X": f32(batch, parts * size), "Hidden": f32(batch, parts * size), "State": f32(batch, size)}


def backward(of: dict[str, np.ndarray], gates: np.ndarray, **douts: np.ndarray) -> dict[str, np.ndarray]:
    return {**of, "Gates": gates, **{f"{name}@GRAD": dout for name, dout in douts.items()}}


def over_time(x: np.ndarray, weight: np.ndarray, state: np.ndarray, cell: np.ndarray) -> tuple:
    states, cells, gates = [state], [cell], []
    for row in x:
        found = lstm(row, states[-1] @ weight.T, cells[-1])
        for each, value in zip((cells, states, gates), found, strict=True):
            each.append(value)
    return np.stack(states), np.stack(cells), np.stack(gates) if gates else x


def sequence(time: int = 3, batch: int = 2, size: int = 3) -> dict[str, np.ndarray]:
    return {"X": f32(time, batch, 4 * size), "Weight": f32(4 * size, size), "State": f32(batch, size), "Cell": f32(batch, size)}


LSTM, GRU = inputs(4), inputs(3)
SEQUENCE = sequence()
SAVED = dict(zip(("States", "Cells", "Gates"), over_time(*SEQUENCE.values()), strict=True))
LSTM_GATES, GRU_GATES = lstm(*LSTM.values())[2], gru(*GRU.values())[1]
DNEW, DOUT = f32(2, 3), f32(2, 3)

CASES = [
    Case("lstm_sequence", SEQUENCE, expect=over_time, known=("X",)),
    Case("lstm_sequence", sequence(1, 4, 5), expect=over_time, known=("X",)),
    Case("lstm_sequence", sequence(2, 0, 3), expect=over_time, grad=()),
    Case("lstm_sequence", sequence(0), expect=over_time, grad=()),
    Case("lstm_sequence_grad", {**SEQUENCE, **SAVED, "States@GRAD": f32(4, 2, 3), "Cells@GRAD": f32(4, 2, 3)}, grad=()),
    Case("lstm_sequence_grad", {**SEQUENCE, **SAVED, "States@GRAD": f32(4, 2, 3)}, grad=()),
    Case("lstm_sequence_grad", {**SEQUENCE, **SAVED, "Cells@GRAD": f32(4, 2, 3)}, grad=()),
    Case("lstm_sequence", {**SEQUENCE, "Weight": f32(12, 4)}, raises=ShapeError, match="columns of the weight", static=True),
    Case("lstm_sequence", {**SEQUENCE, "Cell": f32(3, 3)}, raises=ShapeError, match="states differ", static=True),
    Case("lstm_sequence", {**SEQUENCE, "Weight": f32(12, 3).astype(np.float64)}, raises=DTypeError, match="float64", static=True),
    Case("lstm_gates", LSTM, expect=lstm),
    Case("lstm_gates", inputs(4, 5, 19), expect=lstm),
    Case("lstm_gates", inputs(4, 0, 3), expect=lstm),
    # Gates follow from the other inputs, so nothing can be said of changing them alone
    Case("lstm_gates_grad", backward(LSTM, LSTM_GATES, NewState=DNEW, Out=DOUT), grad=()),
    Case("lstm_gates_grad", backward(LSTM, LSTM_GATES, NewState=DNEW), grad=()),
    Case("lstm_gates_grad", backward(LSTM, LSTM_GATES, Out=DOUT), grad=()),
    Case("gru_gates", GRU, expect=gru),
    Case("gru_gates", inputs(3, 4, 21), expect=gru),
    Case("gru_gates_grad", backward(GRU, GRU_GATES, Out=DOUT), grad=()),
    Case("lstm_gates", {**LSTM, "State": f32(2, 4)}, raises=ShapeError, match="4 parts", static=True),
    Case("gru_gates", {**GRU, "State": f32(3, 3)}, raises=ShapeError, match="batch", static=True),
    Case("gru_gates", {**GRU, "Hidden": f32(2, 6)}, raises=ShapeError, match="shape", static=True),
    Case("lstm_gates", {**LSTM, "State": f32(2, 3).astype(np.float64)}, raises=DTypeError, match="float64", static=True),
]
