"""`getattr`, `setattr` and the like: attributes whose names are values."""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from ...tensor import Tensor
from .. import hub, roles
from ..control.if_stmt import or_none
from ..control.try_stmt import try_stmt
from ..effects.cells import OuterVariable
from ..guards import structural_state as elsewhere
from ..pyfacts.undefined import Undefined
from ..values.attributes import looked_up, maybe_there
from ..values.maybe_none import MaybeNone
from ..values.maybe_value import MaybeValue
from ..values.one_of import OneOf, choose

if TYPE_CHECKING:
    from ..trace.tracer import Tracer

ROLE = roles.ACTING


def by_name(tracer: Tracer, f: Callable, /, *args: Any) -> Any:
    """`getattr` and `hasattr`, whose name may be one that no code contains."""
    if len(args) > 1 and isinstance(args[1], OneOf):
        return choose(args[1], lambda name: by_name(tracer, f, args[0], name, *args[2:]))
    if len(args) == 2 and f is getattr and isinstance(args[0], MaybeNone) and isinstance(args[1], str):
        return getattr(args[0].attribute(args[1]), args[1])
    answers = len(args) > 2 or (len(args) == 2 and f is hasattr)  # also where there is no such attribute
    if answers and isinstance(args[0], (MaybeNone, MaybeValue)):
        return or_none(args[0], lambda one: f(one, *args[1:]) if one is None else by_name(tracer, f, one, *args[1:]))
    if answers and isinstance(args[0], OneOf):
        return choose(args[0], lambda one: by_name(tracer, f, one, *args[1:]))
    if len(args) > 1 and isinstance(args[1], str):
        tracer.ask(args[0], args[1])
    if answers and isinstance(args[1], str) and (found := maybe_there(args[0], args[1])) is not None:
        return looked_up(args[0], args[1], found, lambda: f(*args))
    if len(args) > 1 and isinstance(args[0], Tensor) and args[0]._weak:
        cls = hub.type_(args[0])
        if f is hasattr:
            return hasattr(cls, args[1])
        # a number of Python has no such attribute either; or it has one, and no default is asked for
        return f(*args[:2]) if hasattr(cls, args[1]) else f(cls(), *args[1:])
    if answers and not isinstance(args[0], (Tensor, type)) and not hub.is_ignored(type(args[0])):
        return _or_none_there(f, *args)
    return f(*args)


def named(tracer: Tracer, f: operator.attrgetter | operator.methodcaller, owner: Any, /) -> Any:
    """What these do with an object: they have the names of attributes and methods in them."""
    of, given = cast("tuple[Any, tuple]", f.__reduce__())
    if isinstance(f, operator.attrgetter):
        found = tuple(functools.reduce(functools.partial(by_name, tracer, getattr), name.split("."), owner) for name in given)
        return found if len(found) > 1 else found[0]
    keywords = {}
    if isinstance(of, functools.partial):
        given, keywords = (*of.args, *given), of.keywords
    name, *args = given
    return hub.call(by_name(tracer, getattr, owner, name))(*args, **keywords)


def changed_by_name(tracer: Tracer, f: Callable, /, *args: Any) -> None:
    """`setattr` and `delattr`, whose name may be one that no code contains: of a class only those are watched that some code changes."""
    if len(args) > 1 and isinstance(args[1], str):
        if args[1] in elsewhere.NAMES and len(args) == 3:
            elsewhere.exchange(*args)
            return
        if isinstance(args[0], types.ModuleType):
            tracer.watch_variable(OuterVariable(args[1], vars(args[0])))
        elif isinstance(args[0], type) and not hub.is_ignored(args[0]):
            tracer.watch_attribute(*args[:2])
        elif isinstance(args[0], (type, Tensor)):
            tracer.give_attribute(*args[:2])
    f(*args)


def _or_none_there(f: Callable, owner: Any, name: str, *default: Any) -> Any:
    """`getattr` with a default, or `hasattr`, of an object of a user's class, where only the run may know whether it has the attribute."""
    found: Any = Undefined(name)

    def body() -> None:
        nonlocal found
        found = getattr(owner, name)
        if f is hasattr:
            found = True

    def missing(error: BaseException) -> None:
        nonlocal found
        if not isinstance(error, AttributeError):
            raise error
        found = default[0] if default else False

    def set_state(state: tuple) -> None:
        nonlocal found
        (found,) = state

    try_stmt(body, (lambda: AttributeError,), missing, None, None, False, lambda: (found,), set_state, (f"{f.__name__}()",))
    return found
