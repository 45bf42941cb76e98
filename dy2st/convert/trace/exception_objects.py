"""Exceptions of the user's classes, with arguments and attributes, as objects that each run makes anew."""

from __future__ import annotations

import re
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from dy2st_runtime.errors import Location
from dy2st_runtime.ir import Block, Variable
from dy2st_runtime.ops import message

from ...errors import Dy2stError, StagedValueError
from ...tensor import Tensor
from ...tensor.kinds import require_one_kind
from ..effects.may_alias import is_inside
from ..hub import is_staged
from ..regions.list_promotion import current
from ..values.containers import containers_of, held_by
from ..values.maybe_attribute import MaybeAttribute
from ..values.maybe_none import MaybeNone
from ..values.staged_list import StagedList
from ..values.symbolic_texts import MARK, StagedText, is_marked, texts
from ..values.trees import Tree, flatten, unflatten

if TYPE_CHECKING:
    from .tracer import Tracer

_OF_PYTHON = 1 << 9
"""The flag of classes that a `class` statement has made (Py_TPFLAGS_HEAPTYPE)."""


@dataclass(frozen=True)
class _Value:
    """A tensor in an exception: its position among the values, and what it is to the user."""

    position: int
    number: bool
    stop_gradient: bool


@dataclass(frozen=True)
class _Text:
    """A text in an exception with the values of tensors in it."""

    parts: list[str]
    specs: list[str]
    positions: range


class Again:
    """How to make an exception once more, with the values of a run in the place of tensors.

    Attributes:
        tensors: those whose values it needs.
        text: its class and its message, for who does not know the class.

    Raises:
        StagedValueError: it holds what only the trace knows.
    """

    def __init__(self, tracer: Tracer, error: BaseException, location: Location | None):
        self.tracer, self.location = tracer, location
        self.error = error
        self.tensors: list[Tensor] = []
        leaves, self.tree = flatten((_given(error), *_held(error)))
        if _holds(self.tree, MaybeNone):
            raise self._refused("a value that may be None")
        if _holds(self.tree, MaybeAttribute):
            raise self._refused("an attribute that it has in some runs only")
        self.leaves = list(map(self._leaf, leaves))
        cause = error.__cause__
        self.cause = None if cause is None else Again(tracer, cause, location)
        self.offset = len(self.tensors)
        if self.cause is not None:
            self.tensors += self.cause.tensors
        name = type(error).__name__
        # that of a KeyError is what `repr` says of the key
        (key,) = error.args if isinstance(error, KeyError) and len(error.args) == 1 else (None,)
        said = str.__str__(format(key) if is_staged(key) else str(error) if error.args else "")
        self.text = f"{name}: {said}" if is_staged(key) or said else name

    def _leaf(self, x: Any) -> Any:
        if isinstance(x, StagedList):
            raise self._refused("a list of dynamic length")
        if is_staged(x):
            require_one_kind(x, "what the exception holds depends on that")
            self.tensors.append(x)
            return _Value(len(self.tensors) - 1, x._weak, x._stops)
        if isinstance(x, str) and MARK.search(x):
            parts, specs, tensors = texts([x])
            self.tensors += tensors
            return _Text(parts, specs, range(len(self.tensors) - len(tensors), len(self.tensors)))
        if any(_varies(v) for c in containers_of(x) for v in held_by(c)):
            raise self._refused(f"a {type(x).__name__} with tensors in it")
        return x

    def _refused(self, what: str) -> StagedValueError:
        return StagedValueError(
            f"an exception that is raised when the program runs cannot hold {what}", location=self.location,
            hint="give it tensors, numbers and texts, or tuples, lists, dicts and dataclasses of these",
        )  # fmt: skip

    def make(self, values: Sequence[np.ndarray]) -> BaseException:
        """The exception, given the values of `tensors`."""
        given, *held = unflatten(self.tree, [self._now(x, values) for x in self.leaves])
        new = _new_error(type(self.error), given, *held)
        if self.cause is not None:
            new.__cause__ = self.cause.make(values[self.offset :])
        return new

    @staticmethod
    def _now(x: Any, values: Sequence[np.ndarray]) -> Any:
        if isinstance(x, _Value):
            return values[x.position].item() if x.number else Tensor(values[x.position], stop_gradient=x.stop_gradient)
        if isinstance(x, _Text):
            return message.compose(x.parts, x.specs, [values[i] for i in x.positions])
        return x


def _holds(tree: Tree, kind: type) -> bool:
    return tree.kind is kind or any(_holds(child, kind) for child in tree.children)


def _given(error: BaseException) -> tuple:
    """What its class makes it of: of an OSError, `args` is only a part of that."""
    if isinstance(error, OSError) and error.filename is not None:
        return (*error.args[:2], error.filename, None, error.filename2)
    return error.args


def _held(error: BaseException) -> tuple[tuple, dict[str, Any], dict[str, Any]]:
    """What an exception holds: its arguments, its attributes, and what is in slots, as the `value` of a StopIteration is."""
    slots = {}
    for cls in type(error).__mro__:
        for name, slot in vars(cls).items():
            # the object that lacks an attribute is there for who shows the error, and may be anything of the trace
            if isinstance(slot, types.MemberDescriptorType) and not name.startswith("__") and name != "obj" and hasattr(error, name):
                slots[name] = getattr(error, name)
    return error.args, vars(error), slots


