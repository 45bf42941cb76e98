"""What a trace returns and keeps, as recipes: how each call makes it of what its run gives."""

from __future__ import annotations

import functools
import types
from collections import deque
from collections.abc import Collection, Container, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from dy2st_runtime.ir import Variable

from ..convert.control.object_ids import called, is_of_a_trace
from ..convert.effects.cells import assigned_outside
from ..convert.effects.gradient_needs import Need
from ..convert.effects.may_alias import who
from ..convert.pyfacts.tensor_attributes import attributes_of_tensor
from ..convert.pyfacts.undefined import Undefined
from ..convert.trace.tracer import Tracer
from ..convert.values.containers import containers_of
from ..convert.values.dynamic_list import DynamicList
from ..convert.values.kind_codes import codes_of
from ..convert.values.lazy_iterables import Lazy
from ..convert.values.maybe_attribute import MaybeAttribute
from ..convert.values.maybe_none import MaybeNone
from ..convert.values.maybe_value import MaybeObject
from ..convert.values.one_of import OneOf, values_of
from ..convert.values.record_layout import Inner, leaves, untold
from ..convert.values.record_list import RecordList, parts_of
from ..convert.values.staged_dict import StagedDict
from ..convert.values.staged_list import StagedList, unlike
from ..convert.values.symbolic_texts import is_marked
from ..convert.values.trees import flatten, is_frozen, split
from ..errors import StagedValueError, StructureError
from ..library.queues import Deque
from ..nn import Layer
from ..tensor import Tensor
from ..tensor.kinds import class_of_numbers, resolved
from . import shells
from .outliving import Several, walk
from .recipes import Argument, Attributed, Constant, Fetched, Given, Held, Picked, Rebuilt, Recipe

DECIDE = "decide with a Python value which it is, or make a copy (y = y.clone())"

# objects that are there before a function runs, or that are never changed
_LASTING = (
    bool, int, float, complex, str, bytes, type(None), type(Ellipsis), range, slice, np.dtype, type, types.ModuleType, types.FunctionType,
    types.BuiltinFunctionType, types.MethodType, Layer,
)  # fmt: skip

_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinMethodType, functools.partial, type)


