"""Maxima of overlapping windows by routines, against the NumPy reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dy2st_runtime.executor.executable import Executable
from op_cases import Case
from test_conv_routines import before_a_forbidden_page, compiled

ATTRS: dict[str, dict[str, Any]] = {
    "strides of 2": {"strides": [2, 2], "paddings": [1, 1]},
    "strides of 1": {"strides": [1, 1], "paddings": [1, 1]},
    "no paddings": {"strides": [2, 2]},
    "uneven paddings": {"strides": [1, 1], "paddings": [0, 2, 1, 0]},
    "to the last": {"strides": [2, 2], "ceil_mode": True},
    "same": {"strides": [2, 2], "padding_algorithm": "SAME"},
}
SIZES = [(2, 3, 9, 11), (1, 4, 40, 71), (1, 2, 3, 33), (3, 1, 5, 3), (0, 3, 7, 7)]
rng = np.random.default_rng(3)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ATTRS)
def test_one_kernel_serves_every_size(name: str, dtype: str) -> None:
    """Whatever the numbers are: a NaN wins, and what lies outside of the image is less than anything."""
    attrs = {"ksize": [3, 3], "pooling_type": "max", **ATTRS[name]}
    executable: Executable | None = None
    for sizes in SIZES:
        x = rng.standard_normal(sizes).astype(dtype)
        for value in (np.nan, np.inf, -np.inf):
            x[rng.random(sizes) < 0.05] = value
        inputs = {"X": before_a_forbidden_page(x) if x.size else x}
        executable = executable or compiled("pool2d", inputs, attrs)
        assert any("call_maxima" in source for source in executable.sources)
        want = Case("pool2d", {"X": x}, attrs).run()[0]
        (got,) = executable.run(list(inputs.values()))
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("attrs", [{"ksize": [2, 2], "strides": [2, 2]}, {"ksize": [3, 2]}, {"ksize": [3, 3], "strides": [3, 3]},
                                   {"ksize": [3, 3], "pooling_type": "avg"}])  # fmt: skip
def test_other_windows_have_loops(attrs: dict[str, Any]) -> None:
    attrs = {"pooling_type": "max", "strides": [1, 1], **attrs}
    inputs = {"X": rng.standard_normal((2, 3, 9, 11)).astype("float32")}
    executable = compiled("pool2d", inputs, attrs)
    assert not any("call_maxima" in source for source in executable.sources)
    np.testing.assert_allclose(executable.run(list(inputs.values()))[0], Case("pool2d", inputs, attrs).run()[0], rtol=1e-6)