def _new_error(cls: type[BaseException], given: tuple, *held: Any) -> BaseException:
    """An exception of a class; its own `__new__` and `__init__` may do anything, and have run once."""
    built_in = next(c for c in cls.__mro__ if not c.__flags__ & _OF_PYTHON)
    new = built_in.__new__(cls, *given)
    _fill(new, *held)
    return new


def again(error: BaseException) -> BaseException:
    """Another exception with what this one holds."""
    return _new_error(type(error), _given(error), *_held(error))


def _fill(error: BaseException, args: tuple, attributes: dict[str, Any], slots: dict[str, Any]) -> None:
    """Gives an exception what it holds."""
    error.args = args
    vars(error).update(attributes)
    for name, value in slots.items():
        if getattr(error, name, None) is not value:  # None is not the same as nothing: an OSError shows it
            setattr(error, name, value)


class Parts:
    """What an exception holds as a handler will see it: its arguments, attributes and slots, and those of its causes.

    Code behind that which raises may go on with the exception, so it gets these values when a handler begins.

    Args:
        of: only the tensors, and texts with tensors in them, that were made in this block or in those within it.

    Attributes:
        marked: the tensors in its texts, and in what these are in.
        values: all else with tensors in it, and lists, dicts and objects: what handlers may know by other names, too.
    """

    def __init__(self, tracer: Tracer, error: BaseException, of: Block | None = None):
        self._tracer, self._of = tracer, of
        self._texts: list[tuple[_Place, Any]] = []
        self._places: list[_Place] = []
        self.marked: list[Any] = []
        self.values: list[Any] = []
        for one in _with_causes(error):
            for kind, held in enumerate(_held(one)):
                for key, x in held.items() if isinstance(held, dict) else enumerate(held):
                    self._add(_Place(one, kind, key), x)

    def _add(self, place: _Place, x: Any) -> None:
        leaves, tree = flatten(x)
        marked = [y for v in leaves for y in self._shown(v)]
        if self._of is not None and (tree.kind is not None or not any(map(self._is_of, marked))):
            return
        if any(isinstance(v, str) and MARK.search(v) for v in leaves):
            self._texts.append((place, x))
            self.marked += marked
        elif (tree.kind is not None and not isinstance(place.error, Dy2stError)) or any(map(_varies, leaves)):
            self._places.append(place)
            self.values.append(x)

    def _shown(self, v: Any) -> list[Any]:
        """The tensors in a text, or the tensor that it is."""
        if isinstance(v, str):
            return [self._tracer.marked[int(n)][0] for n in MARK.findall(v)]
        return [v] if _varies(v) else []

    def _is_of(self, x: Any) -> bool:
        assert self._of is not None
        return isinstance(x._value, Variable) and is_inside(x._value.block, self._of)

    def hold(self, values: Iterator[Any]) -> None:
        """Other values in the place of `marked` and `values`."""
        self.marked = [next(values) for _ in self.marked]
        marked = iter(self.marked)
        self._texts = [(place, self._again(x, marked)) for place, x in self._texts]
        self.values = [next(values) for _ in self.values]

    def _again(self, x: Any, marked: Iterator[Any]) -> Any:
        """A text, or what it is in, with other tensors."""
        leaves, tree = flatten(x)

        def shown(mark: re.Match) -> str:
            return str.__str__(self._tracer.mark(next(marked), self._tracer.marked[int(mark[1])][1]))

        return unflatten(tree, [StagedText(MARK.sub(shown, v)) if is_marked(v) else next(marked) if _varies(v) else v
                                for v in leaves])  # fmt: skip

    def is_lost(self) -> bool:
        """Whether the exceptions have tensors of a block that has ended."""
        errors = {id(place.error): place.error for place in self._places}
        found = [x._value for error in errors.values() for x in flatten(_held(error))[0] if _varies(x)]
        return any(isinstance(v, Variable) and not self._tracer.can_read(v) for v in found)

    def give(self) -> None:
        """The exceptions get what they hold."""
        for place, value in (*self._texts, *zip(self._places, self.values, strict=True)):
            place.set(current(self._tracer, value))


@dataclass(frozen=True)
class _Place:
    """An argument, attribute or slot of an exception: which of those that `_held` gives, and its number or name."""

    error: BaseException
    kind: int
    key: Any

    def set(self, value: Any) -> None:
        held: list[Any] = list(_held(self.error))
        own = held[self.kind]
        if isinstance(own, dict):
            held[self.kind] = {**own, self.key: value}
        else:
            held[self.kind] = tuple(value if i == self.key else x for i, x in enumerate(own))
        _fill(self.error, *held)


def _varies(x: Any) -> bool:
    """Whether it is a tensor, or a list of dynamic length."""
    return is_staged(x) or isinstance(x, StagedList)


def holds_staged(error: BaseException) -> bool:
    """Whether values of tensors are in what an exception holds."""
    leaves = [x for one in _with_causes(error) for x in flatten(_held(one))[0]]
    return any(is_staged(x) or is_marked(x) for x in leaves)


def _with_causes(error: BaseException) -> list[BaseException]:
    """An exception and its causes; it may be its own (`raise error from error`)."""
    found = [error]
    while (cause := found[-1].__cause__) is not None and all(cause is not one for one in found):
        found.append(cause)
    return found
