"""`MaybeNone`: what stands for a variable that is None on one path and a tensor on another."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ...errors import StagedValueError
from ...tensor import Tensor
from ...tensor.location import user_location
from ...transpiler import is_generated
from .. import hub
from ..hub import need_tracer
from ..pyfacts.foreign import is_foreign


class MaybeNone(Tensor):
    """A tensor that is None on some path: `is_none` is the bool tensor that says when.

    What Python cannot do with None raises at run time what it raises in eager mode.
    """

    is_none: Tensor

    @staticmethod
    def of(value: Tensor, is_none: Tensor) -> MaybeNone:
        t = MaybeNone.__new__(MaybeNone)
        t._value, t._stop, t._weak, t._kinds = value._value, value._stop, value._weak, value._kinds
        t._who = value if value._who is None else value._who
        t.is_none = is_none
        return t

    def bare(self) -> Tensor:
        """The tensor alone: what modifies it in place modifies this too."""
        bare = self.alike(self._value)
        bare._whole = self
        return bare

    def require(self, text: str, exception: type[Exception] = TypeError) -> Tensor:
        """The tensor alone, where it is not None; there the exception is raised."""
        need_tracer("a value that may be None").require_not_none(self.is_none, text, exception)
        return self.bare()

    def attribute(self, name: str) -> Tensor:
        """The tensor alone, of which an attribute is wanted."""
        return self.require(f"'NoneType' object has no attribute {name!r}", AttributeError)

    @property
    def shape(self) -> Any:  # type: ignore[override]
        return self.attribute("shape").shape

    @property
    def size(self) -> Any:  # type: ignore[override]
        return self.attribute("size").size

    @property
    def T(self) -> Any:  # type: ignore[override]
        return self.attribute("T").T

    def __eq__(self, other: Any) -> Any:
        return _if(self.is_none, lambda: other == None, lambda: self.bare() == other)  # noqa: E711

    def __ne__(self, other: Any) -> Any:
        return _if(self.is_none, lambda: other != None, lambda: self.bare() != other)  # noqa: E711

    def __getitem__(self, key: Any) -> Any:
        return self.require("'NoneType' object is not subscriptable")[key]

    def __hash__(self) -> int:
        if not is_foreign(sys._getframe(1).f_globals.get("__name__")):  # None is a key by its value, a tensor as the object that it is
            raise StagedValueError("what is None in some runs is looked up in a dict or set", location=user_location(),
                                   hint="decide with `if key is None`, and use it where it is not")  # fmt: skip
        return Tensor.__hash__(self)


def _if(*args: Any) -> Any:
    return hub.if_expr(*args)


def _class(x: Any) -> str:
    return str(hub.type_(x).__name__)


def wrong_operands(sign: str, left: Any, right: Any) -> str:
    """What Python says of an operator where what may be None is."""
    names = ["NoneType" if x is None or isinstance(x, MaybeNone) else _class(x) for x in (left, right)]
    if sign in ("<", "<=", ">", ">="):
        return f"{sign!r} not supported between instances of {names[0]!r} and {names[1]!r}"
    return f"unsupported operand type(s) for {sign}: {names[0]!r} and {names[1]!r}"


def _operator(name: str, sign: str, reflected: bool) -> Callable[[MaybeNone, Any], Any]:
    def operate(self: MaybeNone, other: Any) -> Any:
        operands = (other, self) if reflected else (self, other)
        return getattr(self.require(wrong_operands(sign, *operands)), name)(other)

    operate.__name__ = name
    return operate


def _sign(name: str, sign: str) -> Callable[[MaybeNone], Any]:
    def operate(self: MaybeNone) -> Any:
        return getattr(self.require(f"bad operand type for {sign}: 'NoneType'"), name)()

    operate.__name__ = name
    return operate


def _attribute(name: str) -> property:
    """An attribute that a tensor has whatever its value: the trace reads it of the tensor, the user's code of that or None."""
    own = getattr(Tensor, name)

    def get(self: MaybeNone) -> Any:
        return own.fget(self.attribute(name) if is_generated(sys._getframe(1).f_code) else self)

    return property(get, own.fset)


for _name in ("ndim", "dtype", "stop_gradient", "name", "place", "is_leaf", "grad"):
    setattr(MaybeNone, _name, _attribute(_name))

_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "matmul": "@", "pow": "** or pow()",
    "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
}  # fmt: skip
for _name, _text in _SIGNS.items():
    setattr(MaybeNone, f"__{_name}__", _operator(f"__{_name}__", _text, reflected=False))
    setattr(MaybeNone, f"__r{_name}__", _operator(f"__r{_name}__", _text, reflected=True))
    setattr(MaybeNone, f"__i{_name}__", _operator(f"__{_name}__", f"{_text.partition(' ')[0]}=", reflected=False))
for _name, _text in {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items():
    setattr(MaybeNone, f"__{_name}__", _operator(f"__{_name}__", _text, reflected=False))
for _name, _text in {"pos": "unary +", "neg": "unary -", "invert": "unary ~", "abs": "abs()"}.items():
    setattr(MaybeNone, f"__{_name}__", _sign(f"__{_name}__", _text))


def require_key(key: Any) -> None:
    """StagedValueError if a key of a dict is None in some runs."""
    if isinstance(key, MaybeNone):
        raise StagedValueError("a key of a dict is None in some runs", location=user_location(),
                               hint="decide with `if key is None`, and use it where it is not")  # fmt: skip
