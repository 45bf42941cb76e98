"""What the gates of a recurrent cell do in one step of time, in one pass over the elements.

Eager mode would take a dozen ops for it. A static program has them, as its passes fuse them with what is around.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from .. import dims
from ..errors import DTypeError
from ..loopir import nodes as n
from .checked import CheckedOp
from .registry import TensorType, register
from .special import expit
from .vjp import vjp


class _Gates(CheckedOp):
    """What the two cells and their gradients share: X and Hidden [batch, parts * size] and State [batch, size], of one dtype."""

    parts: ClassVar[int]
    kernel_from = 1 << 12
    kernel_alone = False

    @classmethod
    def elements(cls, ins: tuple[Any, ...], attrs: dict[str, Any]) -> int:
        return ins[0].size

    @classmethod
    def check(cls, x: TensorType, hidden: TensorType, state: TensorType) -> None:
        if x.dtype not in ("float32", "float64") or not x.dtype == hidden.dtype == state.dtype:
            raise DTypeError(f"{cls.title} takes float32 or float64, of one kind, got {x.dtype}, {hidden.dtype} and {state.dtype}")
        for t in (x, hidden, state):
            dims.require_equal(t.rank, 2, f"{cls.title} takes matrices: the number of dims")
        dims.require_same_shape(hidden.shape, x.shape, f"{cls.title}: what the state gives does not have the shape of what the input gives")
        dims.require_equal(state.shape[0], x.shape[0], f"{cls.title}: the batch of the state")
        dims.require_equal(state.shape[1] * cls.parts, x.shape[1], f"{cls.title} has {cls.parts} parts for each element of the state")

    @classmethod
    def split(cls, x: np.ndarray) -> list[np.ndarray]:
        size = x.shape[1] // cls.parts
        return [x[:, i * size : (i + 1) * size] for i in range(cls.parts)]


class _Cell(_Gates):
    inputs = ("X", "Hidden", "State")
    compose: ClassVar[Callable[..., Any]]
    """`compose(b, x, hidden, state)`: the outputs, with basic ops."""

    @classmethod
    def infer(cls, x: TensorType, hidden: TensorType, state: TensorType) -> tuple:
        cls.check(x, hidden, state)
        return (*(state for _ in cls.outputs[1:]), x)

    @classmethod
    def grad(cls, b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        if douts[-1] is not None:
            return vjp(b, cls.compose, ins, douts)
        given = {slot.name + "@GRAD": dout for slot, dout in zip(cls.output_slots[:-1], douts[:-1], strict=True) if dout is not None}
        slots = dict(zip(cls.input_names, ins, strict=True))
        first, *others = b.op(f"{cls.type}_grad", **slots, Gates=outs[-1], **given)
        return (first, first, *others) if len(others) == 1 else (first, *others)


class _CellGrad(_Gates):
    """The gradients of a cell, from its inputs, its gates and the gradients of its outputs, which may be absent. Where X and Hidden have
    the same, there is one output for both."""

    outputs: ClassVar[tuple[str, ...]] = ("X@GRAD", "Hidden@GRAD", "State@GRAD")
    cell: ClassVar[type[_Cell]]

    @classmethod
    def infer(cls, x: TensorType, hidden: TensorType, state: TensorType, gates: TensorType, *douts: Any) -> tuple:
        cls.check(x, hidden, state)
        require_types(cls.title, [(gates, x), *((d, state) for d in douts)])
        return (*(x for _ in cls.outputs[1:]), state)

    @classmethod
    def grad(cls, b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        first, given = ins[:3], [d for d in ins[4:] if d is not None]

        def gradients(r: Any, x: Any, hidden: Any, state: Any, *some: Any) -> tuple:
            values = iter(some)
            each = [*[None if d is None else next(values) for d in ins[4:]], None]
            whole = vjp(r, cls.cell.compose, (x, hidden, state), each)
            return whole if len(cls.outputs) == 3 else (whole[0], whole[2])

        found = vjp(b, gradients, (*first, *given), douts)
        rest = iter(found[3:])
        return (*found[:3], None, *(None if d is None else next(rest) for d in ins[4:]))


def require_types(title: str, pairs: Sequence[tuple[TensorType | None, TensorType]]) -> None:
    """Error if what the forward op has given, or a gradient of it, does not have the dtype and the shape of what it belongs to; it may be
    absent."""
    for given, wanted in pairs:
        if given is not None:
            if given.dtype != wanted.dtype:
                raise DTypeError(f"{title}: a value of {given.dtype} where one of {wanted.dtype} belongs")
            dims.require_same_shape(given.shape, wanted.shape, f"{title}: what the forward op gives, or its gradient")


def require_sizes(k: Any, ref: Any, sizes: Sequence[Any]) -> None:
    """The kernel fails where a tensor has other sizes than the places that it reads or writes need."""
    for size, wanted in zip(ref.shape, sizes, strict=True):
        k.fail_if(n.as_expr(size, n.INDEX) != wanted)


class Row:
    """A row of a tensor."""

    def __init__(self, ref: Any, start: Any):
        self.ref, self.start = ref, start

    def __getitem__(self, at: Any) -> Any:
        return self.ref[self.start + at]

    def __setitem__(self, at: Any, value: Any) -> None:
        self.ref[self.start + at] = value


@contextlib.contextmanager
def _rows(cx: Any, state: Any, ins: Sequence[tuple[Any, int]], outs: Sequence[tuple[Any, int]]) -> Iterator[tuple]:
    """A kernel that goes over the rows of matrices.

    Args:
        state: the variable that tells the size.
        ins, outs: variables and how many parts of that size they have. An absent input gives None, in the place of an output that nobody
            wants is memory.

    Yields:
        the kernel, the size, and the rows of the inputs and of the outputs.
    """
    outs = [(cx.temp(state.dtype, 2) if v is None else v, parts) for v, parts in outs]
    given = [(v, parts) for v, parts in ins if v is not None]
    with cx.kernel([state, *[v for v, _ in given]], [v for v, _ in outs], shapes=False) as (k, (old, *refs), written):
        batch, size = old.shape
        for ref, (_, parts) in zip(refs, given, strict=True):
            require_sizes(k, ref, [batch, n.as_expr(size, n.INDEX) * parts])
        for ref, (_, parts) in zip(written, outs, strict=True):
            k.set_shape(ref, [batch, k.let(size * parts)])
        with k.parallel(batch) as row:
            start = k.let(row * size, "start")
            found = iter([Row(ref, k.let(start * parts)) for ref, (_, parts) in zip(refs, given, strict=True)])
            rows = [None if v is None else next(found) for v, _ in ins]
            yield k, size, rows, [Row(ref, k.let(start * parts)) for ref, (_, parts) in zip(written, outs, strict=True)]


@register
class LSTMGates(_Cell):
    """i, f, g, o = X + Hidden;  NewState = sigmoid(f) * State + sigmoid(i) * tanh(g);  Out = sigmoid(o) * tanh(NewState).

    Gates [batch, 4 * size] has what the four are after their functions.
    """

    type = "lstm_gates"
    outputs = ("NewState", "Out", "Gates")
    parts = 4

    @classmethod
    def reference(cls, x: np.ndarray, hidden: np.ndarray, state: np.ndarray) -> tuple:
        gates = x + hidden
        i, f, g, o = cls.split(gates)
        for part in (i, f, o):
            part[...] = expit(part)
        np.tanh(g, out=g)
        new = f * state + i * g
        return new, o * np.tanh(new), gates

    @classmethod
    def lower(cls, cx: Any, x: Any, hidden: Any, state: Any, new: Any, out: Any, gates: Any) -> None:
        ins = (x, 4), (hidden, 4), (state, 1)
        with _rows(cx, state, ins, ((new, 1), (out, 1), (gates, 4))) as (k, size, (xs, hs, old), (new, out, gates)):
            cls.step(k, size, xs, hs, old, new, out, gates)

    @staticmethod
    def step(k: Any, size: Any, x: Row, hidden: Row, old: Row, new: Row, out: Row, gates: Row) -> None:
        """One row of the op. Loops over single parts are computed in vectors, as nothing that they write may be what they read."""
        for p in range(4):
            with k.loop(size, parallel=True) as j:
                at = k.let(j + p * size)
                gates[at] = n.call("tanh" if p == 2 else "sigmoid", x[at] + hidden[at])
        with k.loop(size, parallel=True) as j:
            i, f, g, o = [gates[j + p * size] for p in range(4)]
            value = k.let(f * old[j] + i * g)
            new[j] = value
            out[j] = o * n.call("tanh", value)

    @staticmethod
    def compose(b: Any, x: Any, hidden: Any, state: Any) -> tuple:
        i, f, g, o = b.op("split", X=b.add(x, hidden), num=4, axis=-1)
        i, f, g, o = b.sigmoid(i), b.sigmoid(f), b.tanh(g), b.sigmoid(o)
        new = b.add(b.mul(f, state), b.mul(i, g))
        return new, b.mul(o, b.tanh(new)), b.op("concat", X=[i, f, g, o], axis=1)


@register
class LSTMGatesGrad(_CellGrad):
    """The gradients of `lstm_gates`; that of X is that of Hidden."""

    type = "lstm_gates_grad"
    outputs = ("X@GRAD", "State@GRAD")
    inputs = ("X", "Hidden", "State", "Gates", "NewState@GRAD?", "Out@GRAD?")
    cell = LSTMGates
    parts = 4

    @classmethod
    def reference(cls, x: np.ndarray, hidden: np.ndarray, state: np.ndarray, gates: np.ndarray, dnew: Any, dout: Any) -> tuple:
        i, f, g, o = cls.split(gates)
        total = np.zeros_like(state) if dnew is None else dnew
        dx = np.empty_like(gates)
        di, df, dg, do = cls.split(dx)
        if dout is None:
            do[...] = 0
        else:
            top = np.tanh(f * state + i * g)
            total = total + dout * o * (1 - top * top)
            do[...] = dout * top * o * (1 - o)
        di[...] = total * g * i * (1 - i)
        df[...] = total * state * f * (1 - f)
        dg[...] = total * i * (1 - g * g)
        return dx, total * f

    @classmethod
    def lower(cls, cx: Any, x: Any, hidden: Any, state: Any, gates: Any, dnew: Any, dout: Any, dx: Any, dstate: Any) -> None:
        ins = (state, 1), (gates, 4), (dnew, 1), (dout, 1)
        with _rows(cx, state, ins, ((dx, 4), (dstate, 1))) as (k, size, (old, gates, dnew, dout), (dx, dstate)):
            cls.step(k, size, old, gates, dnew, dout, dx, dstate)

    @staticmethod
    def step(k: Any, size: Any, old: Row, gates: Row, dnew: Row | None, dout: Row | None, dx: Row, dstate: Row) -> None:
        """One row of the op; `dnew` and `dstate` may be the same."""
        with k.loop(size, parallel=True) as j:
            i, f, g, o = [k.let(gates[j + p * size]) for p in range(4)]
            total = n.cast(0, old.ref.dtype) if dnew is None else dnew[j]
            if dout is None:
                dx[j + 3 * size] = n.cast(0, old.ref.dtype)
            else:
                top, d = k.let(n.call("tanh", f * old[j] + i * g)), k.let(dout[j])
                total = total + d * o * (1.0 - top * top)
                dx[j + 3 * size] = d * top * o * (1.0 - o)
            dstate[j] = total
        with k.loop(size, parallel=True) as j:
            i, g = k.let(gates[j]), gates[j + 2 * size]
            dx[j] = dstate[j] * g * i * (1.0 - i)
        with k.loop(size, parallel=True) as j:
            f = k.let(gates[j + size])
            dx[j + size] = dstate[j] * old[j] * f * (1.0 - f)
        with k.loop(size, parallel=True) as j:
            i, g = gates[j], k.let(gates[j + 2 * size])
            dx[j + 2 * size] = dstate[j] * i * (1.0 - g * g)
        with k.loop(size, parallel=True) as j:
            dstate[j] = dstate[j] * gates[j + size]


@register
class GRUGates(_Cell):
    """r, z, n = X and r', z', n' = Hidden;  c = tanh(n + sigmoid(r + r') * n');  Out = sigmoid(z + z') * (State - c) + c.

    Gates [batch, 3 * size] has what r + r', z + z' and c are after their functions.
    """

    type = "gru_gates"
    outputs = ("Out", "Gates")
    parts = 3

    @classmethod
    def reference(cls, x: np.ndarray, hidden: np.ndarray, state: np.ndarray) -> tuple:
        size = state.shape[1]
        gates = x + hidden
        gates[:, : 2 * size] = expit(gates[:, : 2 * size])
        r, z, c = cls.split(gates)
        c[...] = np.tanh(x[:, 2 * size :] + r * hidden[:, 2 * size :])
        return z * (state - c) + c, gates

    @classmethod
    def lower(cls, cx: Any, x: Any, hidden: Any, state: Any, out: Any, gates: Any) -> None:
        ins = (x, 3), (hidden, 3), (state, 1)
        with _rows(cx, state, ins, ((out, 1), (gates, 3))) as (k, size, (xs, hs, old), (out, gates)):
            with k.loop(2 * size, parallel=True) as j:
                gates[j] = n.call("sigmoid", xs[j] + hs[j])
            with k.loop(size, parallel=True) as j:
                at = k.let(j + 2 * size)
                gates[at] = n.call("tanh", xs[at] + gates[j] * hs[at])
            with k.loop(size, parallel=True) as j:
                c = k.let(gates[j + 2 * size])
                out[j] = gates[j + size] * (old[j] - c) + c

    @staticmethod
    def compose(b: Any, x: Any, hidden: Any, state: Any) -> tuple:
        r, z, new = b.op("split", X=x, num=3, axis=-1)
        hidden_r, hidden_z, hidden_new = b.op("split", X=hidden, num=3, axis=-1)
        r, z = b.sigmoid(b.add(r, hidden_r)), b.sigmoid(b.add(z, hidden_z))
        c = b.tanh(b.add(new, b.mul(r, hidden_new)))
        return b.add(b.mul(z, b.sub(state, c)), c), b.op("concat", X=[r, z, c], axis=1)


@register
class GRUGatesGrad(_CellGrad):
    """The gradients of `gru_gates`."""

    type = "gru_gates_grad"
    inputs = ("X", "Hidden", "State", "Gates", "Out@GRAD")
    cell = GRUGates
    parts = 3

    @classmethod
    def reference(cls, x: np.ndarray, hidden: np.ndarray, state: np.ndarray, gates: np.ndarray, dout: np.ndarray) -> tuple:
        r, z, c = cls.split(gates)
        dx, dhidden = np.empty_like(gates), np.empty_like(gates)
        dr, dz, dc = cls.split(dx)
        dz[...] = dout * (state - c) * z * (1 - z)
        dc[...] = dout * (1 - z) * (1 - c * c)
        dr[...] = dc * cls.split(hidden)[2] * r * (1 - r)
        dhidden[...] = dx
        cls.split(dhidden)[2][...] = dc * r
        return dx, dhidden, dout * z

    @classmethod
    def lower(cls, cx: Any, x: Any, hidden: Any, state: Any, gates: Any, dout: Any, dx: Any, dhidden: Any, dstate: Any) -> None:
        ins, outs = ((hidden, 3), (state, 1), (gates, 3), (dout, 1)), ((dx, 3), (dhidden, 3), (dstate, 1))
        with _rows(cx, state, ins, outs) as (k, size, (hs, old, gates, dout), (dx, dhidden, dstate)):
            with k.loop(size, parallel=True) as j:
                z, c = k.let(gates[j + size]), k.let(gates[j + 2 * size])
                dx[j + 2 * size] = dout[j] * (1.0 - z) * (1.0 - c * c)
            with k.loop(size, parallel=True) as j:
                z = k.let(gates[j + size])
                dx[j + size] = dout[j] * (old[j] - gates[j + 2 * size]) * z * (1.0 - z)
            with k.loop(size, parallel=True) as j:
                at, r = k.let(j + 2 * size), k.let(gates[j])
                dx[j] = dx[at] * hs[at] * r * (1.0 - r)
            with k.loop(2 * size, parallel=True) as j:
                dhidden[j] = dx[j]
            with k.loop(size, parallel=True) as j:
                dhidden[j + 2 * size] = dx[j + 2 * size] * gates[j]
            with k.loop(size, parallel=True) as j:
                dstate[j] = dout[j] * gates[j + size]