class Results:
    """Makes the recipes of one trace.

    Args:
        placeholders: what stands for the arguments; `inputs` are the variables of these as the call begins.
        paths: the way to each container in the arguments, by id.
        exact: see `Trace`.

    Attributes:
        fetches: the variables that are fetched, each with its position.
        several: the values that may be objects which are elsewhere too.
        functions: those that the call makes, by id: each call gives the same ones.
    """

    def __init__(self, tracer: Tracer, placeholders: list[Tensor], inputs: list[Variable], paths: Mapping[int, tuple], exact: bool):
        self._tracer, self._placeholders, self._paths, self._exact = tracer, placeholders, paths, exact
        self.fetches: dict[str, int] = {}
        self.functions: dict[int, shells.Untouched] = {}
        self.several = Several(tracer, placeholders, inputs, self.fetches, self.fetch, exact)
        self._marks: dict[int, tuple[int, Any]] = {}
        self._above: set[int] = set()

    def fetch(self, v: Variable, number: bool = False) -> Fetched:
        """What the run gives for a variable, made a number of Python if it stands for one.

        Raises:
            LeakError: it is one of a branch or a loop.
        """
        v = self._tracer.visible(v)
        return Fetched(self.fetches.setdefault(v.name, len(self.fetches)), number)

    def recipe(self, value: Any) -> Recipe:
        """How each call makes what the trace has here.

        Raises:
            StagedValueError: it holds what only the trace has.
            StructureError: only the run knows which of several objects it is, where that matters.
        """
        if isinstance(value, Tensor):
            return self._tensor(value)
        if isinstance(value, DynamicList):
            for part in parts_of(value):
                if self._exact:
                    self.require_exact(part)
                self._tracer.aliases.require_fresh(part, self._tracer.block, "returned")
            return self._given(self._replaced_by(value), self.list_of(value))
        if isinstance(value, StagedDict):
            if self._exact:
                raise StructureError("a dict has some of its keys only in some runs", hint=DECIDE)
            return self._given(self._replaced_by(value), self.dict_of(value))
        if isinstance(value, (list, dict)) and id(value) in self._tracer.replaced:
            return self._given(value, self.recipe(self._tracer.replaced[id(value)][1]))
        if isinstance(value, MaybeAttribute) and self._exact:
            raise StructureError("an object has an attribute on some paths only, as only the run knows", hint=DECIDE)
        if isinstance(value, MaybeObject):
            if self._exact:
                raise StructureError("a variable holds an object on some paths only, as only the run knows", hint=DECIDE)
            return self.recipe(value.value)
        if isinstance(value, Undefined):
            raise value.error()
        if is_marked(value):
            raise StagedValueError(
                "a text with the values of tensors in it is only known when the program runs",
                hint="return the tensors, and make the text outside; print() and messages of assert and raise are fine",
            )
        if isinstance(value, OneOf):
            for one in values_of(value):
                self._require_plain(one)
            return Picked(self.recipe(value._dy_index), tuple(map(Constant, values_of(value))))
        if type(value) is Deque:
            mark = self._mark(value)
            return Rebuilt(deque, (), (self.recipe(value._entries), Constant(value.maxlen)), mark)
        keys, children = split(value)
        if children is None:
            return self._shelled(value)
        self._require_keys(keys)
        if self._exact and self._tracer.alternatives.may_be_another(value):
            raise StructureError("a variable is one of several objects, as only the run knows", hint=DECIDE)
        self._require_class(type(value))
        mark = 0 if isinstance(value, tuple) else self._mark(value)
        rebuilt = Rebuilt(type(value), keys, tuple(map(self.recipe, children)), mark)
        return self._given(value, rebuilt)

    def _tensor(self, value: Tensor) -> Recipe:
        for i, p in enumerate(self._placeholders):
            if value is p and not p._weak:
                return Argument(i)
        if self._exact:
            self.require_exact(value)
        if id(value) in self._tracer.originals or not value.is_symbolic:
            return Constant(value)
        attributes = attributes_of_tensor(value)
        if attributes and value._kinds is not None:
            raise value._kinds.fail("it has attributes")
        if attributes and id(value) not in self._above:
            mark = self._mark(value)
            self._above.add(id(value))
            try:
                return Rebuilt(Attributed, tuple(attributes), (self._tensor(value), *map(self.recipe, attributes.values())), mark)
            finally:
                self._above.discard(id(value))
        if isinstance(value, MaybeNone):
            value = value.bare()
        if value._kinds is not None:
            kinds, given, value = value._kinds, value, resolved(value)
            if kinds.told is None:
                raise kinds.fail("it cannot be a result")
            flag = self.fetch(self._tracer.lift(kinds.told))
            cls = kinds.class_name if kinds.classes == 1 else ""
            fetched = replace(self.fetch(self._tracer.lift(value)), flag=flag.position, cls=cls)
            return self.several.note(fetched, given)
        fetched = self.fetch(self._tracer.lift(value), value._weak and value.ndim == 0)
        return self.several.note(fetched, value)

    def _mark(self, value: Any) -> int:
        """The number of an object that each call makes once."""
        return self._marks.setdefault(id(value), (len(self._marks) + 1, value))[0]

    def _replaced_by(self, value: Any) -> Any:
        """The list or dict of Python that has become this one; None if there was none."""
        return next((items for items, staged in self._tracer.replaced.values() if staged is value), None)

    def _shelled(self, value: Any) -> Recipe:
        """An object of Python: itself, or one that each call makes anew."""
        found = None
        if id(value) not in self._tracer.before and not self.was_there(value) and not self._exact:
            found = shells.decomposed(value)
        if isinstance(value, (set, frozenset)):
            self._require_same(value)
        if found is None or not found[1] or id(value) in self._above:
            self._require_plain(value)
        if found is None:
            self._tracer.state_made.note_same(value)
        if found is None or id(value) in self._above:
            return Constant(value)
        keys, children = found
        require_no_id(*keys)
        self._require_class(type(value))
        mark = self._mark(value)
        self._above.add(id(value))
        try:
            return Rebuilt(shells.Shell, keys, tuple(map(self.recipe, children)), mark)
        finally:
            self._above.discard(id(value))

    def _require_keys(self, keys: tuple) -> None:
        """An error for keys of a dict of which there are others in each call."""
        require_no_id(*keys)
        if any(map(_is_of_the_run, flatten(keys)[0])):
            raise StagedValueError("a dict with tensors as keys cannot be the result of a static function, or be kept by it",
                                   hint="return pairs, in a list of tuples")  # fmt: skip
        self._require_same(keys)

    def _require_same(self, members: Collection[Any]) -> None:
        """StructureError for objects, in a set or as keys, that each call makes anew, and that can change."""
        for x in members:
            if isinstance(x, (tuple, frozenset)):
                self._require_same(x)
            elif id(x) in self._tracer.created and not isinstance(x, _LASTING) and not is_frozen(type(x)):
                raise _made_once(x)

    def list_of(self, value: DynamicList) -> Recipe:
        """A list of dynamic length as one of Python."""
        return self._of_records(value) if isinstance(value, RecordList) else self._column(*parts_of(value))

    def _column(self, items: StagedList) -> Fetched:
        """The entries of a list of dynamic length, or of a column of one."""
        mark = self._mark(who(items))
        if len(items.kinds) > 1:
            if (codes := codes_of(items)) is None:
                raise unlike(items.kinds).fail("only the run knows which")
            return self.several.note(replace(self.fetch(items._value), flag=self.fetch(codes).position, mark=mark), items)
        number = items.of_numbers()
        # the list may be one of a wider dtype, beside tensors that it might have got
        cls = class_of_numbers(next(iter(items.kinds)).dtype) if number else ""
        return self.several.note(replace(self.fetch(items._value, number), cls=cls, mark=mark), items)

    def _of_records(self, value: RecordList) -> Rebuilt:
        """A list of dynamic length whose entries are put together of those of columns."""
        if (kinds := untold(value.layout)) is not None:
            raise unlike(kinds).fail("only the run knows which")
        columns = tuple(map(self._column, value.columns))
        mark = self._mark(value)
        inner = [c for c, leaf in zip(value.columns, leaves(value.layout), strict=True)
                 if isinstance(leaf, Inner) and not all(k.weak for k in leaf.kinds)]  # fmt: skip
        self.several.note_inside(mark, inner)
        return Rebuilt(RecordList, (value.layout, self._tracer.objects), columns, mark)

    def dict_of(self, value: StagedDict) -> Rebuilt:
        """A dict that has some of its keys only in some runs: for each the value, whether it has it, and its place."""
        # of a key that it has in no run a handler may have but the flag
        keys = tuple(key for key, known in value.has.items() if known is not False and key in value.values_of)
        self._require_keys(keys)
        children: list[Recipe] = []
        for i, key in enumerate(keys):
            parts = value.values_of[key], value.has[key], i if value.ordered else value.since[key]
            children += map(self.recipe, parts)
        mark = self._mark(value)
        return Rebuilt(StagedDict, (value.empty, *keys), tuple(children), mark)

    def _given(self, value: Any, contents: Recipe) -> Recipe:
        """A container of the caller's, or of the outside, is a result itself; any other one is made anew, as is one of which there is none
        of Python (None)."""
        if value is None:
            return contents
        holder = value if isinstance(value, (list, dict)) else getattr(value, "__dict__", None)
        path = None if isinstance(value, tuple) else self._paths.get(id(holder))
        if path is not None:
            return Given(path, contents)
        return Held(value, contents) if not isinstance(value, tuple) and self._tracer.was_before(value) else contents

    def require_exact(self, value: Any) -> None:
        """StructureError for a value of which Python could tell more than the run: which tensor it is the run can tell (`Several`), but not
        what a list holds that may be elsewhere too."""
        if isinstance(value, StagedList) and self._tracer.aliases.of(value):
            raise StructureError("a variable is one of several objects, as only the run knows", hint=DECIDE)
        if id(value) in self._tracer.detached or self._tracer.needs.of(value) is Need.STOPPED:
            raise StructureError("stop_gradient of a variable was set, which what follows may set back", hint="use y.detach()")
        if isinstance(value, Tensor) and value._kinds is not None:
            raise value._kinds.fail("what follows may depend on that")

    def _require_plain(self, value: Any) -> None:
        """An error for an object that each call would have to make anew, and for one that keeps tensors of the trace, of which the caller
        could make nothing."""
        lasting = id(value) in self._tracer.before or (isinstance(value, _LASTING) and id(value) not in self._tracer.created)
        if self._exact and not lasting:
            raise _made_once(value)
        self._require_no_tensors(value)
        self._tracer.state_made.note_kept(value)
        if self._holds_new(value):
            raise _made_once(value)

    def _require_no_tensors(self, value: Any) -> None:
        """StagedValueError for an object or a class that keeps tensors of the trace."""
        held = list(shells.kept_by(value, self._tracer.root, self._tracer.outer_variables, self._tracer.is_created_class))
        suspended = isinstance(value, (types.GeneratorType, Lazy, types.CoroutineType, types.AsyncGeneratorType))
        require_no_id(value, *held)
        if suspended or any(map(_is_of_the_run, held)):
            raise StagedValueError(
                f"{_called(value)} with tensors in it cannot be the result of a static function, or be kept by it",
                hint="return the tensors themselves, in a tuple, list, dict or dataclass",
            )

    def _holds_new(self, value: Any) -> bool:
        """Whether a function, method or class is made by the call, and holds what may change and is another one at each call: containers,
        iterators, variables that it assigns, classes."""
        if id(value) in self._tracer.before or not isinstance(value, _FUNCTIONS):
            return False
        others: dict[int, Any] = {}
        containers = list(containers_of(value, holders=others))
        changing = [*containers, *(x for x in others.values() if hasattr(type(x), "__next__"))]
        if any(id(x) in self._paths or not (x in self._tracer.root or id(x) in self._tracer.before) for x in changing):
            return True
        functions = [f for f in others.values() if isinstance(f, types.FunctionType) and self._tracer.is_inner(f)]
        self.functions.update((id(f), shells.Untouched(f)) for f in functions)
        return any(map(self._assigns_around, functions)) or any(
            isinstance(x, type) and self._tracer.is_created_class(x) for x in others.values()
        )

    def _assigns_around(self, f: types.FunctionType) -> bool:
        """Whether a function that is made by the call assigns variables of a function around it, which is called once more at each call."""
        outside = {id(cell) for g in self._tracer.functions.values() if not self._tracer.is_inner(g) for cell in g.__closure__ or ()}
        return any(isinstance(holder, types.CellType) and id(holder) not in outside for _, holder in assigned_outside(f, f.__code__))

    def _require_class(self, cls: type) -> None:
        """An error where an object that each call makes anew is of a class that only the trace makes: where Python that follows could
        change its attributes, or where these are tensors of the trace."""
        if self._tracer.is_created_class(cls):
            if self._exact:
                raise _made_once(cls)
            self._require_no_tensors(cls)

    def was_there(self, container: Any) -> bool:
        """Whether a container is one of the caller's, or of the outside."""
        return id(container) in self._paths or (container in self._tracer.root and not self._tracer.ends_with_the_call(container))


