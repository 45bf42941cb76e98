"""`in`: whether a container of Python's, a tensor, or what stands for one while a function is traced has a value."""

from __future__ import annotations

from typing import Any

from ...tensor.dispatch import ops
from ...tensor.logic import equal
from ...tensor.promotion import no_number
from .. import hub, roles
from ..guards.special_methods import bound
from ..hub import is_staged
from ..iteration.outer_iterators import advanced
from ..values.dynamic_list import DynamicList
from ..values.lazy_iterables import Lazy, Staged
from ..values.maybe_none import MaybeNone
from ..values.maybe_value import MaybeValue
from ..values.one_of import OneOf, choose
from ..values.staged_dict import StagedDict, StagedView
from ..values.symbolic_texts import require_known
from ..values.trees import flatten
from .generators import generator
from .if_stmt import if_expr, or_none, truth
from .logical import compare, is_one, not_, or_, python_bool
from .symbolic_items import has_tensor, place_of

ROLE = roles.ACTING


@hub.primitive
def in_(a: Any, b: Any) -> Any:
    """`a in b`."""
    if isinstance(a, OneOf):
        return choose(a, lambda one: in_(one, b))
    if isinstance(b, OneOf):
        return choose(b, lambda one: in_(a, one), plain=True)
    if isinstance(b, MaybeValue):
        b = b._dy_bare("argument of type 'NoneType' is not iterable")
    if is_staged(b):
        if b._weak:
            b = no_number(b, "argument of type '{}' is not iterable")
        return python_bool(ops.op("reduce_any", X=equal(b, a), reduce_all=True))
    if isinstance(b, StagedView):
        b = b.of if b.name == "keys" else b.each()
    if isinstance(b, (Lazy, Staged)):
        return hub.BUILTINS[any](generator(b, lambda e: True if is_one(e, a) else compare("==", a, e)))
    if isinstance(b, DynamicList):
        found = if_expr(b.length() > 0, lambda: ops.op("reduce_any", X=b.equal_to(a, "'in'"), reduce_all=True), lambda: False)
        return python_bool(found)
    own = bound(b, "__contains__")
    if own is None and isinstance(b, (list, tuple, set, frozenset, range)) and (is_staged(a) or _any_staged(a, b)):
        if isinstance(b, range):
            b = list(b)
        return python_bool(or_(*[lambda e=e: True if is_one(e, a) else compare("==", a, e) for e in b])) if b else False
    if isinstance(b, dict) and isinstance(a, MaybeNone):
        return or_none(a, lambda one: in_(one, b))
    if isinstance(b, dict) and is_staged(a):
        return place_of(list(b), a)[1] if a._weak else has_tensor(b, a)
    if isinstance(b, StagedDict):
        return b.contains(a)
    if isinstance(b, (str, bytes)):
        require_known(a)
    return a in advanced(b) if own is None else python_bool(truth(own(a)))


def _any_staged(a: Any, items: Any) -> bool:
    """Whether comparing a value with the items of a sequence or set meets what only the run knows."""
    if isinstance(items, range):
        return False
    if any(is_staged(x) or isinstance(x, (OneOf, MaybeValue)) for x in items):
        return True
    leaves, tree = flatten(a)
    return tree.kind is not None and any(map(is_staged, (*leaves, *flatten(list(items))[0])))


def not_in(a: Any, b: Any) -> Any:
    """`a not in b`."""
    return not_(in_(a, b))
