"""Losses."""

from __future__ import annotations

from ..builder import Builder

LOSSES = [
    "F.cross_entropy(X, L, reduction=R)", "F.cross_entropy(X * 0.5 + 1, L, reduction=R)",
    "F.cross_entropy(X, L.unsqueeze(-1), reduction=R)",
    "F.cross_entropy(X, F.softmax(X * 2, -1), soft_label=True, reduction=R)", "F.cross_entropy(X, L, ignore_index=0, reduction=R)",
    "F.softmax_with_cross_entropy(X, L.unsqueeze(-1))", "F.cross_entropy(X, L, weight=W, reduction=R)",
    "F.mse_loss(X, X * 0.5, reduction=R)", "F.l1_loss(X, Y, reduction=R)", "F.smooth_l1_loss(X, X.detach() + 0.3, reduction=R)",
    "F.kl_div(F.log_softmax(X, -1), F.softmax(X * 2, -1), reduction=R)",
    "F.binary_cross_entropy_with_logits(X, (X > 0.3).astype('float32'), reduction=R)",
    "F.binary_cross_entropy(F.sigmoid(X), (X > 0.3).astype('float32'), reduction=R)",
    "F.sigmoid_focal_loss(X, (X > 0).astype('float32'), reduction=R)", "F.cosine_similarity(X, X * 0.5 + 1, axis=-1)",
    "F.pairwise_distance(X, X * 0.5)", "F.label_smooth(F.one_hot(L, N))", "F.square_error_cost(X, Y)",
    "F.margin_ranking_loss(X, X * 0.5, X.sign(), margin=0.2, reduction=R)", "F.log_loss(F.sigmoid(X), F.sigmoid(X))",
    "F.poisson_nll_loss(X, X.abs(), reduction=R)", "F.hinge_embedding_loss(X, X.sign(), reduction=R)",
    "F.triplet_margin_loss(X, X * 0.5, X + 1, reduction=R)", "F.gaussian_nll_loss(X, X * 0.5, X * X + 0.5, reduction=R)",
    "F.soft_margin_loss(X, X.sign(), reduction=R)", "F.multi_label_soft_margin_loss(X, (X > 0).astype('float32'), reduction=R)",
    "F.dice_loss(F.softmax(X, -1), L.unsqueeze(-1))",
]  # fmt: skip
OF_MATRICES = ["F.nll_loss(F.log_softmax(X, -1), L, reduction=R)", "F.nll_loss(F.log_softmax(X, 1), L, weight=W, reduction=R)"]


def loss(g: Builder) -> str:
    x = g.var("float32", rank=(2, 3), where=lambda v: v.fixed(v.rank - 1) and v.shape[-1] > 1)
    n = x.shape[-1]
    return g.new(
        LOSSES + OF_MATRICES if x.rank == 2 else LOSSES, X=x, Y=lambda: g.partner(x), R=repr(g.pick(["mean", "sum", "none"])), N=n,
        L=lambda: g.indices([n] * g.calls, [s[:-1] for s in x.shapes], "int64"), W=lambda: g.weight(n, kind="positive"),
    )  # fmt: skip
