"""The errors of dy2st: those of the runtime, and those of the front end."""

from __future__ import annotations

from typing import TypeVar

from dy2st_runtime.errors import AttributeValueError as AttributeValueError
from dy2st_runtime.errors import CompileError as CompileError
from dy2st_runtime.errors import CustomOpError as CustomOpError
from dy2st_runtime.errors import DeviceError as DeviceError
from dy2st_runtime.errors import DivisionError as DivisionError
from dy2st_runtime.errors import DTypeError as DTypeError
from dy2st_runtime.errors import Dy2stError as Dy2stError
from dy2st_runtime.errors import FeedError as FeedError
from dy2st_runtime.errors import FetchError as FetchError
from dy2st_runtime.errors import FormatError as FormatError
from dy2st_runtime.errors import GradientError as GradientError
from dy2st_runtime.errors import IntegerRangeError as IntegerRangeError
from dy2st_runtime.errors import Location as Location
from dy2st_runtime.errors import NonFiniteError as NonFiniteError
from dy2st_runtime.errors import OutOfRangeError as OutOfRangeError
from dy2st_runtime.errors import RecursionLimitError as RecursionLimitError
from dy2st_runtime.errors import ScopeError as ScopeError
from dy2st_runtime.errors import ShapeError as ShapeError
from dy2st_runtime.errors import UndefinedError as UndefinedError
from dy2st_runtime.errors import UnknownOpError as UnknownOpError
from dy2st_runtime.errors import VerifyError as VerifyError
from dy2st_runtime.errors import shorten_path as shorten_path
from dy2st_runtime.errors import with_location as with_location

_Error = TypeVar("_Error", bound=Dy2stError)


class StagedValueError(Dy2stError, TypeError):
    """A tensor whose value is only known at run time is used where Python needs the value now."""

    code = "D2S101"


class PythonGradientError(StagedValueError):
    """A gradient is computed by Python code of the user's, which cannot become a part of a program."""


class InputGradientError(GradientError):
    """A loaded model is given an input that wants a gradient, and its file does not say through which values it flows."""


class InplaceError(Dy2stError, RuntimeError):
    """A tensor is modified in place where that would lose its gradient."""

    code = "D2S102"


class StateDictError(Dy2stError, ValueError):
    """An entry of a state dict does not fit the object it is loaded into."""

    code = "D2S103"


class ModeError(Dy2stError, RuntimeError):
    """A function of the static mode is called in dynamic mode, or the other way round."""

    code = "D2S104"


class StructureError(Dy2stError, TypeError):
    """A variable is of different kinds, or differently nested, on two paths of a staged branch or loop."""

    code = "D2S105"


class LeakError(Dy2stError, RuntimeError):
    """A tensor computed inside a staged branch or loop is used outside of it, where it may not exist."""

    code = "D2S106"


class WorldError(DeviceError):
    """Something takes several processes, and there is one."""


class EagerStatementWarning(RuntimeWarning):
    """A statement of a function made static with `full_graph=False` runs eagerly; the message names it and says why."""


def of_tracing(error: _Error) -> _Error:
    """The error, as one of which eager mode knows nothing: no handler of the user's is meant, whatever its class."""
    vars(error)["of_tracing"] = True
    return error


def of_results(error: _Error) -> _Error:
    """The error, as one of what a function leaves behind: no single statement of it is the reason."""
    vars(error)["of_results"] = True
    return error
