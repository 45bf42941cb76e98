"""Templates, in groups with their weights: each function gets the builder `g` and returns lines that assign new variables.

A template may draw what does not fit: the builder runs the lines eagerly and forgets them then. In patterns, capital letters stand for
names and texts, see `Builder.fill`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..builder import Builder
from . import attention, control, elementwise, images, indexing, layouts, losses, products, reductions, rows, shapes

Template = Callable[[Builder], str]
# a template that is there more than once is taken more often
GROUPS: dict[str, tuple[float, Sequence[Template]]] = {
    "elementwise": (7, [elementwise.unary, elementwise.unary, elementwise.chain, elementwise.binary, elementwise.binary,
                        elementwise.where, elementwise.inplace]),
    "kinds": (3, [elementwise.ints, elementwise.mixed, elementwise.compare, elementwise.cast]),
    "narrow": (0.5, [elementwise.narrow]),
    "reductions": (6, [reductions.fold, reductions.fold, reductions.fold, reductions.centered, reductions.ordered]),
    "rows": (4, [rows.softmax, rows.softmax, rows.layer_norm, rows.layer_norm, rows.rms_norm, rows.channel_norm, rows.infinite_mask]),
    "products": (5, [products.linear, products.linear, products.product, products.product_and_more, products.special]),
    "attention": (2, [attention.attention, attention.attention, attention.heads, attention.ready_made]),
    "images": (3, [images.conv, images.conv, images.conv, images.block, rows.channel_norm, images.pool, images.conv_transpose,
                   images.resize, images.pad]),
    "shapes": (5, [shapes.reshape, shapes.transpose, shapes.join, shapes.split, shapes.spread, rows.gated]),
    "indexing": (4, [indexing.basic, indexing.basic, indexing.gather, indexing.scatter, indexing.setitem, indexing.masked,
                     indexing.embedding]),
    "losses": (1, [losses.loss]),
    "control": (3, [control.cell, control.accumulate, control.branch, control.repeat, control.body, control.body]),
    "sizes": (2, [shapes.by_size, shapes.by_size, elementwise.again]),
    # sizes at which kernels choose other ways
    "big": (3, [products.big, products.big, images.big_conv, layouts.channels_last, attention.big, reductions.big, reductions.big]),
}  # fmt: skip
