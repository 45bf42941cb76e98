"""`copy.copy` and `copy.deepcopy` while a function is traced.

Python's own do most of the work. What they do not know is what the values of a trace stand for, which say it by their special methods,
and that the objects which they make are made by the call.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from ...errors import InplaceError
from ...tensor.location import user_location
from .. import hub
from ..control.if_stmt import or_none
from ..hub import current_tracer
from ..pyfacts.attribute_lookup import dict_of
from ..pyfacts.foreign import is_layer
from ..values.containers import containers_of, is_plain_object
from ..values.dynamic_list import list_tracer
from ..values.maybe_none import MaybeNone
from ..values.maybe_value import MaybeValue
from ..values.one_of import OneOf, choose
from ..values.record_list import RecordList
from ..values.staged_dict import StagedDict
from ..values.staged_list import StagedList


def shallow(x: Any) -> Any:
    """`copy.copy(x)`."""
    _sweep(x)
    own = getattr(type(x), "__copy__", None)
    return _created(x, _of_the_user(own, x)() if isinstance(own, FunctionType) and is_plain_object(x) else copy.copy(x))


def deep(x: Any, memo: dict[int, Any] | None = None) -> Any:
    """`copy.deepcopy(x, memo)`."""
    memo = {} if memo is None else memo
    inside: dict[int, Any] = {}
    list(containers_of(x, attributes=inside))
    _sweep(x, *inside.values())
    own = getattr(type(x), "__deepcopy__", None)
    new = _of_the_user(own, x)(memo) if isinstance(own, FunctionType) and is_plain_object(x) else copy.deepcopy(x, memo)
    for key, found in [*memo.items(), (id(x), new)]:
        # what is copied is in the memo by its id; the other entry keeps all that alive
        if id(found) != key and key != id(memo):
            _created(None, found)
    return new


def replaced(x: Any, /, **changes: Any) -> Any:
    """`dataclasses.replace(x, ...)`."""
    x = _there(x, "replace() should be called on dataclass instances")
    _sweep(x)
    return dataclasses.replace(x, **changes)


def is_dataclass(obj: Any) -> Any:
    """`dataclasses.is_dataclass(obj)`."""
    if isinstance(obj, MaybeValue):
        return or_none(obj, dataclasses.is_dataclass)
    return dataclasses.is_dataclass(obj)


def _there(x: Any, text: str) -> Any:
    """A value that may be None where it is not; elsewhere the run raises a TypeError that says this."""
    return x._dy_bare(text) if isinstance(x, MaybeValue) else x


def _of_what_is_there(f: Callable, text: str, /, *args: Any, **kwargs: Any) -> Any:
    return f(*(_there(x, text) for x in args), **{name: _there(x, text) for name, x in kwargs.items()})


OF_DATACLASSES: dict[Any, Callable] = {
    dataclasses.replace: replaced, dataclasses.is_dataclass: is_dataclass,
    dataclasses.asdict: partial(_of_what_is_there, dataclasses.asdict, "asdict() should be called on dataclass instances"),
    dataclasses.astuple: partial(_of_what_is_there, dataclasses.astuple, "astuple() should be called on dataclass instances"),
    dataclasses.fields: partial(_of_what_is_there, dataclasses.fields, "must be called with a dataclass type or instance"),
}  # fmt: skip
"""What is called in the place of functions of `dataclasses`, of what may be None too."""


def new(cls: type, *args: Any, **kwargs: Any) -> Any:
    """`object.__new__(cls)`."""
    return _created(None, object.__new__(cls, *args, **kwargs))


def _sweep(*values: Any) -> None:
    """All attributes of objects of the outside are read, without their names."""
    tracer = current_tracer()
    if tracer is not None:
        objects = [x for x in values if is_plain_object(x) or is_layer(x)]
        tracer.swept += [x for x in objects if dict_of(x) in tracer.root]


def _created(old: Any, new: Any) -> Any:
    """The new object, which is known from here on as one that the trace has made."""
    tracer = current_tracer()
    if tracer is not None and new is not old:
        if is_layer(new):
            tracer.on_layer_created(new)
        elif is_plain_object(new) and not dataclasses.is_dataclass(new):
            tracer.make(new)
    return new


def _of_the_user(method: FunctionType, x: Any) -> Callable:
    return hub.call(MethodType(method, x))  # type: ignore[no-any-return]


# ---- what stands for values of Python ----
def _deep_list(self: StagedList, memo: dict[int, Any]) -> StagedList:
    """A list of the same tensors as values of their own, where gradients end, as of leaves.

    Raises:
        InplaceError: gradients flow to the entries.
    """
    if list_tracer().may_need_gradient(self.array()):
        raise InplaceError("only leaf tensors can be deep-copied", location=user_location(2),
                           hint="detach the entries: [t.detach() for t in xs]")  # fmt: skip
    return _remembered(self, self.copy(), memo)


def _deep_records(self: RecordList, memo: dict[int, Any]) -> RecordList:
    return _remembered(self, RecordList(self.layout, [_deep_list(column, {}) for column in self.columns]), memo)


def _deep_dict(self: StagedDict, memo: dict[int, Any]) -> StagedDict:
    new = _remembered(self, self.copy(), memo)
    for key, value in self.values_of.items():
        new.values_of[key] = copy.deepcopy(value, memo)
    return new


def _remembered(old: Any, new: Any, memo: dict[int, Any]) -> Any:
    memo[id(old)] = new
    return new


def _copy_chosen(self: OneOf) -> Any:
    return choose(self, shallow)


def _deep_chosen(self: OneOf, memo: dict[int, Any]) -> Any:
    return choose(self, lambda one: deep(one, dict(memo)))  # what a branch copies is not there on the other


def _copy_optional(self: MaybeValue) -> Any:
    return or_none(self, shallow)


def _deep_optional(self: MaybeValue, memo: dict[int, Any]) -> Any:
    return or_none(self, lambda one: deep(one, dict(memo)))


def _deep_tensor(self: MaybeNone, memo: dict[int, Any]) -> Any:
    return or_none(self, lambda one: deep(one, dict(memo)))


def _listed(self: Any) -> Any:
    return self.copy()


for _class, _copied, _deeply in (
    (StagedList, _listed, _deep_list), (RecordList, _listed, _deep_records), (StagedDict, _listed, _deep_dict),
    (OneOf, _copy_chosen, _deep_chosen), (MaybeValue, _copy_optional, _deep_optional),
):  # fmt: skip
    setattr(_class, "__copy__", _copied)  # noqa: B010
    setattr(_class, "__deepcopy__", _deeply)  # noqa: B010
setattr(MaybeNone, "__deepcopy__", _deep_tensor)  # noqa: B010
