"""Tensors, the tape, and the functions on tensors."""

from typing import Any as _Any

from ..missing_names import missing as _missing
from . import api as _api
from . import operators as _operators
from . import tracebacks as _tracebacks
from .arrays import array_length as array_length
from .arrays import array_read as array_read
from .arrays import array_write as array_write
from .arrays import create_array as create_array
from .creation import fill_constant as fill_constant
from .tensor import Parameter as Parameter
from .tensor import Tensor as Tensor

_operators.install(_api.METHODS)
_tracebacks.install()


def __getattr__(name: str) -> _Any:
    # the functions are here too: paddle.tensor.transpose
    try:
        return getattr(_api, name)
    except AttributeError:
        raise _missing(__name__, name) from None


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_api)})
