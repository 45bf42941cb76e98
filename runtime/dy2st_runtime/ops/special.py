"""Special functions of references. SciPy's module takes a fifth of a second to import, so it is imported at the first call."""

from __future__ import annotations

import numpy as np


def erf(x: np.ndarray) -> np.ndarray:
    from scipy import special

    return special.erf(x)


def expit(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)): NumPy's exp takes a quarter of the time of SciPy's function, and infinity is what it should be here."""
    return 1 / (1 + np.exp(-x))
