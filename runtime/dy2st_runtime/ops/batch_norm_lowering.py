"""The loop nests of batch_norm.

X is seen as [outer, channels, inner]: [N, C, H * W], or [N * H * W, C, 1] with channels last. With an inner axis each
channel is summed by itself, along memory. Without one the rows are added up, all channels at a time, so that the
innermost loop runs along memory there too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .. import dims
from ..dtype import widened
from ..loopir import nodes as n
from . import images, windows


class _Nest:
    """X in one kernel."""

    def __init__(self, k: Any, x: Any, attrs: dict[str, Any]):
        self.k, self.compute = k, widened(x.dtype)
        if windows.channel_last(attrs["data_layout"]):
            self.outer, self.channels, self.inner = k.let(dims.product(x.shape[:-1])), x.shape[-1], 1
        else:
            self.outer, self.channels, self.inner = x.shape[0], x.shape[1], dims.product(x.shape[2:])
        self.rows = isinstance(self.inner, int)
        self.inner = self.inner if self.rows else k.let(self.inner)
        self.count = k.let(n.cast(n.as_expr(self.outer) * self.inner, self.compute))

    def load(self, ref: Any, i: Any) -> n.Expr:
        return n.cast(ref[i], self.compute)

    def each(self, prepare: Callable[[Any], list[n.Expr]], body: Callable[[Any, list[n.Expr]], None]) -> None:
        """body(i, values) for each element, with the values that `prepare` computes for its channel."""
        k = self.k
        if self.rows:
            with k.parallel(self.outer) as a:
                start = k.let(a * self.channels)
                with k.loop(self.channels) as c:
                    body(start + c, prepare(c))
            return
        with k.parallel(n.as_expr(self.outer) * self.channels) as plane:
            values = [k.let(v) for v in prepare(k.let(plane % self.channels))]
            start = k.let(plane * self.inner)
            with k.loop(self.inner) as i:
                body(start + i, values)

    def sums(self, outs: Sequence[Any], terms: Callable[[Any, Any], list[n.Expr]]) -> None:
        """outs[j][channel] = the sum of terms(channel, i)[j] over the channel's elements."""
        k = self.k
        if self.rows:
            for out in outs:
                images.fill(k, out, 0, self.channels, 0.0)
            with k.loop(self.outer) as a:
                start = k.let(a * self.channels)
                with k.loop(self.channels) as c:
                    for out, term in zip(outs, terms(c, start + c), strict=True):
                        out[c] = out[c] + term
            return
        with k.parallel(self.channels) as c:
            accs = [k.var(0.0, self.compute) for _ in outs]
            with k.loop(self.outer) as a:
                start = k.let((a * self.channels + c) * self.inner)
                with k.loop(self.inner) as i:
                    for acc, term in zip(accs, terms(c, start + i), strict=True):
                        acc.add(term)
            for out, acc in zip(outs, accs, strict=True):
                out[c] = acc.get()

    def moments(self, src: Any, mean: Any, variance: Any) -> None:
        """Mean and variance of each channel, plane by plane: the second look at a plane finds it in a cache. Those of planes are brought
        together as T. F. Chan, G. H. Golub and R. J. LeVeque do (Updating formulae and a pairwise algorithm for computing sample variances,
        1979)."""
        k = self.k
        size = k.let(n.maximum(n.cast(n.as_expr(self.inner, n.INDEX), self.compute), 1.0))
        with k.parallel(self.channels) as c:
            average, squares, whole = (k.var(0.0, self.compute) for _ in range(3))
            with k.loop(self.outer) as a:
                start = k.let((a * self.channels + c) * self.inner)
                total, around = k.var(0.0, self.compute), k.var(0.0, self.compute)
                with k.loop(self.inner) as i:
                    total.add(self.load(src, start + i))
                whole.add(total.get())
                here = k.let(total.get() / size)
                with k.loop(self.inner) as i:
                    centered = k.let(self.load(src, start + i) - here)
                    around.add(centered * centered)
                apart, before = k.let(here - average.get()), k.let(n.cast(a, self.compute))
                squares.set(squares.get() + around.get() + apart * apart * size * before / (before + 1.0))
                average.set(average.get() + apart / (before + 1.0))
            brought = k.let(average.get())
            # between an infinite plane and the next one the difference is no number
            mean[c] = n.select(brought - brought == 0.0, brought, whole.get() / n.maximum(self.count, 1.0))
            variance[c] = squares.get() / n.maximum(self.count, 1.0)



def forward(cx: Any, ins: Sequence[Any], outs: Sequence[Any], attrs: dict[str, Any], running: bool) -> None:
    """Y, the new running statistics and the saved ones; outputs but Y may be None."""
    x, _, _, mean, variance = ins
    y, *stats = outs
    compute = widened(x.dtype)
    used = [mean, variance] if running else _moments(cx, x, attrs)
    with cx.kernel([*ins, *used], [y]) as (k, (src, factor, shift, _, _, average, spread), (dst,)):
        nest = _Nest(k, src, attrs)
        epsilon = k.attr(attrs["epsilon"], compute)

        def constants(c: Any) -> list[n.Expr]:
            inverse = 1.0 / n.call("sqrt", nest.load(spread, c) + epsilon)
            return [nest.load(average, c), inverse * nest.load(factor, c), nest.load(shift, c)]

        def store(i: Any, values: list[n.Expr]) -> None:
            dst[i] = n.cast((nest.load(src, i) - values[0]) * values[1] + values[2], dst.dtype)

        nest.each(constants, store)
    _named(cx, ins, mean, variance, stats, used, attrs, running)


