"""Linear algebra."""

from __future__ import annotations

from .missing_names import explain_missing as _explain_missing
from .tensor.linalg import matmul as matmul
from .tensor.linalg import mv as mv
from .tensor.reduction import norm as norm

_explain_missing(__name__)
