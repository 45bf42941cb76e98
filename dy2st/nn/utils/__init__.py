"""Helpers for the parameters of layers: clipping of gradients in place, vectors of parameters, other forms of weights."""

from __future__ import annotations

from ...missing_names import explain_missing as _explain_missing
from .clip_grad import clip_grad_norm_ as clip_grad_norm_
from .clip_grad import clip_grad_value_ as clip_grad_value_
from .spectral_norm import spectral_norm as spectral_norm
from .vectors import parameters_to_vector as parameters_to_vector
from .vectors import vector_to_parameters as vector_to_parameters
from .weight_norm import remove_weight_norm as remove_weight_norm
from .weight_norm import weight_norm as weight_norm

_explain_missing(__name__)
