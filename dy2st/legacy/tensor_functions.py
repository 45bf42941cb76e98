"""More functions of `fluid.layers` whose arguments differ from the 2.x functions: shapes, images, losses, random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import AttributeValueError
from ..nn import functional as F
from ..tensor import Tensor, creation, logic, manipulation, math, random, reduction, scaling
from ..tensor.api import all_of_numbers
from ..tensor.arguments import Entries
from ..tensor.promotion import as_tensor


def expand(x: Any, expand_times: Any, name: str | None = None) -> Tensor:
    """x repeated along each axis so many times."""
    return manipulation.tile(as_tensor(x), expand_times)


def reverse(x: Any, axis: Any) -> Tensor:
    """x with the order along some axes reversed."""
    return manipulation.flip(as_tensor(x), axis)


def sums(input: Any, out: Tensor | None = None) -> Tensor:
    """The sum of tensors; written to `out` if that is given."""
    return creation.into(out, math.add_n(input if isinstance(input, (list, tuple, Entries)) else [as_tensor(input)]))


def pad(x: Any, paddings: Sequence[int], pad_value: float = 0.0, name: str | None = None) -> Tensor:
    """Adds elements: two numbers for each axis, first axis first."""
    return F.pad(as_tensor(x), list(paddings), value=pad_value)


def pad2d(input: Any, paddings: Sequence[int] = (0, 0, 0, 0), mode: str = "constant", pad_value: float = 0.0,
          data_format: str = "NCHW", name: str | None = None) -> Tensor:  # fmt: skip
    """Adds pixels around images: [top, bottom, left, right]; the mode is "constant", "reflect" or "edge"."""
    top, bottom, left, right = paddings
    mode = "replicate" if mode == "edge" else mode
    return F.pad(as_tensor(input), [left, right, top, bottom], mode, pad_value, data_format)


def image_resize(input: Any, out_shape: Any = None, scale: Any = None, name: str | None = None, resample: str = "BILINEAR",
                 actual_shape: Any = None, align_corners: bool = True, align_mode: int = 1,
                 data_format: str = "NCHW") -> Tensor:  # fmt: skip
    """Images in another size; `resample` is "BILINEAR", "TRILINEAR", "LINEAR" or "NEAREST". Corners are aligned by default."""
    size = out_shape if actual_shape is None else actual_shape
    return F.interpolate(as_tensor(input), size, scale if size is None else None, resample.lower(), align_corners, align_mode,
                         data_format)  # fmt: skip


def resize_bilinear(input: Any, out_shape: Any = None, scale: Any = None, name: str | None = None, actual_shape: Any = None,
                    align_corners: bool = True, align_mode: int = 1, data_format: str = "NCHW") -> Tensor:  # fmt: skip
    """`image_resize` by bilinear interpolation."""
    return image_resize(input, out_shape, scale, name, "BILINEAR", actual_shape, align_corners, align_mode, data_format)


def resize_nearest(input: Any, out_shape: Any = None, scale: Any = None, name: str | None = None, actual_shape: Any = None,
                   align_corners: bool = True, data_format: str = "NCHW") -> Tensor:  # fmt: skip
    """`image_resize` by the nearest pixel."""
    return image_resize(input, out_shape, scale, name, "NEAREST", actual_shape, align_corners, 1, data_format)


def grid_sampler(x: Any, grid: Any, name: str | None = None) -> Tensor:
    """Images at places between pixels, 0 outside; see `nn.functional.grid_sample`."""
    return F.grid_sample(x, grid)


def l2_normalize(x: Any, axis: int, epsilon: float = 1e-12, name: str | None = None) -> Tensor:
    """x / sqrt(the sum of its squares along an axis, at least epsilon)."""
    x = as_tensor(x)
    return x * math.rsqrt(math.maximum(reduction.sum(x * x, axis, keepdim=True), epsilon))


def cos_sim(X: Any, Y: Any) -> Tensor:
    """The cosine of the angle between rows: [N, size] and [N or 1, size] → [N, 1]."""
    return manipulation.unsqueeze(F.cosine_similarity(as_tensor(X), as_tensor(Y), 1), 1)


def brelu(x: Any, t_min: float = 0.0, t_max: float = 24.0, name: str | None = None) -> Tensor:
    """x limited to t_min ... t_max."""
    return scaling.clip(as_tensor(x), float(t_min), float(t_max))


def mse_loss(input: Any, label: Any) -> Tensor:
    """The mean of (input - label) ** 2, of shape [1]."""
    from .functional import one_element

    return one_element(F.mse_loss(as_tensor(input), as_tensor(label)))


def smooth_l1(x: Any, y: Any, inside_weight: Any = None, outside_weight: Any = None, sigma: float | None = None) -> Tensor:
    """For each sample the sum of `0.5 * (sigma * d) ** 2` where `|d| < 1 / sigma ** 2`, else `|d| - 0.5 / sigma ** 2`: [N, ...] → [N, 1].

    Args:
        inside_weight: a factor on d = x - y; outside_weight: one on the result for each element.
    """
    d = math.subtract(as_tensor(x), as_tensor(y))
    square = 1.0 if sigma is None else float(sigma) ** 2
    if inside_weight is not None:
        d = d * inside_weight
    size = math.abs(d)
    loss = logic.where(size < 1.0 / square, d * d * (0.5 * square), size - 0.5 / square)
    if outside_weight is not None:
        loss = loss * outside_weight
    return reduction.sum(manipulation.flatten(loss, 1), 1, keepdim=True)


def huber_loss(input: Any, label: Any, delta: float) -> Tensor:
    """`0.5 * d ** 2` where `|d| <= delta`, else `delta * (|d| - 0.5 * delta)`, element by element."""
    return F.smooth_l1_loss(as_tensor(input), as_tensor(label), "none", delta)


def sigmoid_cross_entropy_with_logits(x: Any, label: Any, ignore_index: int = -100, name: str | None = None,
                                      normalize: bool = False) -> Tensor:  # fmt: skip
    """The binary cross entropy of sigmoid(x), element by element; 0 where the label is `ignore_index`.

    Args:
        normalize: divide by the number of elements that are not ignored.
    """
    x, label = as_tensor(x), as_tensor(label)
    counted = label != ignore_index
    loss = logic.where(counted, F.binary_cross_entropy_with_logits(x, label, reduction="none"), 0.0)
    return loss / reduction.sum(manipulation.cast(counted, x.dtype)) if normalize else loss


def fill_constant_batch_size_like(input: Any, shape: Sequence[int], dtype: Any, value: Any, input_dim_idx: int = 0,
                                  output_dim_idx: int = 0, force_cpu: bool = False) -> Tensor:  # fmt: skip
    """A tensor filled with a value, with the size of axis `input_dim_idx` of the input on its axis `output_dim_idx`."""
    sizes: list[Any] = list(shape)
    sizes[output_dim_idx] = as_tensor(input).shape[input_dim_idx]
    return creation.full(sizes, value, dtype)


def uniform_random(shape: Any, dtype: Any = "float32", min: float = -1.0, max: float = 1.0, seed: int = 0,
                   name: str | None = None) -> Tensor:  # fmt: skip
    """Numbers drawn uniformly from [min, max)."""
    return random.uniform(shape, dtype, min, max, seed)


def gaussian_random(shape: Any, mean: float = 0.0, std: float = 1.0, seed: int = 0, dtype: Any = "float32",
                    name: str | None = None) -> Tensor:  # fmt: skip
    """Numbers drawn from a normal distribution."""
    return random.gaussian(shape, mean, std, seed, dtype)


def linspace(start: Any, stop: Any, num: Any, dtype: Any = "float32", name: str | None = None) -> Tensor:
    """`num` numbers at equal distances from start to stop."""
    return creation.linspace(start, stop, num, dtype)


def range(start: Any, end: Any, step: Any, dtype: Any, name: str | None = None) -> Tensor:
    """The numbers start, start + step, ... below `end`."""
    return creation.arange(start, end, step, dtype)


def shuffle_channel(x: Any, group: int, name: str | None = None) -> Tensor:
    """The channels of groups in turn; see `nn.functional.channel_shuffle`."""
    if group < 1:
        raise AttributeValueError(f"shuffle_channel: group must be positive, got {group}")
    return F.channel_shuffle(x, group)


all_of_numbers(globals(), __name__)
