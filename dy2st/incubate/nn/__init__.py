"""`incubate.nn`: layers of which PaddlePaddle has a kernel of its own."""

from __future__ import annotations

from ...missing_names import explain_missing as _explain_missing
from . import functional as functional
from .fused_layers import FusedDropoutAdd as FusedDropoutAdd
from .fused_layers import FusedLinear as FusedLinear

_explain_missing(__name__)
