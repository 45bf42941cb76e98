"""Warnings that name the line of whoever calls dy2st, and not one of dy2st's own."""

from __future__ import annotations

import sys
import warnings

_OWN = ("dy2st", "dy2st_runtime")


def warn(text: str) -> None:
    """A RuntimeWarning at the innermost call from outside dy2st."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _OWN:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, RuntimeWarning, level)
