"""Tensors, the tape, and the functions on tensors."""

from . import api as _api
from . import operators as _operators
from .tensor import Parameter as Parameter
from .tensor import Tensor as Tensor

_operators.install(_api.METHODS)
