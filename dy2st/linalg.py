"""Linear algebra."""

from __future__ import annotations

from .tensor.linalg import matmul as matmul
from .tensor.linalg import mv as mv
from .tensor.reduction import norm as norm
