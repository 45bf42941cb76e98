"""Special methods of Python's numbers and texts that are called by their names: `(0).__lt__(n)`, `super().__eq__(t)`, `n.__add__(1)`."""

from __future__ import annotations

import operator
from typing import Any

from ...errors import StagedValueError
from ...tensor import Tensor
from ...tensor.location import user_location
from .. import roles
from ..hub import is_staged
from ..values.one_of import OneOf, choose
from ..values.text_choices import StagedText
from .builtin_functions import classes

ROLE = roles.ACTING

OWNERS = (bool, int, float, complex, str, bytes)
_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift")
_OPERATORS = {f"__{name}__": getattr(operator, f"__{name}__")
              for name in (*_BINARY, "lt", "le", "gt", "ge", "eq", "ne", "neg", "pos", "abs", "invert")}  # fmt: skip
_REFLECTED = {f"__r{name}__": f"__{name}__" for name in _BINARY}
# what a class takes for the other operand, and else says NotImplemented
_OPERANDS = {bool: (bool, int), int: (bool, int), float: (bool, int, float)}


def slot(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Calls such a method of a class (`int.__lt__`), or of an object (`(0).__lt__`).

    Python would take what stands for a value of the run for an operand that it does not know, and go on with NotImplemented, which is true.

    Raises:
        StagedValueError: only the run knows what it gives.
    """
    i = next((i for i, x in enumerate(args) if isinstance(x, OneOf)), None)
    if i is not None:
        return choose(args[i], lambda one: slot(f, *args[:i], one, *args[i + 1 :], **kwargs))
    if not any(is_staged(x) or isinstance(x, StagedText) for x in args):
        return f(*args, **kwargs)
    operands = args if (owner := getattr(f, "__self__", None)) is None else (owner, *args)
    return slot_of(f.__objclass__, f.__name__, *operands)


def slot_of(cls: type, name: str, *operands: Any) -> Any:
    """The same of a class of numbers, by its name.

    Raises:
        StagedValueError: see `slot`.
    """
    found = [list(classes(x)) if isinstance(x, Tensor) else [type(x)] for x in operands]
    kinds = [kind for kind, *others in found if not others]
    known = _OPERATORS.get(_REFLECTED.get(name, name))
    if cls not in _OPERANDS or known is None or len(kinds) < len(operands) or not issubclass(kinds[0], cls):
        raise StagedValueError(
            f"what {cls.__name__}.{name}() gives of a value that only the run knows is not known while tracing", location=user_location(2),
            hint="use the operator or the function that asks for it: a < b, a == b, abs(a), str(a)",
        )  # fmt: skip
    if not all(issubclass(kind, _OPERANDS[cls]) for kind in kinds):
        return NotImplemented
    # of an object of a class of the user's, which may have an operator of its own, the number
    plain: Any = cls
    numbers = [plain.__pos__(x) if isinstance(x, cls) and type(x) is not cls else x for x in operands]
    return known(*(reversed(numbers) if name in _REFLECTED else numbers))
