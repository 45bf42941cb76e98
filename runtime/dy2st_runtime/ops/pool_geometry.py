"""The windows and cells of pools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .. import dims
from . import windows


@dataclass(frozen=True)
class Cells:
    """The cells along one axis of an adaptive pool: cell i covers floor(i * size / count) to ceil((i + 1) * size /
    count)."""

    size: dims.Dim
    count: int

    def start(self, i: Any) -> Any:
        return i * self.size // self.count

    def stop(self, i: Any) -> Any:
        return ((i + 1) * self.size + self.count - 1) // self.count


def is_adaptive(attrs: dict[str, Any]) -> bool:
    return attrs["adaptive"] or attrs["global_pooling"]


def cells(sizes: Sequence[dims.Dim], attrs: dict[str, Any]) -> tuple[Cells, Cells]:
    """The cells of both axes; global pooling has one."""
    counts = (1, 1) if attrs["global_pooling"] else windows.pair(attrs["ksize"], "ksize", 1)
    return Cells(sizes[0], counts[0]), Cells(sizes[1], counts[1])


def axes(sizes: Sequence[dims.Dim], attrs: dict[str, Any]) -> tuple[windows.Axis, windows.Axis]:
    """The windows of both axes of a pool that is not adaptive."""
    return windows.axes(sizes, windows.pair(attrs["ksize"], "ksize", 1), attrs["strides"], attrs["paddings"],
                        attrs["padding_algorithm"], ceil=attrs["ceil_mode"])  # fmt: skip


def counts(sizes: Sequence[dims.Dim], attrs: dict[str, Any]) -> tuple[dims.Dim, dims.Dim]:
    """The spatial size of the output."""
    rows, cols = cells(sizes, attrs) if is_adaptive(attrs) else axes(sizes, attrs)
    return rows.count, cols.count