def _is_of_the_run(x: Any) -> bool:
    """Whether only the run knows a value."""
    return is_marked(x) or isinstance(x, (DynamicList, StagedDict)) or (isinstance(x, Tensor) and x.is_symbolic)


def _called(value: Any) -> str:
    return f"class {value.__name__!r}" if isinstance(value, type) else f"a {type(value).__name__}"


def _made_once(value: Any) -> StructureError:
    return StructureError(f"{_called(value)} that is made while tracing would be the same object at each call",
                          hint="make it outside of the static function")  # fmt: skip


def require_no_iterator(result: Recipe, before: Container[int]) -> None:
    """StructureError if the result is, or holds, an iterator that the call makes: at the next call it would be where the caller left it."""
    for part in walk(result):
        if isinstance(part, Constant) and hasattr(type(part.value), "__next__") and id(part.value) not in before:
            raise StructureError(
                f"an iterator ({type(part.value).__name__}) that a static function makes cannot be its result",
                hint="each call would return the same one: return a list, and iterate over it outside",
            )


def require_no_id(*values: Any) -> None:
    """StagedValueError if one of these is the `id()` of a tensor, or of a container among the arguments."""
    for x in filter(is_of_a_trace, values):
        raise StagedValueError(f"the id() of {called(x)} is another one while tracing: it cannot be a result, or be kept",
                               hint="keep the object itself, and compare with `is`")  # fmt: skip
