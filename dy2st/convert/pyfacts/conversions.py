"""Where the conversion of a function is kept: in an attribute of it, as it leads back to the function, and both should go together."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING

from ...transpiler.loader import CONVERSION

if TYPE_CHECKING:
    from ...transpiler import Converted


class Conversion:
    """The conversion of a function, None if it has none, and the code that this is for: a reloaded function gets another one."""

    __slots__ = ("code", "found", "of")

    def __init__(self, of: types.FunctionType | None = None):
        self.of = of
        self.code: types.CodeType | None = None
        self.found: Converted | None = None

    def __reduce__(self) -> tuple:
        return Conversion, ()


def conversion_of(f: types.FunctionType) -> Conversion:
    """The one of a function, made if it has none. Before attributes are watched it is made, as it is no change of the program's."""
    known = f.__dict__.get(CONVERSION)
    if known is None or known.of is not f:  # attributes are copied to others, by `functools.wraps`
        known = f.__dict__[CONVERSION] = Conversion(f)
    return known


def has_attributes(attributes: dict | None) -> bool:
    """Whether there are attributes besides that."""
    return attributes is not None and not attributes.keys() <= {CONVERSION}
