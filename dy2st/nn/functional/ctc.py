"""Connectionist temporal classification (Graves et al., 2006).

The recursion over time is a `for` over a tensor; this module is converted where a static function uses it, like users' code.
"""

from __future__ import annotations

from typing import Any

from ...errors import AttributeValueError, ShapeError
from ...tensor import Tensor, creation, logic, manipulation
from ...tensor import reduction as _reduction
from ...tensor.promotion import as_tensor, cast
from . import activation
from .common import sequence_mask

_NEVER = -1e30  # the logarithm of no probability; infinity would give gradients that are no numbers


def ctc_loss(log_probs: Any, labels: Any, input_lengths: Any, label_lengths: Any, blank: int = 0,
             reduction: str = "mean", norm_by_times: bool = False) -> Tensor:  # fmt: skip
    """-log of the probability that a sequence of labels is read from a longer sequence of outputs.

    Args:
        log_probs: Tensor [time, batch, classes] of logits: softmax is applied here.
        labels: integers [batch, longest label], none of them the blank.
        input_lengths, label_lengths: integers [batch].
        blank: the class that stands for no label.
        reduction: "mean" (of the losses divided by the lengths of their labels), "sum" or "none".
        norm_by_times: True is not supported.

    Raises:
        AttributeValueError: the reduction is unknown, or norm_by_times.
        ShapeError: a rank is another.
    """
    logits, labels = as_tensor(log_probs), as_tensor(labels)
    if norm_by_times:
        raise AttributeValueError("ctc_loss: norm_by_times is not supported", hint="divide the loss by the lengths of the inputs")
    if reduction not in ("mean", "sum", "none"):
        raise AttributeValueError(f"reduction {reduction!r} is unknown", hint="use 'mean', 'sum' or 'none'")
    if logits.ndim != 3 or labels.ndim != 2:
        raise ShapeError(f"ctc_loss takes logits [time, batch, classes] and labels [batch, length], got {logits.ndim} and "
                         f"{labels.ndim} dims")  # fmt: skip
    labels = cast(labels, "int64")
    ends = cast(as_tensor(label_lengths), "int64") * 2
    # a blank before, between and after the labels
    blanks = creation.full_like(labels, blank)
    pairs = manipulation.reshape(manipulation.stack([blanks, labels], 2), [labels.shape[0], labels.shape[1] * 2])
    states = manipulation.concat([pairs, creation.full([labels.shape[0], 1], blank, "int64")], 1)
    places = creation.arange(0, states.shape[1], 1, "int64")
    emitted = manipulation.take_along_axis(
        activation.log_softmax(logits), manipulation.expand(manipulation.unsqueeze(states, 0), [logits.shape[0], -1, -1]), 2
    )
    # a blank between two labels can be left out unless they are the same
    two_before = manipulation.concat([creation.full([labels.shape[0], 2], blank, "int64"), states[:, :-2]], 1)
    jumps = logic.logical_and(states != blank, states != two_before)
    never = creation.full([labels.shape[0], 1], _NEVER, logits.dtype)

    score = logic.where(places <= 1, emitted[0], _NEVER)
    valid = manipulation.swapaxes(sequence_mask(as_tensor(input_lengths), logits.shape[0], "bool"), 0, 1)
    for step, running in zip(emitted[1:], valid[1:], strict=False):
        one = manipulation.concat([never, score[:, :-1]], 1)
        two = manipulation.concat([never, one[:, :-1]], 1)
        ways = manipulation.stack([score, one, logic.where(jumps, two, _NEVER)])
        score = logic.where(manipulation.unsqueeze(running, 1), _reduction.logsumexp(ways, 0) + step, score)
    last = logic.logical_or(places == manipulation.unsqueeze(ends, 1), places == manipulation.unsqueeze(ends - 1, 1))
    loss = -_reduction.logsumexp(logic.where(last, score, _NEVER), 1)
    if reduction == "sum":
        return _reduction.sum(loss)
    if reduction == "mean":
        return _reduction.mean(loss / cast(as_tensor(label_lengths), loss.dtype))
    return loss
