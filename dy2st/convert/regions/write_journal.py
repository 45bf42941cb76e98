"""`Watcher`: which containers of the outside a traced function may change."""

from __future__ import annotations

import contextlib
import functools
import types
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import is_dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from dy2st_runtime.ir import Block, Variable

from ...tensor import Tensor
from ...transpiler import is_generated
from .. import hub, roles
from ..effects.cells import OuterVariable, assigned_outside, defaults_of, place_of
from ..effects.may_alias import is_inside
from ..effects.region_frames import Frame, value_before
from ..effects.snapshot import Snapshot
from ..guards.argument_identity import StandIns
from ..guards.places import AttributeVariable, slots_of
from ..guards.reach import Reach
from ..guards.special_methods import SpecialMethods
from ..guards.write_sets import Changeable
from ..pyfacts.attribute_liveness import Overwritten
from ..pyfacts.attribute_lookup import MISSING, dict_of
from ..pyfacts.conversions import conversion_of
from ..pyfacts.foreign import is_layer
from ..pyfacts.python_frames import variable_values
from ..pyfacts.tensor_attributes import OF_TENSORS
from ..values.containers import BUILT_IN, LEAVES, containers_of, copied, held_by, is_container, is_plain_object
from ..values.holders import is_holder, is_of_a_call, mapped, parts_of
from ..values.staged_dict import StagedDict

if TYPE_CHECKING:
    from ..trace.raised import Raised

ROLE = roles.BOOKKEEPING


@functools.cache
def _ours() -> frozenset[str]:
    """The names that converted code has besides the user's."""
    return frozenset(dir(hub.runtime))


def _held_by_all(containers: Iterable[Any]) -> Iterable[Any]:
    return (v for c in containers for v in held_by(c.copy() if isinstance(c, OuterVariable) else c))


def _place_given(x: Any, name: str) -> tuple[int, str]:
    """Identifies an attribute of a tensor or a class, in whatever way code comes to it."""
    return id(x if isinstance(x, type) else vars(x)), name