def statistics(cx: Any, ins: Sequence[Any], outs: Sequence[Any], attrs: dict[str, Any]) -> None:
    """The new running statistics and the saved ones, of a batch."""
    x, mean, variance = ins
    _named(cx, ins, mean, variance, outs, _moments(cx, x, attrs), attrs, False)


def _moments(cx: Any, x: Any, attrs: dict[str, Any]) -> list[Any]:
    """Mean and variance of each channel."""
    compute = widened(x.dtype)
    mean, variance = cx.temp(compute, 1), cx.temp(compute, 1)
    if not windows.channel_last(attrs["data_layout"]) and len(x.shape) > 2:
        with cx.kernel([x], [mean, variance], shapes=False) as (k, (src,), outs):
            nest = _Nest(k, src, attrs)
            for out in outs:
                k.set_shape(out, [nest.channels])
            nest.moments(src, *outs)
        return [mean, variance]
    with cx.kernel([x], [mean], shapes=False) as (k, (src,), (total,)):
        nest = _Nest(k, src, attrs)
        k.set_shape(total, [nest.channels])
        nest.sums([total], lambda c, i: [nest.load(src, i) / nest.count])
    with cx.kernel([x, mean], [variance], shapes=False) as (k, (src, average), (total,)):
        nest = _Nest(k, src, attrs)
        k.set_shape(total, [nest.channels])

        def square(c: Any, i: Any) -> list[n.Expr]:
            centered = k.let(nest.load(src, i) - average[c])
            return [centered * centered / nest.count]

        nest.sums([total], square)
    return [mean, variance]


def _named(
    cx: Any, ins: Sequence[Any], old_mean: Any, old_variance: Any, stats: Sequence[Any], used: Sequence[Any], attrs: dict[str, Any],
    running: bool,
) -> None:  # fmt: skip
    """MeanOut, VarianceOut, SavedMean, SavedVariance, as far as they are named."""
    named = [v for v in stats if v is not None]
    if not named:
        return
    compute = widened(ins[0].dtype)
    with cx.kernel([*ins, old_mean, old_variance, *used], named) as (k, (x, *_, old_mean, old_variance, mean, variance), refs):
        count = _Nest(k, x, attrs).count

        def of_batch(ref: Any, c: Any) -> n.Expr:
            value = n.cast(ref[c], compute)
            return value if running else n.select(count == 0.0, k.attr(math.nan, compute), value)

        found = dict(zip((v.name for v in named), refs, strict=True))
        targets = [None if v is None else found[v.name] for v in stats]
        keep, epsilon = k.attr(attrs["momentum"], compute), k.attr(attrs["epsilon"], compute)
        with k.parallel(old_mean.shape[0]) as c:
            for target, old, new in ((targets[0], old_mean, mean), (targets[1], old_variance, variance)):
                if target is not None:
                    before, batch = n.cast(old[c], compute), of_batch(new, c)
                    target[c] = n.cast(before if running else before * keep + batch * (1.0 - keep), target.dtype)
            if targets[2] is not None:
                targets[2][c] = n.cast(of_batch(mean, c), targets[2].dtype)
            if targets[3] is not None:
                inverse = 1.0 / n.call("sqrt", of_batch(variance, c) + epsilon)
                targets[3][c] = n.cast(inverse, targets[3].dtype)


def backward(cx: Any, ins: Sequence[Any], outs: Sequence[Any], attrs: dict[str, Any], running: bool) -> None:
    """The gradients of X, Scale and Bias; each may be None."""
    dx, dscale, dbias = outs
    compute = widened(ins[0].dtype)
    sums = [v if v is not None and v.dtype == compute else cx.temp(compute, 1) for v in (dscale, dbias)]
    with cx.kernel(ins, sums) as (k, (src, _, average, inv, grads), totals):
        nest = _Nest(k, src, attrs)
        for v, ref in zip(sums, totals, strict=True):
            if v not in (dscale, dbias):
                k.set_shape(ref, [nest.channels])

        def terms(c: Any, i: Any) -> list[n.Expr]:
            g = k.let(nest.load(grads, i))
            return [g * ((nest.load(src, i) - nest.load(average, c)) * nest.load(inv, c)), g]

        nest.sums(totals, terms)
    for wanted, found in ((dscale, sums[0]), (dbias, sums[1])):
        if wanted is not None and wanted is not found:
            with cx.kernel([found, *ins], [wanted]) as (k, (src, *_), (dst,)), k.parallel(dst.shape[0]) as c:
                dst[c] = n.cast(src[c], dst.dtype)
    if dx is None:
        return
    with cx.kernel([*ins, *sums], [dx]) as (k, (src, factor, average, inv, grads, scale_sum, bias_sum), (dst,)):
        nest = _Nest(k, src, attrs)

        def constants(c: Any) -> list[n.Expr]:
            out = [nest.load(inv, c) * nest.load(factor, c)]
            if not running:
                out += [nest.load(average, c), nest.load(inv, c) * scale_sum[c] / nest.count, bias_sum[c] / nest.count]
            return out

        def store(i: Any, values: list[n.Expr]) -> None:
            g = nest.load(grads, i)
            if not running:
                g = g - values[3] - (nest.load(src, i) - values[1]) * values[2]
            dst[i] = n.cast(values[0] * g, dst.dtype)

        nest.each(constants, store)
