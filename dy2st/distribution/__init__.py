"""Distributions: what is drawn of them, densities, entropies and divergences."""

from __future__ import annotations

from ..missing_names import explain_missing as _explain_missing
from .categorical import Categorical as Categorical
from .distribution import Distribution as Distribution
from .distribution import kl_divergence as kl_divergence
from .normal import Normal as Normal

_explain_missing(__name__)
