"""Connectionist temporal classification (Graves et al., 2006)."""

from __future__ import annotations

from typing import Any

from ...errors import AttributeValueError, ShapeError
from ...tensor import Tensor, manipulation
from ...tensor import reduction as _reduction
from ...tensor.dispatch import ops
from ...tensor.promotion import as_tensor, cast


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
        ShapeError: a rank is another, or there are not as many labels and lengths as sequences.
        OutOfRangeError: a label is no class.
    """
    logits, labels, steps, counts = map(as_tensor, (log_probs, labels, input_lengths, label_lengths))
    if norm_by_times:
        raise AttributeValueError("ctc_loss: norm_by_times is not supported", hint="divide the loss by the lengths of the inputs")
    if reduction not in ("mean", "sum", "none"):
        raise AttributeValueError(f"reduction {reduction!r} is unknown", hint="use 'mean', 'sum' or 'none'")
    if logits.ndim != 3 or labels.ndim != 2:
        raise ShapeError(f"ctc_loss takes logits [time, batch, classes] and labels [batch, length], got {logits.ndim} and "
                         f"{labels.ndim} dims")  # fmt: skip
    dtype = logits.dtype
    wide = logits if dtype == "float64" else cast(logits, "float32")
    loss = ops.op("warpctc", Logits=wide, Label=labels, LogitsLength=steps, LabelLength=counts, blank=blank)[1]
    loss = cast(manipulation.squeeze(loss, 1), dtype)
    if reduction == "sum":
        return _reduction.sum(loss)
    if reduction == "mean":
        return _reduction.mean(loss / cast(counts, dtype))
    return loss
