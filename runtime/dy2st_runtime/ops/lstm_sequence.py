"""A layer of LSTM over a whole sequence, for eager mode: its steps are too short to be ops of their own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import dims
from ..errors import DTypeError, GradientError
from ..loopir import nodes as n
from .checked import CheckedOp
from .recurrent import LSTMGates, LSTMGatesGrad, Row, require_sizes, require_types
from .registry import TensorType, register
from .vjp import vjp


class _Sequence(CheckedOp):
    kernel_from = 1 << 14

    @classmethod
    def elements(cls, ins: tuple[Any, ...], attrs: dict[str, Any]) -> int:
        return ins[0].size

    @staticmethod
    def check(x: TensorType, weight: TensorType, state: TensorType, cell: TensorType) -> None:
        if x.dtype not in ("float32", "float64") or not x.dtype == weight.dtype == state.dtype == cell.dtype:
            raise DTypeError(f"lstm_sequence takes float32 or float64, all of one kind, got {x.dtype}, {weight.dtype}, {state.dtype}")
        for t, rank in ((x, 3), (weight, 2), (state, 2), (cell, 2)):
            dims.require_equal(t.rank, rank, "lstm_sequence: the number of dims")
        dims.require_same_shape(state.shape, cell.shape, "lstm_sequence: the two states differ")
        dims.require_equal(state.shape[0], x.shape[1], "lstm_sequence: the batch of the states")
        dims.require_equal(weight.shape[1], state.shape[1], "lstm_sequence: the columns of the weight")
        for size in (weight.shape[0], x.shape[2]):
            dims.require_equal(size, state.shape[1] * 4, "lstm_sequence has 4 parts for each element of the state")


BLOCK = 16
"""Sequences that a thread goes through at once: the products of fewer rows would take longer."""


@contextlib.contextmanager
def _blocks(k: Any, batch: Any) -> Iterator[tuple[Any, Any]]:
    """A loop over blocks of sequences, which threads share: the first of each and how many there are."""
    with k.parallel((n.as_expr(batch) + (BLOCK - 1)) // BLOCK) as block:
        first = k.let(block * BLOCK, "first")
        yield first, k.let(n.minimum(n.as_expr(batch) - first, BLOCK), "rows")


@register
class LSTMSequence(_Sequence):
    """`lstm_gates` for each X[t], with Hidden = State @ Weight^T and the states of the step before.

    X [time, batch, 4 * size] with all biases, Weight [4 * size, size], State and Cell [batch, size]. States and Cells
    [time + 1, batch, size] begin with State and Cell, Gates are like X.
    """

    type = "lstm_sequence"
    inputs = ("X", "Weight", "State", "Cell")
    outputs = ("States", "Cells", "Gates")

    @classmethod
    def infer(cls, x: TensorType, weight: TensorType, state: TensorType, cell: TensorType) -> tuple:
        cls.check(x, weight, state, cell)
        all_states = state.with_shape((x.shape[0] + 1, *state.shape))
        return all_states, all_states, x

    @staticmethod
    def reference(x: np.ndarray, weight: np.ndarray, state: np.ndarray, cell: np.ndarray) -> tuple:
        states, cells = (np.empty((len(x) + 1, *v.shape), v.dtype) for v in (state, cell))
        gates = np.empty(x.shape, x.dtype)
        states[0], cells[0] = state, cell
        for t, row in enumerate(x):
            cells[t + 1], states[t + 1], gates[t] = LSTMGates.reference(row, states[t] @ weight.T, cells[t])
        return states, cells, gates

    @staticmethod
    def lower(cx: Any, x: Any, weight: Any, state: Any, cell: Any, *outs: Any) -> None:
        outs = tuple(cx.temp(x.dtype, 3) if v is None else v for v in outs)
        with cx.kernel([x, weight, state, cell], outs, shapes=False) as (k, (xs, w, h, c), (states, cells, gates)):
            (time, batch, wide), size = xs.shape, h.shape[1]
            four = n.as_expr(size, n.INDEX) * 4
            for ref, sizes in ((xs, [time, batch, four]), (w, [four, size]), (h, [batch, size]), (c, [batch, size])):
                require_sizes(k, ref, sizes)
            for ref in (states, cells):
                k.set_shape(ref, [k.let(n.as_expr(time) + 1), batch, size])
            k.set_shape(gates, [time, batch, wide])
            count = k.let(n.as_expr(batch) * size, "count")
            with _blocks(k, batch) as (first, rows):
                start, many = k.let(first * size, "start"), k.let(rows * size, "many")
                with k.loop(many) as i:
                    states[start + i] = h[start + i]
                with k.loop(many) as i:
                    cells[start + i] = c[start + i]
                with k.loop(time) as t:
                    now = k.let(t * count + start, "now")
                    k.gemm(states, w, gates, rows, wide, size, trans_b=True, a_offset=now, c_offset=now * 4)
                    with k.loop(rows) as row:
                        at = k.let(now + row * size, "at")
                        parts, after = k.let(at * 4), k.let(at + count)
                        LSTMGates.step(k, size, Row(xs, parts), Row(gates, parts), Row(cells, at), Row(cells, after), Row(states, after),
                                       Row(gates, parts))  # fmt: skip

    @classmethod
    def grad(cls, b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        if douts[2] is not None:
            return vjp(b, cls.compose, ins, douts)
        given = {f"{name}@GRAD": dout for name, dout in zip(cls.output_names, douts, strict=True) if dout is not None}
        slots = dict(zip((*cls.input_names, *cls.output_names), (*ins, *outs), strict=True))
        dx, dstate, dcell = b.op("lstm_sequence_grad", **slots, **given)

        def of_weight() -> Any:
            before = b.op("slice", Input=outs[0], axes=[0], starts=[0], ends=[-1])
            rows = [b.op("flatten_contiguous_range", X=v, start_axis=0, stop_axis=1) for v in (dx, before)]
            return b.matmul_v2(*rows, trans_x=True)

        return dx, of_weight, dstate, dcell

    @staticmethod
    def compose(b: Any, x: Any, weight: Any, state: Any, cell: Any) -> tuple:
        """The same with basic ops, for gradients of gradients."""
        if x.shape[0] == -1:
            raise GradientError("the gradient of a gradient of lstm_sequence is not known where only the run knows the number of steps",
                                hint="give it in input_spec")  # fmt: skip
        states, cells = [state], [cell]
        gates: list[Any] = []
        for t in range(x.shape[0]):
            row = b.op("slice", Input=x, axes=[0], starts=[t], ends=[t + 1], decrease_axis=[0])
            found = LSTMGates.compose(b, row, b.matmul_v2(states[-1], weight, trans_y=True), cells[-1])
            for each, value in zip((cells, states, gates), found, strict=True):
                each.append(value)
        return tuple(b.op("stack", X=each, axis=0) for each in (states, cells, gates))


@register
class LSTMSequenceGrad(_Sequence):
    """The gradients of `lstm_sequence`, but for that of Weight, which is a product of X@GRAD and States."""

    type = "lstm_sequence_grad"
    inputs = (*LSTMSequence.inputs, *LSTMSequence.outputs, "States@GRAD?", "Cells@GRAD?")
    outputs = ("X@GRAD", "State@GRAD", "Cell@GRAD")

    @classmethod
    def infer(cls, x: TensorType, weight: TensorType, state: TensorType, cell: TensorType, states: TensorType, cells: TensorType,
              gates: TensorType, *douts: Any) -> tuple:  # fmt: skip
        cls.check(x, weight, state, cell)
        whole = state.with_shape((x.shape[0] + 1, *state.shape))
        require_types(cls.title, [(states, whole), (cells, whole), (gates, x), *((d, whole) for d in douts)])
        return x, state, cell

    @staticmethod
    def reference(x: np.ndarray, weight: np.ndarray, state: np.ndarray, cell: np.ndarray, states: np.ndarray, cells: np.ndarray,
                  gates: np.ndarray, dstates: Any, dcells: Any) -> tuple:  # fmt: skip
        dx, dstate, dcell = np.empty(x.shape, x.dtype), np.zeros_like(state), np.zeros_like(cell)
        for t in reversed(range(len(x) + 1)):
            dstate = dstate if dstates is None else dstate + dstates[t]
            dcell = dcell if dcells is None else dcell + dcells[t]
            if t:
                dx[t - 1], dcell = LSTMGatesGrad.reference(x[t - 1], x[t - 1], cells[t - 1], gates[t - 1], dcell, dstate)
                dstate = dx[t - 1] @ weight
        return dx, dstate, dcell

    @staticmethod
    def lower(cx: Any, x: Any, weight: Any, state: Any, cell: Any, states: Any, cells: Any, gates: Any, dstates: Any, dcells: Any,
              *outs: Any) -> None:  # fmt: skip
        outs = tuple(cx.temp(x.dtype, rank) if v is None else v for v, rank in zip(outs, (3, 2, 2), strict=True))
        given = [v for v in (dstates, dcells) if v is not None]
        with cx.kernel([weight, cells, gates, *given], outs, shapes=False) as (k, (w, cs, gs, *refs), (dx, dstate, dcell)):
            (time, batch, wide), size = gs.shape, w.shape[1]
            four, steps = n.as_expr(size, n.INDEX) * 4, n.as_expr(time, n.INDEX) + 1
            for ref, sizes in ((w, [four, size]), (gs, [time, batch, four]), *((ref, [steps, batch, size]) for ref in (cs, *refs))):
                require_sizes(k, ref, sizes)
            k.set_shape(dx, [time, batch, wide])
            for ref in (dstate, dcell):
                k.set_shape(ref, [batch, size])
            count = k.let(n.as_expr(batch) * size, "count")
            found = dict(zip([v.name for v in given], refs, strict=True))
            with _blocks(k, batch) as (first, rows):
                start, many = k.let(first * size, "start"), k.let(rows * size, "many")
                for ref in (dstate, dcell):
                    with k.loop(many) as i:
                        ref[start + i] = n.cast(0, ref.dtype)

                def add(t: Any) -> None:
                    for total, v in ((dstate, dstates), (dcell, dcells)):
                        if v is not None:
                            with k.loop(many, parallel=True) as i:
                                total[start + i] = total[start + i] + found[v.name][t * count + start + i]

                with k.loop(time) as back:
                    now = k.let((time - 1 - back) * count, "now")
                    add(k.let(time - back))
                    with k.loop(rows) as row:
                        own = k.let(start + row * size, "own")
                        at = k.let(now + own)
                        parts, kept, passed = k.let(at * 4), Row(dcell, own), Row(dstate, own)
                        LSTMGatesGrad.step(k, size, Row(cs, at), Row(gs, parts), kept, passed, Row(dx, parts), kept)
                    k.gemm(dx, w, dstate, rows, size, wide, a_offset=(now + start) * 4, c_offset=start)
                add(0)

    @classmethod
    def grad(cls, b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        first, given = ins[:4], [d for d in ins[7:] if d is not None]

        def gradients(r: Any, x: Any, weight: Any, state: Any, cell: Any, *some: Any) -> tuple:
            values = iter(some)
            each = [*[None if d is None else next(values) for d in ins[7:]], None]
            dx, _, dstate, dcell = vjp(r, LSTMSequence.compose, (x, weight, state, cell), each)
            return dx, dstate, dcell

        found = vjp(b, gradients, (*first, *given), douts)
        rest = iter(found[4:])
        return (*found[:4], None, None, None, *(None if d is None else next(rest) for d in ins[7:]))
