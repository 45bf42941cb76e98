"""The gradients of the ops in `row_norm`, in one pass over the rows for X and one for the parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dims
from ..dtype import widened
from ..loopir import nodes as n
from . import folding, images
from .axes import is_one
from .checked import CheckedOp
from .registry import TensorType, register
from .row_norm import GroupNorm, InstanceNorm, LayerNorm, RowNorm, inner_is_one, inner_loop, per_channel
from .vjp import vjp


class RowNormGrad(CheckedOp):
    """The gradients of a `RowNorm`, from its inputs (of Bias only the shape), what it saved, and the gradient of Y."""

    inputs = ("X", "Scale?", "Bias?", "Mean", "Variance", "Y@GRAD")
    outputs = ("X@GRAD", "Scale@GRAD", "Bias@GRAD")
    shape_only = frozenset({"Bias"})
    forward: type[RowNorm]

    @classmethod
    def infer(
        cls, x: TensorType, scale: Any, bias: Any, mean: Any, variance: Any, dy: TensorType, **attrs: Any
    ) -> tuple:
        dims.require_same_shape(dy.shape, x.shape, f"{cls.title}: the gradient does not have the shape of the output")
        _, *saved = cls.forward.infer(x, scale, bias, **attrs)
        for given, made in zip((mean, variance), saved, strict=True):
            dims.require_equal(dims.product(given.shape), dims.product(made.shape), f"{cls.title}: the number of rows and of what is saved")
        return x, scale, bias

    @classmethod
    def reference(
        cls, x: np.ndarray, scale: Any, bias: Any, mean: np.ndarray, saved: np.ndarray, dy: np.ndarray, **attrs: Any
    ) -> tuple:
        op = cls.forward
        rows, view = op.arrays(x, attrs)
        grads, _ = op.arrays(dy, attrs)
        shape = (view.outer, view.groups, 1, 1)
        epsilon = rows.dtype.type(attrs["epsilon"])
        inverse = (saved if op.saves_inverse_std else 1 / np.sqrt(saved + epsilon)).reshape(shape)
        normal = (rows - mean.reshape(shape)) * inverse
        g = grads if scale is None else grads * per_channel(scale, view, rows.dtype)
        dx = inverse * (g - g.mean((2, 3), keepdims=True) - normal * (g * normal).mean((2, 3), keepdims=True))
        dscale = None if scale is None else (grads * normal).sum((0, 3)).reshape(scale.shape).astype(scale.dtype)
        dbias = None if bias is None else grads.sum((0, 3)).reshape(bias.shape).astype(bias.dtype)
        return op.restore(dx, x, attrs), dscale, dbias

    @classmethod
    def lower(
        cls,
        cx: Any,
        x: Any,
        scale: Any,
        bias: Any,
        mean: Any,
        saved: Any,
        dy: Any,
        dx: Any,
        dscale: Any,
        dbias: Any,
        **attrs: Any,
    ) -> None:
        op = cls.forward
        last, compute = op.last(attrs), widened(x.dtype)
        inputs = [v for v in (x, scale, bias, mean, saved, dy) if v is not None]
        image, grads = (images.plain(cx, x, True), images.plain(cx, dy, True)) if last else (x, dy)
        if dx is not None:
            target = images.target_for(cx, dx, True) if last else dx
            with images.producing(cx, [image, grads, mean, saved], inputs, target, dx, (), last) as (
                k,
                refs,
                ins,
                dst,
                _,
            ):
                loops = _GradLoops(k, cls, refs, compute, attrs)
                scales = ins[1] if scale is not None else None
                loops.image(dst, scales)
            images.deliver(cx, target, dx, inputs, last)
        params = [v for v in (dscale, dbias) if v is not None]
        if params:
            with cx.kernel([image, grads, mean, saved, *inputs], params) as (k, refs, outs):
                loops = _GradLoops(k, cls, refs[:4], compute, attrs)
                by_name = dict(zip((v.name for v in params), outs, strict=True))
                loops.parameters(by_name.get(dscale.name) if dscale is not None else None,
                                 by_name.get(dbias.name) if dbias is not None else None)  # fmt: skip

    @classmethod
    def grad(cls, b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        x, scale, bias, _, _, dy = ins

        def first(r: Any, x: Any, scale: Any, dy: Any) -> tuple:
            return vjp(r, lambda s, *v: cls.forward.compose(s, *v, attrs=attrs)[0], (x, scale, bias), (dy,))

        dx, dscale, ddy = vjp(b, first, (x, scale, dy), douts)
        return dx, dscale, None, None, None, ddy


class _GradLoops:
    """The loops of a `RowNormGrad` in one kernel."""

    def __init__(self, k: Any, record: type[RowNormGrad], refs: Sequence[Any], compute: str, attrs: dict[str, Any]):
        self.k, self.compute, self.op = k, compute, record.forward
        self.x, self.dy, self.mean, self.saved = refs
        self.view = self.op.named_view(k, self.x.shape, attrs)
        self.epsilon = k.attr(attrs["epsilon"], compute)

    def statistics(self, row: Any) -> tuple[n.Expr, n.Expr]:
        k, saved = self.k, self.saved[row]
        inverse = saved if self.op.saves_inverse_std else 1.0 / n.call("sqrt", saved + self.epsilon)
        return k.let(self.mean[row]), k.let(inverse)

    def at(self, ref: Any, i: Any) -> n.Expr:
        return n.cast(ref[i], self.compute)

    def image(self, dx: Any, scale: Any) -> None:
        """The gradient of X, row by row."""
        k, view = self.k, self.view
        with k.parallel(view.rows) as row:
            start, channel = k.let(row * view.cols), k.let(row % view.groups * view.depth)
            mean, inverse = self.statistics(row)
            sums = k.var(0.0, self.compute), k.var(0.0, self.compute)

            def gradient(factor: Any, i: Any) -> n.Expr:
                g = self.at(self.dy, i)
                return g if factor is None else g * factor

            def factor(d: Any) -> Any:
                return None if scale is None else k.let(self.at(scale, channel + d))

            with k.loop(view.depth) as d:
                f = factor(d)
                with inner_loop(k, view) as p:
                    i = k.let(start + d * view.inner + p)
                    g = k.let(gradient(f, i))
                    sums[0].add(g)
                    sums[1].add(g * ((self.at(self.x, i) - mean) * inverse))
            count = k.let(n.cast(view.cols, self.compute))
            a, c = k.let(sums[0].get() / count), k.let(sums[1].get() / count)
            with k.loop(view.depth) as d:
                f = factor(d)
                with inner_loop(k, view) as p:
                    i = k.let(start + d * view.inner + p)
                    normal = (self.at(self.x, i) - mean) * inverse
                    dx[i] = n.cast(inverse * (gradient(f, i) - a - normal * c), dx.dtype)

    def parameters(self, dscale: Any, dbias: Any) -> None:
        """The gradients of Scale and Bias, summed over the samples."""
        if inner_is_one(self.view) and is_one(self.view.groups):
            self._blocks(dscale, dbias)
        else:
            self._channels(dscale, dbias)

    def _parts(self, i: Any, mean: n.Expr, inverse: n.Expr) -> tuple[n.Expr, n.Expr]:
        """What an element adds to the gradients of its Scale and its Bias."""
        g = self.k.let(self.at(self.dy, i))
        return g * ((self.at(self.x, i) - mean) * inverse), g

    def _blocks(self, dscale: Any, dbias: Any) -> None:
        """One element of a sample for each channel: neighbours are summed at once, so that the innermost loop runs along memory."""
        k, view = self.k, self.view
        outs = [out for out in (dscale, dbias) if out is not None]
        with k.parallel((n.as_expr(view.params, n.INDEX) + (folding.BLOCK - 1)) // folding.BLOCK) as block:
            start = k.let(block * folding.BLOCK)
            stop = k.let(n.minimum(start + folding.BLOCK, n.as_expr(view.params, n.INDEX)))
            with k.loop(stop, start) as c:
                for out in outs:
                    out[c] = 0.0
            with k.loop(view.rows) as row:
                first = k.let(row * view.cols)
                mean, inverse = self.statistics(row)
                with k.loop(stop, start) as c:
                    for out, part in zip((dscale, dbias), self._parts(first + c, mean, inverse), strict=True):
                        if out is not None:
                            out[c] = out[c] + n.cast(part, out.dtype)

    def _channels(self, dscale: Any, dbias: Any) -> None:
        """One channel after the other."""
        k, view = self.k, self.view
        with k.parallel(view.params) as channel:
            group, d = k.let(channel // view.depth), k.let(channel % view.depth)
            sums = k.var(0.0, self.compute), k.var(0.0, self.compute)
            with k.loop(view.outer) as sample:
                row = k.let(sample * view.groups + group)
                start = k.let(row * view.cols + d * view.inner)
                mean, inverse = self.statistics(row)
                with inner_loop(k, view) as p:
                    for total, part in zip(sums, self._parts(start + p, mean, inverse), strict=True):
                        total.add(part)
            for out, total in zip((dscale, dbias), sums, strict=True):
                if out is not None:
                    out[channel] = n.cast(total.get(), out.dtype)


@register
class LayerNormGrad(RowNormGrad):
    type = "layer_norm_grad"
    attrs = LayerNorm.attrs
    forward = LayerNorm


@register
class GroupNormGrad(RowNormGrad):
    type = "group_norm_grad"
    attrs = GroupNorm.attrs
    forward = GroupNorm


@register
class InstanceNormGrad(RowNormGrad):
    type = "instance_norm_grad"
    attrs = InstanceNorm.attrs
    forward = InstanceNorm
