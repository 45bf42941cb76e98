"""Rows of convolution."""

from __future__ import annotations

from typing import Any

import numpy as np
from dy2st_runtime.errors import AttributeValueError, DTypeError, ShapeError
from op_cases import Case

rng = np.random.default_rng(11)


def f32(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def spread(values: list[int]) -> list[int]:
    """Paddings as top, bottom, left, right."""
    return values if len(values) == 4 else [values[0], values[0], values[1], values[1]]


def padded(
    x: np.ndarray, f: np.ndarray, strides: list[int], paddings: list[int], algorithm: str
) -> tuple[np.ndarray, list[int]]:
    """The image with zeros around it, and the paddings, by the definition of each algorithm."""
    if algorithm == "VALID":
        paddings = [0, 0]
    pads = spread(list(paddings))
    if algorithm == "SAME":
        pads = []
        for size, kernel, stride in zip(x.shape[2:], f.shape[2:], strides, strict=True):
            total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
            pads += [total // 2, total - total // 2]
    return np.pad(x, [(0, 0), (0, 0), (pads[0], pads[1]), (pads[2], pads[3])]), pads


def convolved(x: np.ndarray, f: np.ndarray, strides: Any = (1, 1), paddings: Any = (0, 0), padding_algorithm: str = "EXPLICIT",
              dilations: Any = (1, 1), groups: int = 1, data_format: str = "NCHW") -> np.ndarray:  # fmt: skip
    """The convolution, output pixel by output pixel, in float64."""
    if data_format == "NHWC":
        first = convolved(x.transpose(0, 3, 1, 2), f, strides, paddings, padding_algorithm, dilations, groups)
        return first.transpose(0, 2, 3, 1)
    image, _ = padded(x.astype(np.float64), f, strides, paddings, padding_algorithm)
    kh, kw = f.shape[2:]
    height = (image.shape[2] - dilations[0] * (kh - 1) - 1) // strides[0] + 1
    width = (image.shape[3] - dilations[1] * (kw - 1) - 1) // strides[1] + 1
    depth, per_group = f.shape[1], f.shape[0] // groups
    out = np.zeros((len(x), f.shape[0], height, width))
    for m in range(f.shape[0]):
        channels = image[:, m // per_group * depth : (m // per_group + 1) * depth]
        for y in range(height):
            for z in range(width):
                top, left = y * strides[0], z * strides[1]
                window = channels[:, :, top : top + dilations[0] * (kh - 1) + 1 : dilations[0],
                                  left : left + dilations[1] * (kw - 1) + 1 : dilations[1]]  # fmt: skip
                out[:, m, y, z] = (window * f[m]).sum((1, 2, 3))
    return out.astype(x.dtype)


def transposed(x: np.ndarray, f: np.ndarray, strides: Any = (1, 1), paddings: Any = (0, 0), dilations: Any = (1, 1), groups: int = 1,
               output_padding: Any = (0, 0), output_size: Any = ()) -> np.ndarray:  # fmt: skip
    """The transposed convolution: every input pixel adds a scaled filter to the output, in float64."""
    pads, (kh, kw) = spread(list(paddings)), f.shape[2:]
    extra = list(output_padding)
    full = [(x.shape[2 + i] - 1) * strides[i] + dilations[i] * (f.shape[2 + i] - 1) + 1 for i in (0, 1)]
    if output_size:
        extra = [output_size[i] - (full[i] - pads[2 * i] - pads[2 * i + 1]) for i in (0, 1)]
    canvas = np.zeros((len(x), f.shape[1] * groups, full[0] + extra[0], full[1] + extra[1]))
    per_group = f.shape[0] // groups
    for m in range(f.shape[0]):
        channels = canvas[:, m // per_group * f.shape[1] : (m // per_group + 1) * f.shape[1]]
        for y in range(x.shape[2]):
            for z in range(x.shape[3]):
                top, left = y * strides[0], z * strides[1]
                channels[:, :, top : top + dilations[0] * (kh - 1) + 1 : dilations[0],
                         left : left + dilations[1] * (kw - 1) + 1 : dilations[1]] += x[:, m, y, z, None, None, None] * f[m]  # fmt: skip
    bottom, right = canvas.shape[2] - pads[1], canvas.shape[3] - pads[3]
    return canvas[:, :, pads[0] : bottom, pads[2] : right].astype(x.dtype)


def conv(x: np.ndarray, f: np.ndarray, op: str = "conv2d", **attrs: Any) -> list[Case]:
    """The convolution and both of its gradients, each as a row of its own."""
    expect = lambda x, f: convolved(x, f, **attrs)  # noqa: E731
    dy = f32(*expect(x, f).shape)
    return [
        Case(op, {"Input": x, "Filter": f}, attrs, expect=expect, rtol=1e-4),
        Case("conv2d_grad_input", {"Filter": f, "Output@GRAD": dy, "Input": x}, attrs, rtol=1e-4),
        Case("conv2d_grad_filter", {"Input": x, "Output@GRAD": dy, "Filter": f}, attrs, rtol=1e-4),
    ]


def deconv(x: np.ndarray, f: np.ndarray, op: str = "conv2d_transpose", **attrs: Any) -> Case:
    return Case(op, {"Input": x, "Filter": f}, attrs, expect=lambda x, f: transposed(x, f, **attrs), rtol=1e-4)


IMAGE, FILTER = f32(2, 4, 7, 6), f32(6, 4, 3, 2)
LAST = np.ascontiguousarray(IMAGE.transpose(0, 2, 3, 1))

CASES: list[Case] = [
    *conv(IMAGE, FILTER),
    *conv(IMAGE, FILTER, strides=[2, 1], paddings=[1, 2]),
    *conv(IMAGE, FILTER, paddings=[0, 1, 2, 1], dilations=[2, 1]),
    *conv(IMAGE, FILTER, strides=[2, 3], padding_algorithm="SAME"),
    *conv(IMAGE, FILTER, paddings=[3, 3], padding_algorithm="VALID"),
    *conv(IMAGE, f32(6, 2, 3, 3), groups=2, paddings=[1, 1]),
    *conv(IMAGE, f32(8, 1, 3, 3), "depthwise_conv2d", groups=4, paddings=[1, 0], strides=[2, 1]),
    *conv(IMAGE, f32(4, 1, 2, 2), "depthwise_conv2d", groups=4),
    *conv(IMAGE, f32(5, 4, 1, 1)),
    *conv(IMAGE, f32(6, 2, 1, 1), groups=2),
    *conv(IMAGE, f32(5, 4, 1, 1), strides=[2, 2]),
    *conv(LAST, FILTER, data_format="NHWC", paddings=[1, 0]),
    *conv(f32(1, 1, 5, 5), f32(1, 1, 3, 3)),
    *conv(f32(0, 4, 5, 5), FILTER),
    Case("conv2d", {"Input": IMAGE.astype(np.float16), "Filter": FILTER.astype(np.float16)}, expect=convolved, grad=(), rtol=4e-3),
    Case("conv2d", {"Input": IMAGE.astype(np.float64), "Filter": FILTER.astype(np.float64)}, expect=convolved, rtol=1e-10),
    deconv(f32(2, 6, 3, 4), FILTER),
    deconv(f32(2, 6, 3, 4), FILTER, strides=[2, 3], paddings=[1, 0], output_padding=[1, 2]),
    deconv(f32(2, 6, 3, 4), FILTER, strides=[2, 2], paddings=[1, 0, 0, 1], output_size=[6, 8]),
    deconv(f32(2, 6, 3, 4), f32(6, 2, 3, 3), groups=2, dilations=[2, 1]),
    deconv(f32(2, 6, 3, 4), f32(6, 5, 1, 1)),
    deconv(f32(2, 4, 3, 4), f32(4, 1, 3, 3), "depthwise_conv2d_transpose", groups=4, strides=[2, 2]),
    Case("conv2d_transpose", {"Input": f32(2, 6, 4, 4), "Filter": FILTER}, {"padding_algorithm": "SAME", "strides": [2, 2]},
         rtol=1e-4),
    Case("conv2d_transpose", {"Input": f32(2, 3, 4, 6), "Filter": FILTER}, {"data_format": "NHWC", "strides": [2, 1]}, rtol=1e-4),
    Case("conv2d", {"Input": IMAGE, "Filter": f32(6, 3, 3, 3)}, raises=ShapeError, match="not those of the filter: 4 against 3"),
    Case("conv2d", {"Input": IMAGE, "Filter": f32(6, 4, 9, 3)}, raises=ShapeError, match="larger than the padded image"),
    Case("conv2d", {"Input": IMAGE, "Filter": f32(5, 2, 3, 3)}, {"groups": 2}, raises=ShapeError, match="divisible by groups"),
    Case("conv2d", {"Input": IMAGE[0], "Filter": FILTER}, raises=ShapeError, match="4 dims", static=True),
    Case("conv2d", {"Input": IMAGE, "Filter": FILTER.astype(np.float64)}, raises=DTypeError, match="float64", static=True),
    Case("conv2d", {"Input": IMAGE, "Filter": FILTER}, {"strides": [0, 1]}, raises=AttributeValueError, match="strides", static=True),
    Case("conv2d", {"Input": IMAGE, "Filter": FILTER}, {"paddings": [1, 2, 3]}, raises=AttributeValueError, match="paddings",
         static=True),
    Case("conv2d", {"Input": IMAGE, "Filter": FILTER}, {"data_format": "CHWN"}, raises=AttributeValueError, match="CHWN", static=True),
    Case("conv2d", {"Input": IMAGE, "Filter": FILTER}, {"groups": 0}, raises=AttributeValueError, match="groups", static=True),
    Case("conv2d_grad_input", {"Filter": FILTER, "Output@GRAD": f32(2, 6, 5, 9), "Input": IMAGE}, raises=ShapeError,
         match=r"\[2, 6, 5, 9\] against \[2, 6, 5, 5\]"),
    Case("conv2d_transpose", {"Input": f32(2, 6, 3, 4), "Filter": FILTER}, {"output_padding": [1, 0]}, raises=AttributeValueError,
         match="by 0 to 0, not by 1", static=True),
    Case("conv2d_transpose", {"Input": f32(2, 6, 3, 4), "Filter": FILTER}, {"output_size": [9, 9]}, raises=AttributeValueError,
         match="smallest size 5"),
]  # fmt: skip
