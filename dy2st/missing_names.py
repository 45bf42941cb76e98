"""What is said of an attribute that a module of dy2st, or a tensor, does not have.

PaddlePaddle may have it. Then the error says so, and what serves instead. The table of its names is read when the first attribute is
missing, and never on import.
"""

from __future__ import annotations

import opcode
import sys
import types
from importlib import _bootstrap
from typing import Any

_IMPORT_FROM = opcode.opmap["IMPORT_FROM"]


def explain_missing(module: str) -> None:
    """Gives a module the `__getattr__` whose errors say what PaddlePaddle has of this name.

    A module that has a `__getattr__` of its own raises `missing` there. The function is put there, and not defined, as type checkers
    take a module that defines it to have every name.

    Args:
        module: the full name of the module, which is being imported.

    >>> import dy2st as paddle
    >>> paddle.nn.functional.npair_los
    Traceback (most recent call last):
    AttributeError: module 'dy2st.nn.functional' has no attribute 'npair_los'
    """

    def __getattr__(name: str) -> Any:
        raise missing(module, name)

    vars(sys.modules[module])["__getattr__"] = __getattr__


def missing(module: str, name: str) -> Exception:
    """The error for a name that a module has not, to be raised by the `__getattr__` of the module.

    Returns:
        An AttributeError. For a name of PaddlePaddle's in `from module import name` it is an ImportError, as Python would make one
        without this text of any AttributeError there.
    """
    usual = f"module {module!r} has no attribute {name!r}"
    frame = sys._getframe(2)
    # what Python and its tools ask of every module; and what `from package import module` asks before it imports the module
    if name.startswith("__") or frame.f_globals is vars(_bootstrap):
        return AttributeError(usual, name=name)
    from .paddle_names import of_paddle, suggestion

    # with `obj` Python would append a suggestion of its own
    said = remark(of_paddle(module, name))
    if said is None:
        return AttributeError(usual + suggestion(module, name), name=name)
    if _imports_a_name(frame):
        return ImportError(f"cannot import name {name!r} from {module!r}: {said}", name=module)
    return AttributeError(f"{usual}: {said}", name=name)


def _imports_a_name(frame: types.FrameType) -> bool:
    """Whether what a frame does is `from module import name`."""
    return frame.f_code.co_code[frame.f_lasti] == _IMPORT_FROM


def remark(dotted: str) -> str | None:
    """What is said of a module or method that is missing, by its name in PaddlePaddle; None if that has none of this name."""
    from .paddle_names import remark as of_tables  # not from the package, which would be asked for its attribute

    return of_tables(dotted)
