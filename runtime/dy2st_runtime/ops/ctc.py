"""Connectionist temporal classification (Graves et al., 2006).

A blank stands before, between and after the labels; these states are gone through in their order, each for one or more steps, and a blank
between two different labels may be left out. `alpha` is the logarithm of the probability of being in a state after some steps, `beta` of
what comes behind: both recursions, and with them the gradient, are done in one go.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dims
from ..errors import AttributeValueError, DTypeError, GradientError, OutOfRangeError
from ..loopir import nodes as n
from . import indices as ix
from .checked import CheckedOp
from .registry import Bool, Int, TensorType, register
from .vjp import vjp

NEVER = -1e30
"""The logarithm of no probability; infinity would give gradients that are no numbers."""
IMPOSSIBLE = NEVER / 10
"""What is less is no probability, whatever was added to its logarithm."""


@register
class WarpCTC(CheckedOp):
    """-log of the probability of reading a sequence of labels from Logits, to which softmax is applied; WarpCTCGrad is the gradient of it.

    Logits [time, batch, classes], Label [batch, longest], LogitsLength and LabelLength [batch]; Loss [batch, 1]. What is behind the length
    of a sequence counts nothing. A sequence that cannot be read has a loss of 1e30, without a gradient.

    Raises:
        OutOfRangeError: a label is no class.
    """

    type = "warpctc"
    title = "ctc_loss"
    inputs = ("Logits", "Label", "LogitsLength", "LabelLength")
    outputs = ("WarpCTCGrad", "Loss")
    attrs = {"blank": Int(0), "norm_by_times": Bool(False)}
    may_raise = True
    kernel_from = 1 << 10

    @classmethod
    def elements(cls, ins: tuple[Any, ...], attrs: dict[str, Any]) -> int:
        """The states of all steps."""
        logits, label = ins[:2]
        return logits[..., 0].size * (2 * label.shape[-1] + 1) if logits.ndim == 3 and logits.shape[2] else 0

    @staticmethod
    def infer(logits: TensorType, label: TensorType, steps: TensorType, counts: TensorType, *, blank: int, norm_by_times: bool) -> tuple:
        if logits.dtype not in ("float32", "float64"):
            raise DTypeError(f"ctc_loss takes logits of float32 or float64, got {logits.dtype}", hint="cast them")
        for x, rank in ((logits, 3), (label, 2), (steps, 1), (counts, 1)):
            dims.require_equal(x.rank, rank, "ctc_loss takes logits [time, batch, classes], labels [batch, length] and lengths [batch]")
        for x, name in ((label, "labels"), (steps, "lengths of the inputs"), (counts, "lengths of the labels")):
            ix.check_int("ctc_loss", x)
            dims.require_equal(x.shape[0], logits.shape[1], f"ctc_loss: not as many {name} as sequences")
        dims.require_at_least(logits.shape[0], 1, "ctc_loss takes at least one step, got")
        if norm_by_times:
            raise AttributeValueError("ctc_loss: norm_by_times is not supported", hint="divide the loss by the lengths of the inputs")
        return logits, logits.with_shape((logits.shape[1], 1))

    @staticmethod
    def reference(logits: np.ndarray, label: np.ndarray, steps: np.ndarray, counts: np.ndarray, *, blank: int,
                  norm_by_times: bool) -> tuple:  # fmt: skip
        time, batch, classes = logits.shape
        length = label.shape[1]
        inside = np.arange(length) < counts[:, None]
        bad = inside & ((label < 0) | (label >= classes))
        if bad.any() or (batch and not 0 <= blank < classes):
            raise OutOfRangeError(_no_class(int(label[bad][0]) if bad.any() else blank, classes))
        states = np.full((batch, 2 * length + 1), blank)
        states[:, 1::2] = np.where(inside, label, blank)
        jumps = np.zeros(states.shape, bool)
        jumps[:, 2:] = (states[:, 2:] != blank) & (states[:, 2:] != states[:, :-2])
        one = logits.dtype.type
        top = logits.max(2, keepdims=True)
        logs = logits - (top + np.log(np.exp(logits - top).sum(2, keepdims=True)))
        logs = np.where(logs < NEVER, one(NEVER), logs)
        emitted = np.take_along_axis(logs, np.broadcast_to(states, (time, *states.shape)), 2)
        last = np.clip(steps, 1, time) - 1
        rows, ends = np.arange(batch), 2 * counts

        padded = np.full((batch, states.shape[1] + 2), NEVER, logits.dtype)
        alpha = np.empty(emitted.shape, logits.dtype)
        alpha[0] = np.where(np.arange(states.shape[1]) < 2, emitted[0], NEVER)
        for t in range(1, time):
            padded[:, 2:] = alpha[t - 1]
            alpha[t] = _sum3(padded[:, 2:], padded[:, 1:-1], np.where(jumps, padded[:, :-2], one(NEVER))) + emitted[t]
        at = np.arange(states.shape[1])
        final = (at == ends[:, None]) | (at == ends[:, None] - 1)
        total = _sum_of_rows(np.where(final, alpha[last, rows], one(NEVER)))

        grad, lost = np.exp(logs), total < IMPOSSIBLE
        beta = np.full(states.shape, NEVER, logits.dtype)
        padded = np.full((batch, states.shape[1] + 2), NEVER, logits.dtype)
        ahead = np.zeros(padded.shape, bool)
        ahead[:, :-2] = jumps
        for t in reversed(range(time)):
            if t < time - 1:
                padded[:, :-2] = beta + emitted[t + 1]
                ways = _sum3(padded[:, :-2], padded[:, 1:-1], np.where(ahead[:, 2:], padded[:, 2:], one(NEVER)))
                beta = np.where((t < last)[:, None], ways, beta)
            beta = np.where((t == last)[:, None] & final, one(0), beta)
            share = np.exp(alpha[t] + beta - total[:, None])
            np.subtract.at(grad[t], (rows[:, None], states), share)
            grad[t, (t > last) | lost] = 0
        return grad, np.asarray(-total[:, None])

    @staticmethod
    def lower(cx: Any, logits: Any, label: Any, steps: Any, counts: Any, grad: Any, loss: Any, *, blank: int, norm_by_times: bool) -> None:
        inputs, outs = [logits, label, steps, counts], [v for v in (grad, loss) if v is not None]
        scratch = [cx.temp("int64", 1), *[cx.temp(logits.dtype, 1) for _ in range(7)]]
        with cx.kernel(inputs, [*outs, *scratch], label="warpctc") as (k, refs, written):
            found = dict(zip([v.name for v in outs], written, strict=False))
            work = _Recursions(k, refs, written[len(outs) :], k.attr(blank))
            with k.parallel(refs[0].shape[1]) as row:
                work.sequence(row, found.get(grad.name) if grad is not None else None, found.get(loss.name) if loss is not None else None)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, blank: int, norm_by_times: bool) -> tuple:
        logits, label, steps, counts = ins
        again, dloss = douts

        def of_logits() -> Any:
            whole = None if dloss is None else b.mul(outs[0], b.op("unsqueeze2", X=dloss, axes=[0]))
            if again is None:
                return whole
            sizes = (*logits.shape, label.shape[1])
            if -1 in (sizes[0], *sizes[2:]):
                raise GradientError("the gradient of a gradient of ctc_loss is not known where only the run knows the sizes",
                                    hint="give the numbers of steps, classes and labels in input_spec, or compute it eagerly")  # fmt: skip

            def first(r: Any, logits: Any) -> Any:
                def losses(s: Any, x: Any) -> Any:
                    return _composed(s, x, label, steps, counts, blank)

                return vjp(r, losses, (logits,), (b.scaled(outs[1], 0.0, 1.0),))[0]

            (more,) = vjp(b, first, (logits,), (again,))
            return more if whole is None else b.add(whole, more)

        return of_logits, None, None, None


def _no_class(label: Any, classes: Any) -> str:
    return f"ctc_loss: label {label} is out of range for {classes} classes"


def _sum3(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """log(exp(a) + exp(b) + exp(c))."""
    top = np.maximum(np.maximum(a, b), c)
    return top + np.log(np.exp(a - top) + np.exp(b - top) + np.exp(c - top))


def _sum_of_rows(x: np.ndarray) -> np.ndarray:
    top = x.max(1, keepdims=True)
    return (top + np.log(np.exp(x - top).sum(1, keepdims=True)))[:, 0]


class _Recursions:
    """The loops over the steps of one sequence. Those over the states have no conditions and write to memory that they do not read, so
    that they are computed in vectors: rows of states have two more, in front of them or behind, of no probability.

    Args:
        refs: the inputs.
        scratch: of each sequence the classes of its states; logarithms of the probabilities, of those of the states at each step, `alpha`
            at each step; 0 where a state can be reached from the one but one before it, else NEVER; the same for the last states; and
            two rows.
    """

    def __init__(self, k: Any, refs: Any, scratch: Any, blank: Any):
        self.k, self.blank = k, blank
        self.x, self.label, self.steps, self.counts = refs
        self.classes_of, self.logs, self.emitted, self.alpha, self.jumps, self.last, self.row, self.other = scratch
        self.time, self.batch, self.classes = self.x.shape
        self.length = n.as_expr(self.label.shape[1])
        self.states = k.let(2 * self.length + 1, "states")
        self.width = k.let(self.states + 2, "width")
        k.set_shape(self.logs, [self.x.size])
        sizes = (self.classes_of, self.states), (self.emitted, self.time * self.states), (self.alpha, self.time * self.width)
        for tensor, count in sizes:
            k.set_shape(tensor, [k.let(self.batch * count)])
        for tensor in (self.jumps, self.last, self.row, self.other):
            k.set_shape(tensor, [k.let(self.batch * self.width)])
        self.never = n.cast(NEVER, self.x.dtype)

    def sequence(self, row: Any, grad: Any, loss: Any) -> None:
        k, states = self.k, self.states
        count = k.let(n.cast(self.counts[row], n.INDEX), "count")
        given = k.let(n.cast(self.steps[row], n.INDEX))  # read once: another thread may change it
        steps = k.let(n.maximum(n.minimum(given, self.time), 1), "steps")
        start, line = k.let(row * states, "start"), k.let(row * self.width, "line")
        self.prepare(row, count, start, line)
        with k.loop(self.time) as t:
            self.probabilities(k.let((t * self.batch + row) * self.classes, "at"), k.let(start * self.time + t * states), start)
        alpha = k.let(line * self.time, "alpha")
        with k.loop(2) as s:
            self.alpha[alpha + s] = self.never
        with k.loop(states) as s:
            self.alpha[alpha + 2 + s] = n.select(s < 2, self.emitted[start * self.time + s], self.never)
        with k.loop(steps, 1) as t:
            before = k.let(alpha + (t - 1) * self.width, "before")
            now, at = k.let(before + self.width, "now"), k.let(start * self.time + t * states)
            with k.loop(states, parallel=True) as s:
                ways = self.alpha[before + 2 + s], self.alpha[before + 1 + s], self.alpha[before + s] + self.jumps[line + s]
                self.row[line + s] = self.sum(*ways) + self.emitted[at + s]
            with k.loop(2) as s:
                self.alpha[now + s] = self.never
            with k.loop(states, parallel=True) as s:
                self.alpha[now + 2 + s] = self.row[line + s]
        ends = k.let(alpha + (steps - 1) * self.width + 2, "ends")
        finals = []
        for place in (2 * count, 2 * count - 1):
            inside = (place >= 0) & (place < states)
            finals.append(n.select(inside, self.alpha[ends + n.minimum(n.maximum(place, 0), states - 1)], self.never))
        total = k.let(self.sum(finals[0], finals[1], self.never), "total")
        if loss is not None:
            loss[row] = -total
        if grad is not None:
            self.gradient(row, steps, start, line, total, grad)

    def prepare(self, row: Any, count: Any, start: Any, line: Any) -> None:
        """The classes of the states, and what can be reached."""
        k, states = self.k, self.states
        k.fail_if((self.blank < 0) | (self.blank >= self.classes))
        with k.loop(states) as s:
            self.classes_of[start + s] = self.blank
        with k.loop(n.minimum(count, self.length)) as i:
            label = k.let(n.cast(self.label[row * self.length + i], n.INDEX))
            k.fail_if((label < 0) | (label >= self.classes))
            self.classes_of[start + 2 * i + 1] = label
        with k.loop(self.width) as s:
            here, before = (k.let(self.classes_of[start + n.minimum(n.maximum(s - d, 0), states - 1)]) for d in (0, 2))
            reached = (s >= 2) & (s < states) & (here != self.blank) & (here != before)
            self.jumps[line + s] = n.select(reached, n.cast(0, self.x.dtype), self.never)
            self.last[line + s] = n.select((s == 2 * count) | (s == 2 * count - 1), n.cast(0, self.x.dtype), self.never)

    def gradient(self, row: Any, steps: Any, start: Any, line: Any, total: Any, grad: Any) -> None:
        k, states = self.k, self.states
        lost = k.let(total < IMPOSSIBLE, "lost")
        with k.loop(self.time) as back:
            t = k.let(self.time - 1 - back, "step")
            at = k.let((t * self.batch + row) * self.classes, "at")
            with k.when((t >= steps) | lost), k.loop(self.classes) as c:
                grad[at + c] = n.cast(0, grad.dtype)
            with k.otherwise():
                with k.loop(self.classes, parallel=True) as c:
                    grad[at + c] = n.call("exp", self.logs[at + c])
                # `other` is what comes behind the states of the next step, with what they emit; `row` what comes behind those of this one
                with k.when(t == steps - 1), k.loop(states, parallel=True) as s:
                    self.row[line + s] = self.last[line + s]
                with k.otherwise(), k.loop(states, parallel=True) as s:
                    ways = self.other[line + s], self.other[line + s + 1], self.other[line + s + 2] + self.jumps[line + s + 2]
                    self.row[line + s] = self.sum(*ways)
                emitted, alpha = k.let(start * self.time + t * states), k.let((line * self.time) + t * self.width + 2)
                with k.loop(states, parallel=True) as s:
                    self.other[line + s] = self.row[line + s] + self.emitted[emitted + s]
                with k.loop(2) as s:
                    self.other[line + states + s] = self.never
                with k.loop(states, parallel=True) as s:
                    self.row[line + s] = n.call("exp", self.alpha[alpha + s] + self.row[line + s] - total)
                with k.loop(states) as s:
                    place = k.let(at + self.classes_of[start + s])
                    grad[place] = grad[place] - self.row[line + s]

    def probabilities(self, at: Any, emitted: Any, start: Any) -> None:
        """Their logarithms, of one step, and those of the states."""
        k = self.k
        top, total = k.var(self.x[at], self.x.dtype), k.var(n.cast(0, self.x.dtype), self.x.dtype)
        with k.loop(self.classes, 1) as c:
            top.set(n.maximum(top.get(), self.x[at + c]))
        shift = k.let(top.get())
        with k.loop(self.classes, parallel=True) as c:
            self.logs[at + c] = n.call("exp", self.x[at + c] - shift)
        with k.loop(self.classes) as c:
            total.add(self.logs[at + c])
        shift = k.let(shift + n.call("log", total.get()))
        with k.loop(self.classes, parallel=True) as c:
            log = k.let(self.x[at + c] - shift)
            self.logs[at + c] = n.select(log < self.never, self.never, log)
        with k.loop(self.states) as s:
            self.emitted[emitted + s] = self.logs[at + self.classes_of[start + s]]

    def sum(self, a: Any, b: Any, c: Any) -> Any:
        """log(exp(a) + exp(b) + exp(c))."""
        a, b, c = (self.k.let(v) for v in (a, b, c))
        top = self.k.let(n.maximum(n.maximum(a, b), c))
        return self.k.let(top + n.call("log", n.call("exp", a - top) + n.call("exp", b - top) + n.call("exp", c - top)))


def _composed(b: Any, logits: Any, label: Any, steps: Any, counts: Any, blank: int) -> Any:
    """Loss written with basic ops, for gradients of gradients; the sizes are known but for the batch."""
    time, width = logits.shape[0], 2 * label.shape[1] + 1

    def part(x: Any, start: int, stop: int, axis: int = 1) -> Any:
        return b.op("slice", Input=x, axes=[axis], starts=[start], ends=[stop])

    def joined(parts: list[Any]) -> Any:
        return b.op("concat", X=parts, axis=1)

    def counted(x: Any) -> Any:
        """1, 2, ... along each row."""
        return b.op("cumsum", X=b.scaled(x, 0.0, 1.0), axis=1)

    label = b.cast_to(label, "int64")
    steps, counts = (b.op("unsqueeze2", X=b.cast_to(x, "int64"), axes=[1]) for x in (steps, counts))
    blanks = b.scaled(counts, 0.0, blank)
    label = b.where(b.less_equal(counted(label), counts), label, blanks)
    states = joined([x for i in range(label.shape[1]) for x in (blanks, part(label, i, i + 1))] + [blanks])
    before = part(joined([blanks, blanks, states]), 0, width)
    jumps = b.logical_and(b.not_equal(states, blanks), b.not_equal(states, before))
    index = b.op("expand_v2", X=b.op("unsqueeze2", X=states, axes=[0]), shape=[time, -1, -1])
    emitted = b.op("take_along_axis", Input=b.op("log_softmax", X=logits, axis=-1), Index=index, Axis=2)
    emitted = [b.op("squeeze2", X=part(emitted, t, t + 1, axis=0), axes=[0]) for t in range(time)]
    never = b.op("fill_any_like", X=part(emitted[0], 0, 1), value=NEVER)
    places, ends = counted(states), b.scaled(counts, 2.0, 1.0)
    score = b.where(b.less_equal(places, b.constant(2, "int64")), emitted[0], never)
    for t in range(1, time):
        padded = joined([never, never, score])
        ways = [score, part(padded, 1, width + 1), b.where(jumps, part(padded, 0, width), never)]
        new = b.add(b.op("logsumexp", X=b.op("stack", X=ways, axis=0), axis=[0]), emitted[t])
        score = b.where(b.greater_than(steps, b.constant(t, "int64")), new, score)
    final = b.logical_or(b.equal(places, ends), b.equal(places, b.scaled(ends, 1.0, -1.0)))
    return b.scaled(b.op("logsumexp", X=b.where(final, score, never), axis=[1], keepdim=True), -1.0)
