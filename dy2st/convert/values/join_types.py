"""The types of leaves: what a value has to be on all paths."""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import Any

import numpy as np
from dy2st_runtime.ir import Variable

from ...tensor import Tensor
from ...tensor.promotion import NUMBERS
from .. import hub
from ..hub import current_tracer
from ..pyfacts.safe_repr import is_of_users, shown
from ..pyfacts.undefined import Undefined
from .dynamic_list import DynamicList
from .lazy_iterables import Staged
from .leaf_types import type_of
from .maybe_value import MaybeValue
from .staged_dict import StagedDict
from .staged_list import StagedList
from .symbolic_texts import MARK
from .trees import is_slotted, split

_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic, slice, range, type(Ellipsis))
# made anew at each access
_METHODS = (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType)


@hub.primitive
def same(x: Any, y: Any) -> bool:
    """Whether two values are surely the same: one object, equal plain Python values, or one number of the Program."""
    if not same_value(x, y):
        return False
    if isinstance(x, DynamicList) and not isinstance(x, StagedList):
        return all(map(same, x.columns, y.columns))
    return not isinstance(x, (Tensor, StagedList)) or x is y or (isinstance(x, Tensor) and x._weak) or _who(x) is _who(y)


def same_value(x: Any, y: Any) -> bool:
    """The same, but two tensors or two lists of dynamic length may be two objects, as a list and its copy are."""
    if x is y:
        return True
    if isinstance(x, Tensor) and isinstance(y, Tensor):
        flags = [t._kinds.number._value if t._kinds is not None and t._kinds.number is not None else None for t in (x, y)]
        return (type(x) is type(y) and x._value is y._value and x._weak == y._weak and x._kinds == y._kinds
                and flags[0] is flags[1])  # fmt: skip
    if isinstance(x, Undefined) and isinstance(y, Undefined):
        return True
    if type(x) is not type(y):
        return False
    if isinstance(x, StagedList):
        return x._value is y._value
    if isinstance(x, DynamicList):
        return x.layout == y.layout and all(map(same_value, x.columns, y.columns))
    if isinstance(x, _METHODS):
        return bool(x == y)
    if isinstance(x, np.ndarray):
        return x.dtype == y.dtype and x.shape == y.shape and bool(np.array_equal(x, y)) and not (_was_before(x) or _was_before(y))
    return isinstance(x, (*_PLAIN, frozenset)) and exactly(x) == exactly(y)


def _was_before(x: Any) -> bool:
    """Whether something was there before the function ran, which may be changed in place under another name."""
    tracer = current_tracer()
    return tracer is not None and tracer.was_before(x)


def exactly(x: Any) -> Any:
    """What is equal for two plain values of one class only if nothing tells them apart: -0.0 is not 0.0, nor 1 True, and NaN is NaN."""
    if isinstance(x, (float, np.floating)):
        return type(x), repr(x)
    if isinstance(x, complex):
        return type(x), repr(x.real), repr(x.imag)
    if isinstance(x, (slice, range)):
        return type(x), exactly(x.start), exactly(x.stop), exactly(x.step)
    if isinstance(x, (tuple, frozenset)):
        return type(x), type(x)(map(exactly, x)) if type(x) in (tuple, frozenset) else id(x)
    return type(x), x if isinstance(x, _PLAIN) else id(x)


def _who(x: Tensor | StagedList) -> Any:
    """The object that it is in eager mode: a copy has the same variable."""
    return x if x._who is None else x._who


def describe(x: Any, inside: bool = False) -> str:
    """A leaf, or a container with what is in it, as an error names it; `inside` another one without."""
    t = type_of(x)
    if isinstance(x, Undefined):
        return "no value"
    if x is None:
        return "None"
    if isinstance(x, DynamicList) and not isinstance(x, StagedList):
        return "a list of dynamic length"
    if isinstance(x, StagedDict):
        return "a dict that has some of its keys only in some runs"
    if isinstance(x, MaybeValue):
        return f"{describe(x._dy_value, inside)}, or None"
    if isinstance(x, Staged):
        return f"what {x.what} gives"
    if t is None and isinstance(x, (tuple, list, dict)):
        # by no method of the user's
        if isinstance(x, dict):
            entries = [f"{shown(key)}: {describe(v, True)}" for key, v in dict.items(x)]
        else:
            entries = [describe(v, True) for v in (list.__iter__(x) if isinstance(x, list) else tuple.__iter__(x))]
        return f"{type(x).__name__} of {len(entries)}" + (f" ({', '.join(entries):.80})" if entries and not inside else "")
    if t is None and is_of_users(x):
        return f"an object of class {type(x).__name__}"
    if t is None:
        return f"{type(x).__name__} {MARK.sub('*', shown(x)):.40}"
    if isinstance(x, NUMBERS):
        return f"{t} {x!r:.20}"
    if t.kind == "dense" and (t.kinds is not None or (t.weak and not t.shape)):  # which says that it is a tensor
        return str(t)
    return f"a tensor {t}" if t.kind == "dense" else f"a list {t}"


def cure(values: Iterable[Any], otherwise: str) -> str:
    """The hint about values that a branch or a loop cannot make one of."""
    for x in values:
        if type_of(x) is None and is_of_users(x) and split(x)[1] is None:
            name, base = type(x).__name__, next((c.__name__ for c in (tuple, list, dict) if isinstance(x, c)), None)
            if base is not None:
                return f"keep the items in a plain {base}, and what a {name} has besides in variables or in the fields of a dataclass"
            if is_slotted(type(x)):
                return f"leave the slots out of class {name} (`__slots__`, `slots=True`), or make it a frozen dataclass"
    return otherwise


@hub.primitive
def listed(values: Iterable[Any]) -> str:
    """Several values as an error lists them."""
    return ", ".join(describe(x) if is_of_users(x) else f"{shown(x):.40}" for x in values)


def created_at(x: Any) -> Any:
    """The user's location of the op that made a symbolic tensor; None if there is none."""
    v = x._value if isinstance(x, (Tensor, StagedList)) else None
    if isinstance(v, Variable):
        for op in v.block.ops:
            if v.name in op.output_names:
                return op.location
    return None