class Watcher:
    """Watches lists, dicts, attributes and variables, so that each branch and loop body can tell what it has changed of them.

    Attributes:
        frames: the branches and loop bodies that are being traced, from the outside in.
        root: the contents that what is outside of the function had at the begin.
        before: what there was before the function ran, as far as it is known, by id.
        originals: the tensors of the outside that are modified in place, each with the value that it had before, by id.
        of_the_caller: the ids of the containers among the arguments.
        functions, owners: the functions that were called, and the objects of which methods were called, by id.
        created: the objects that the functions have made by calling a class of the user's, by id.
        attributes: the objects whose attributes a dict is, by its id.
        uncertain_attributes: the objects that have an attribute in some runs only, by id and name.
        outer_variables: the variables outside of the functions, by place.
        encountered: the containers that values have led to, in this order.
        given_outside: what puts the old lists back into values of the outside that were given lists of dynamic length.
        methods: the bound methods of lists of dynamic length in the place of others, by id, each with the other one.
        iterators: those that values which were watched hold, by id.
        suspended: the generators that loops and `with` statements have begun.
        to_handle: what the run may raise for a handler that is to come.
        partial: the dicts that have some of their keys only in some runs, by the ids of what they consist of.
        inner_variables: those of the functions that a function inside one of them assigns, and the attributes of classes that these have
            made, by place.
    """

    replaced: dict[int, tuple[Any, Any]]

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.root = Snapshot()
        self.before: dict[int, Any] = {}
        self.originals: dict[int, tuple[Tensor, Any]] = {}
        self.of_the_caller: set[int] = set()
        self._owners_before: list[Any] = []
        self._found_before = False  # whether `before` has all that could be reached then
        self.functions: dict[int, Any] = {}
        self.owners: dict[int, Any] = {}
        self.created: dict[int, tuple[Any, list[Frame]]] = {}
        self.attributes: dict[int, Any] = {}
        self.uncertain_attributes: dict[tuple[int, str], Any] = {}
        self.outer_variables: dict[tuple, OuterVariable] = {}
        self.inner_variables: dict[tuple, OuterVariable] = {}
        self._notes: list[list[tuple[OuterVariable, Any]]] = []
        self.given_outside: list[Callable[[], None]] = []
        self.methods: dict[int, tuple[Any, Any]] = {}
        self.iterators: dict[int, Any] = {}
        self.suspended: weakref.WeakSet[Any] = weakref.WeakSet()
        self.to_handle: list[Raised] = []
        self.partial: dict[int, StagedDict] = {}
        self.reach = Reach()
        self._changeable = Changeable(self.reach)
        self.special = SpecialMethods()
        self.overwritten = Overwritten()
        self.stand_ins = StandIns()
        self._converted = 0  # how many of what is reached have had their classes converted
        self._containers: dict[int, Any] = {}
        self.encountered: list[Any] = []
        self._forgotten: list[Any] = []  # kept, as its ids must not be those of others
        self._classes: dict[int, type] = {}
        self._arguments: dict[int, AttributeVariable] = {}
        self._given: dict[tuple[int, str], AttributeVariable] = {}
        self._of_made: set[int] = set()  # of these, what was first encountered in an object that a function has created

    def watch(self, *values: Any) -> None:
        """Lets branches and loops that are traced from now on see changes of containers: lists, dicts, attributes."""
        holders: dict[int, Any] = {}
        for container in containers_of(*values, attributes=self.attributes, holders=holders):
            self._meet(container)
        self.iterators.update((key, x) for key, x in holders.items() if hasattr(type(x), "__next__"))
        # what is first met in a block that is being traced is as new as that is
        new = {key: x for key, x in holders.items() if key not in self._classes and isinstance(x, type) and self._is_created(x)}
        self._classes.update(new)
        self._watch_attributes_of(new.values(), ())
        if self.reach.given:
            for f in holders.values():
                if isinstance(f, types.FunctionType):
                    self._watch_new_attributes_of(f)

    def _meet(self, container: Any) -> None:
        if id(container) not in self._containers:
            self._containers[id(container)] = container
            self.encountered.append(container)

    def forget(self, known: int) -> None:
        """What values have led to since `encountered` was of this length is watched no longer, unless a block that has begun before,
        or the root, has it too. What somebody still holds is met again; most has ended with the block, and each branch would look at
        it for ever."""
        encountered = [c for c in self.encountered[known:] if c not in self.root]
        del self.encountered[known:]
        for c in encountered:
            if any(c in frame.containers for frame in self.frames):
                self.encountered.append(c)
            else:
                self._forgotten.append(self._containers.pop(id(c)))
                if isinstance(c, AttributeVariable):
                    self._given.pop(_place_given(c.holder, c.name), None)

    def _watch_new_attributes_of(self, function: types.FunctionType) -> None:
        """Of a function that has no attributes yet."""
        conversion_of(function)  # which is one of those that do not count, and is to be there before
        self._meet(function.__dict__)
        self.attributes.setdefault(id(function.__dict__), function)

    def is_created_class(self, cls: type) -> bool:
        """Whether a class is one that the functions have made: neither it nor an object of it was there before."""
        return is_of_a_call(cls) and id(cls) not in self._classes_before

    @functools.cached_property
    def _classes_before(self) -> set[int]:
        self.was_before(self)  # finds all that was there
        known = (*self.before.values(), *self._owners_before)
        return {id(c) for cls in {id(k): k for x in known for k in (x if isinstance(x, type) else type(x),)}.values() for c in cls.__mro__}

    def _is_created(self, cls: type) -> bool:
        """Whether a class ends with the call, as a function has made it."""
        return is_of_a_call(cls) and id(cls) not in self.reach.objects

    def _watch_attributes_of(self, classes: Iterable[type], frames: Iterable[Frame] | None = None) -> None:
        """What functions may change of classes that end with the call."""
        for variable in (v for cls in classes for v in self._changeable.of_class(cls, self.reach.changed)):
            self._watch_inner(variable, frames)

    def watch_attribute(self, cls: type, name: str) -> None:
        """An attribute of a class is about to change, for the first time it may be."""
        variable = AttributeVariable(name, cls)
        if not self._is_created(cls):
            self.watch_variable(variable)
        else:
            self._watch_inner(variable)

    def _watch_inner(self, variable: OuterVariable, frames: Iterable[Frame] | None = None) -> None:
        """A variable lives as long as the call; unless it is known as one of the outside. It must not be two cells: a loop would give both
        a value, and find the first one changed."""
        place = place_of(variable, variable.name)
        if place not in self.outer_variables and self.inner_variables.setdefault(place, variable) is variable:
            self._note(variable)
            self._add_inside([variable], frames)

    @contextlib.contextmanager
    def noting(self) -> Iterator[list[tuple[OuterVariable, Any]]]:
        """The variables that come to be watched in the body, as functions are called that assign them, with what they held before."""
        found: list[tuple[OuterVariable, Any]] = []
        self._notes.append(found)
        try:
            yield found
        finally:
            self._notes.pop()

    def _note(self, variable: OuterVariable) -> None:
        for notes in self._notes:
            notes.append((variable, variable.now()))

    def watch_locals(self) -> None:
        """`watch` for all lists, dicts and plain objects that variables of the traced functions, and what is watched, hold now."""
        held = (v for v in variable_values() if type(v) not in LEAVES)
        self.watch(*(v for v in held if is_container(v) or is_holder(v) or is_plain_object(v)))
        # a list or an object that has been made since, and put into an attribute of a layer or a variable outside
        watched = [c for c in self._containers.values() if type(c) not in BUILT_IN or c]
        contents = (c.copy() if type(c) not in BUILT_IN and isinstance(c, OuterVariable) else c for c in watched)
        inside = (v for c in contents for v in held_by(c) if type(v) not in LEAVES and id(v) not in self._containers)
        new = [v for v in inside if is_container(v) or is_holder(v) or is_dataclass(type(v)) or id(v) in self.created]
        self.watch(*new)

    def begin(self, *arguments: Any) -> None:
        """The function is about to run: what there is now is no object of the trace, and neither are those of the caller's."""
        given = (x for x in arguments if type(x) not in LEAVES)  # a number is the same wherever it is
        self.before = {id(x): x for x in (*self.reach.objects.values(), *self.containers, *self.owners.values(), *given)}
        self.reach.before = self.before
        self._owners_before = [*self.attributes.values()]

    def meet_outside(self, *values: Any) -> None:
        """Values are found outside that nobody has known of: they were there before the function ran, unless it has made them."""
        known = len(self.reach.objects)
        self.watch_reached(*(x for x in values if type(x) not in LEAVES))
        new = [x for x in islice(self.reach.objects.values(), known, None) if id(x) not in self.created and id(x) not in self._containers]
        new += [attributes for x in new if (attributes := dict_of(x)) is not None]
        self.before = {**self.before, **{id(x): x for x in new}}
        self.reach.before = self.before

    def is_inner(self, function: types.FunctionType) -> bool:
        """Whether a function is made by what is traced, and so ends with the call. One that an earlier trace has left behind is converted
        too, but one of the outside."""
        return is_generated(function.__code__) and id(function) not in self.before

    def watch_holders(self) -> Collection[Any]:
        """What holds others now and is no container: closures, say. What these hold is watched from now on."""
        found: dict[int, Any] = {}
        contents = _held_by_all(self.containers)
        functions = (*self.reach.functions.values(), *self.functions.values())
        containers = containers_of(*variable_values(), *contents, *functions, *self.suspended, holders=found)
        self._add_inside([c for c in containers if id(c) not in self._containers])
        # the containers of these are watched when a handler begins: before that they are of blocks that may have ended
        containers_of(*(x for r in self.to_handle for x in (r.error, *r.held())), holders=found)
        return found.values()

    def reachable(self) -> list[Any]:
        """What variables of the traced functions, and of those around them, hold now."""
        return [*variable_values(), *(v for o in self.outer_variables.values() for v in o.values())]

    def readable(self) -> list[Any]:
        """What the places outside hold now that the functions may read, and the defaults of their arguments."""
        found = [value for place in self.reach.places.values() if not place.is_computed and (value := place.now()) is not MISSING]
        return [*found, *(x for f in self.functions.values() for x in defaults_of(f))]

    def held_outside(self) -> list[Any]:
        """What the containers of the outside hold now; and the objects that the functions have made, which may hold the same."""
        return [*self.put_outside(), *(x for x, _ in self.created.values())]

    def put_outside(self) -> Iterable[Any]:
        """What the containers of the outside hold now."""
        return _held_by_all(self.root)

    def own(self, owner: Any) -> None:
        """A method of this object is called: its attributes are state, also for what is being traced already."""
        if isinstance(owner, tuple) and not self.was_before(owner):
            owner = type(owner)  # it has no state itself; what is read of its class counts
        if id(owner) in self.owners:
            return
        found = list(containers_of(owner, attributes=self.attributes))
        self.owners[id(owner)] = owner
        if id(owner) in self.created:
            # its attributes end with the call, and so does what it holds that nobody has seen yet; what is read of its class counts
            _, around = self.created[id(owner)]
            new, own = [c for c in found if id(c) not in self._containers], getattr(owner, "__dict__", None)
            self._of_made.update(map(id, new))
            created = [c for c in new if c is own or not self.was_before(c)]
            self._add_inside(created, [f for f in self.frames if all(f is not g for g in around)])
        self._add_reached(found)
        self.watch_reached(type(owner) if id(owner) in self.created else owner)

    def ends_with_the_call(self, container: Any) -> bool:
        """Whether only objects that the functions have made hold a container: the next call does not find it."""
        key = id(container)
        return key in self._of_made and key not in self.reach.objects and key not in self.reach.dicts

    def make(self, new: Any) -> None:
        """An object is made by what is being traced: what becomes of it is no matter of the next call."""
        if id(new) not in self.created:
            self.created[id(new)] = new, list(self.frames)
            self._containers.update((id(v), v) for v in slots_of(new))  # what its slots hold, to branches that begin later

    def watch_arguments(self, error: BaseException) -> None:
        """The `args` of an exception that is being made, which its `__init__` may set in a branch."""
        if id(error) not in self._arguments:
            self._arguments[id(error)] = variable = AttributeVariable("args", error)
            self._containers[id(variable)] = variable

    def give_classes(self, values: Iterable[Any]) -> None:
        """The same of classes of libraries among the arguments of a function that is called."""
        for x in values:
            if isinstance(x, type) and self.reach.is_foreign_class(x):
                for name in self.reach.given:
                    self.give_attribute(x, name)

    def about_to_change(self, t: Tensor, name: str) -> None:
        """An attribute of a tensor is set or deleted: by code of the user's, if one of the functions names it."""
        if name in self.reach.given:
            self.give_attribute(t, name)

    def give_attribute(self, x: Any, name: str) -> None:
        """An attribute of a tensor, or of a class of a library, is about to change, for the first time it may be."""
        place = _place_given(x, name)
        created = self._block_of(x) if isinstance(x, Tensor) else None
        is_known = isinstance(x, Tensor) and created is None and name in vars(x)  # which is state as one of the outside
        if name in OF_TENSORS or is_known or place in self._given or place in self.outer_variables:
            return
        self._given[place] = variable = AttributeVariable(name, x)
        self._meet(variable)
        if created is None:
            self.root.add([variable])
        for frame in self.frames:
            if created is None or not is_inside(created, frame.block):
                frame.containers.add([variable])

    def _block_of(self, t: Tensor) -> Block | None:
        """The block in which a tensor was made, which may have been modified in others since; None if it is one of the outside."""
        if id(t) in self.originals:
            return None
        value = value_before(self.frames, t)
        return value.block if isinstance(value, Variable) else None

    def enter(self, function: Any, converted: Any, owner: Any = None) -> None:
        """A function of the user is called, maybe as a method of an object: the variables outside of it that it, as it is `converted`,
        assigns are state."""
        self.overwritten.enter(function, owner, always=not self.frames)
        if id(function) in self.functions:
            return
        self.functions[id(function)] = function
        if self.is_inner(function):
            # one inside a converted function: what it assigns there lives as long as the call, and so do its default arguments
            found = [c for c in containers_of(*defaults_of(function), attributes=self.attributes) if id(c) not in self._containers]
            # what nobody has seen when the blocks began that are being traced is as new as they are
            self._add_inside([c for c in found if not self.was_before(c)], ())
            self._add_inside([c for c in found if id(c) not in self._containers])
            for name, holder in assigned_outside(function, function.__code__):
                self._watch_inner(OuterVariable(name, holder))
            return
        for name, holder in assigned_outside(function, converted.__code__):
            self.watch_variable(OuterVariable(name, holder))
        self.reach.add_code(function, converted.__code__, _ours())
        self.watch_reached(function)

    def watch_reached(self, *values: Any) -> None:
        """What the functions called so far may change of what can be reached from these values is state."""
        owned = len(self.reach.owners)
        self.reach.add(*values)
        if not self.reach.given <= OF_TENSORS:
            self.special.tell(Tensor)
        for x in list(islice(self.reach.objects.values(), self._converted, None)):
            self.special.convert(x if isinstance(x, type) else type(x))
        self._converted = len(self.reach.objects)
        containers, variables = self._changeable.new()
        self.attributes.update(islice(self.reach.owners.items(), owned, None))
        self._add_reached(containers)
        for variable in variables:
            self.watch_variable(variable)
        self._watch_attributes_of(self._classes.values())  # code that comes may change others of them

    def about_to_be_called(self, container: Any) -> None:
        """A built-in method of a container is called, by whatever name code has found it: what it changes is state."""
        if not self.reach.items and container not in self.root and self.was_before(container):
            self._add_reached([container])

    def _add_reached(self, containers: Iterable[Any]) -> None:
        """`_add` for those that are not watched. One of the outside that was watched before is state from now on too."""
        found = list(containers)
        for c in found:
            if id(c) in self._containers and c not in self.root and self.was_before(c):
                self.root.add([c], [self._at_begin(c)])
        self._add([c for c in found if id(c) not in self._containers])

    def know_outside(self, container: Any) -> None:
        """A container is about to change: if it is one of the outside that a block has met first, it is older than all blocks."""
        if self.frames and container not in self.frames[-1].containers and self.was_before(container):
            contents = self._at_begin(container)
            for known in (self.root, *(f.containers for f in self.frames)):
                if container not in known:
                    known.add([container], [contents])

    def was_before(self, container: Any) -> bool:
        """Whether a container was there before the function ran."""
        if not self._found_before:
            self._found_before = True
            self.before = {**self.before, **self._reachable_at_begin(self.before.values())}
        return id(container) in self.before

    def note_before(self, values: Iterable[Any]) -> dict[int, Any]:
        """Values of the outside were there before the function ran; with them all that they led to then, by id."""
        found = self._reachable_at_begin(values)
        self.before = {**self.before, **found}
        return found

    def _reachable_at_begin(self, values: Iterable[Any]) -> dict[int, Any]:
        """All that values of the outside led to before the function ran."""
        found: dict[int, Any] = {}
        left = list(values)
        while left:
            x = left.pop()
            if type(x) in LEAVES or id(x) in found:
                continue
            found[id(x)] = x
            if is_container(x):
                left += held_by(self._at_begin(x))
            else:
                left += parts_of(x) or ()
            own = getattr(x, "__dict__", None)
            if isinstance(own, dict) and (is_container(x) or is_plain_object(x) or is_layer(x)):
                left.append(own)
            if is_plain_object(x):
                left += (v for slot in slots_of(x) for v in slot.values())
        return found

    def _at_begin(self, container: Any) -> Any:
        """The contents that a container had when it was first watched, in the root or a block; it has not changed before."""
        known = next((s for s in (self.root, *(f.containers for f in self.frames)) if container in s), None)
        return copied(container) if known is None else known.saved(container)

    def watch_holder(self, holder: Any) -> None:
        """A dict (or variable) whose entry becomes an input is state from the beginning."""
        if isinstance(holder, OuterVariable):
            self.watch_variable(holder)
        elif id(holder) not in self._containers:
            self._add([holder])

    def watch_variable(self, variable: OuterVariable) -> None:
        """A variable outside of the functions is state."""
        place = place_of(variable, variable.name)
        if place in self.outer_variables or place in self._given:
            return
        known = self.inner_variables.pop(place, None)
        self.outer_variables[place] = variable if known is None else known
        if known is None:
            self._note(variable)
            now = variable.now()
            # a list of Python's that has become one of dynamic length is what was there at the beginning
            before = mapped(now, self._of_python)
            self.root.add([variable], [] if before is now else [{variable.name: before}])
            self._add_inside([variable])
        else:  # it was met as one of the call before
            self.root.add([known], [self._at_begin(known)])

    def _of_python(self, x: Any) -> Any:
        return next((items for items, staged in self.replaced.values() if staged is x), x)

    def _add(self, new: list[Any]) -> None:
        """Watches containers that were not changed yet, also for what is being traced already."""
        self.root.add(new)
        self._add_inside(new)

    def _add_inside(self, new: list[Any], frames: Iterable[Frame] | None = None) -> None:
        """`_add` for what no call leaves behind; `frames`: those that have begun since it is there (all, if not given)."""
        self._containers.update((id(c), c) for c in new)
        for frame in self.frames if frames is None else frames:
            frame.containers.add(new)

    @property
    def watched(self) -> Collection[int]:
        """The ids of the containers that are watched."""
        return self._containers.keys()

    @property
    def containers(self) -> Iterable[Any]:
        """All containers that are watched."""
        return self._containers.values()
