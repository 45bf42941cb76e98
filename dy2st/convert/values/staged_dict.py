"""`StagedDict`: a dict that has some of its keys only in some runs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NoReturn

from ...errors import StagedValueError
from ...tensor.location import user_location
from .. import hub
from ..hub import need_tracer
from ..pyfacts.undefined import Undefined
from .maybe_none import require_key
from .one_of import OneOf, choose

_NOTHING = object()
CLASSES = (dict, defaultdict, Counter)
"""The classes of which such a dict can be."""


class StagedDict:
    """A dict whose keys are known, but not which of them it has.

    Like a list of dynamic length it takes the place of a dict of Python, and has its identity. What it consists of are dicts of Python
    themselves, which branches and loops know how to carry.

    Attributes:
        values_of: the values of the keys that it may have; nothing for one that it surely has not.
        has: for each key, a bool or a bool that only the run knows: whether it has it.
        since: for each key, a count of the keys that had come before when it came: their order.
        clock: the count, under its own name.
        ordered: whether the order of `has` is that in which the keys have come, in all runs.
        kind: the class that it is of to the user.
        factory: of a `defaultdict` what makes the value of a key that is asked for and not there.
        turns: the keys at which loops over it are, each with what `has` said of it then: in the body it is there.
    """

    __slots__ = ("clock", "factory", "has", "kind", "ordered", "since", "turns", "values_of")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, items: dict, keys: Iterable[Any] = ()):
        self.kind, self.factory = type(items), getattr(items, "default_factory", None)
        self.values_of = dict(items)
        self.has: dict[Any, Any] = dict.fromkeys(items, True)
        self.since: dict[Any, Any] = {key: i for i, key in enumerate(items)}
        self.clock: dict[str, Any] = {"the keys that a dict has had": len(items)}
        self.ordered = True
        self.turns: dict[Any, Any] = {}
        self.declare(keys)
        tracer = _tracer()
        tracer.watch(*self.parts)
        tracer.partial.update((id(part), self) for part in self.parts)

    @property
    def parts(self) -> tuple[dict, ...]:
        """What it consists of."""
        return self.values_of, self.has, self.since, self.clock

    @property
    def empty(self) -> Callable[[], dict]:
        """What makes one of its class with nothing in it."""
        return partial(defaultdict, self.factory) if self.kind is defaultdict else self.kind

    def declare(self, keys: Iterable[Any]) -> None:
        """It may get these keys."""
        for key in keys:
            if key not in self.has:
                self.has[key], self.since[key] = False, 0

    # ---- reading ----
    def contains(self, key: Any) -> Any:
        """`key in d`."""
        known = self._known(key)
        return True if known is not False and self.turns.get(key) is self.has[key] else known

    def _known(self, key: Any) -> Any:
        """Whether it has a key, on the path that is traced."""
        require_key(key)
        if key not in self.values_of:  # also where a handler has but the flag of it, from several runs
            return False
        known = self.has[key]
        found = _tracer().facts.of(known)
        return known if found is None else found

    def __getitem__(self, key: Any) -> Any:
        if self.factory is not None:
            self._fill(key, self._default)
        return self.get(key, 0) if self.kind is Counter else self._at(key)

    def _at(self, key: Any) -> Any:
        """The value of a key, if it has it; else the KeyError."""
        if isinstance(key, OneOf):
            return choose(key, self._at, plain=True)
        self._require(key)
        return self.values_of[key]

    def _default(self) -> Any:
        """The value of a key that is asked for and not there."""
        return hub.call(self.factory)()

    def _fill(self, key: Any, value: Callable[[], Any]) -> None:
        """It gets a key where it does not have it: before the value is read, so that what changes that changes what is in it."""
        if isinstance(key, OneOf):
            choose(key, lambda one: self._fill(one, value))
            return
        hub.if_expr(self.contains(key), lambda: None, lambda: self.__setitem__(key, value()))

    def _require(self, key: Any) -> None:
        """KeyError where it does not have a key: now, or in the run."""
        known = self.contains(key)
        if known is False:
            raise KeyError(key)
        if known is not True:
            hub.raise_where(hub.not_(known), KeyError(key))

    def get(self, key: Any, default: Any = None) -> Any:
        if isinstance(key, OneOf):
            return choose(key, lambda one: self.get(one, default))
        return hub.if_expr(self.contains(key), lambda: self.values_of[key], lambda: default)

    def length(self) -> Any:
        """The number of keys, an int or one that only the run knows."""
        return sum((hub.BUILTINS[int](known) for known in self.has.values()), 0)

    def keys(self) -> StagedView:
        return StagedView(self, "keys", lambda key: key)

    def values(self) -> StagedView:
        return StagedView(self, "values", lambda key: self.values_of[key])

    def items(self) -> StagedView:
        return StagedView(self, "items", lambda key: (key, self.values_of[key]))

    def each(self, item: Any) -> Any:
        """A generator over the keys that it has, in their order."""
        self.require_order()
        return hub.generator(self._in_turn(), item, self._known)

    def _in_turn(self) -> Iterator[Any]:
        """All keys. A loop may give other values to them, but no key may come or go."""
        before = dict(self.has)
        for key, known in before.items():
            self.turns[key] = known
            try:
                yield key
            finally:
                self.turns.pop(key, None)
            if any(known is not before.get(k) for k, known in self.has.items()):
                raise StagedValueError(
                    "a dict that has some of its keys only in some runs gets or loses keys while a loop runs over it",
                    location=user_location(), hint="collect what is to change, and change it after the loop",
                )  # fmt: skip

    def require_order(self) -> None:
        """StagedValueError if only the run knows in which order the keys have come."""
        if not self.ordered:
            raise StagedValueError(
                "in which order a dict has got its keys depends on a tensor; it cannot be iterated over", location=user_location(2),
                hint="ask for its keys one by one, or give it all keys before, with None say",
            )  # fmt: skip

    def copy(self, empty: Callable[[], dict] | None = None) -> StagedDict:
        """A copy, also of another class."""
        new = StagedDict((empty or self.empty)())
        for part, mine in zip(new.parts, self.parts, strict=True):
            part.update(mine)
        new.ordered = self.ordered
        return new

    # ---- changing ----
    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, OneOf):
            choose(key, lambda one: self.__setitem__(one, value))
            return
        known = self.contains(key)
        if known is not True:
            later = list(self.has)[list(self.has).index(key) + 1 :] if key in self.has else ()
            self.ordered = self.ordered and all(self.has[other] is False for other in later)
            (name,) = self.clock
            now = self.clock[name]
            self.since[key] = now if known is False else self.since[key] * known + now * (1 - known)
            self.has[key] = True
            self.clock[name] = now + 1
        self.values_of[key] = value

    def __delitem__(self, key: Any) -> None:
        if self.kind is not Counter:  # which takes one that it does not have
            self._require(key)
        self._lose(key)

    def _lose(self, key: Any) -> None:
        if key in self.has:
            self.has[key] = False
            self.values_of.pop(key, None)

    def pop(self, key: Any, default: Any = _NOTHING) -> Any:
        if default is _NOTHING:
            value = self._at(key)
        else:
            value = self.get(key, default)
        self._lose(key)
        return value

    def popitem(self) -> tuple[Any, Any]:
        self.require_order()
        here = [key for key in self.has if self._known(key) is not False]
        if not here:
            raise KeyError("popitem(): dictionary is empty")
        if self._known(here[-1]) is not True:
            self._refuse("popitem()")
        return here[-1], self.pop(here[-1])

    def setdefault(self, key: Any, default: Any = None) -> Any:
        self._fill(key, lambda: default)
        return self._at(key)

    def update(self, other: Any = (), **more: Any) -> None:
        if self.kind is Counter:
            self._count(other, more)
            return
        if isinstance(other, StagedDict):
            other.require_order()
            for key in other.has:
                hub.if_expr(other.contains(key), partial(self._take, other, key), lambda: None)
            other = ()
        for key, value in dict(other, **more).items():
            self[key] = value

    def _count(self, other: Any, more: dict[str, Any]) -> None:
        """`Counter.update`, which adds."""
        if isinstance(other, StagedDict):
            self._refuse("update() of a Counter by what has its keys only in some runs")
        for key, n in Counter(other, **more).items():
            self[key] = self[key] + n

    def _take(self, other: StagedDict, key: Any) -> None:
        self[key] = other.values_of[key]

    def clear(self) -> None:
        for key in self.has:
            self._lose(key)

    def put_back(self, key: Any, value: Any) -> None:
        """A key gets the value that the dict of Python, in whose place it is, had under it at some moment."""
        if isinstance(value, Undefined):
            self._lose(key)
        else:
            self.values_of[key], self.has[key] = value, True

    def put_in_order(self, keys: Sequence[Any]) -> None:
        """The keys have come in this order, and others that it has behind them."""
        keys = [*keys, *(key for key in self.has if key not in keys and self._known(key) is not False)]
        self.since.update((key, i) for i, key in enumerate(keys))
        (name,) = self.clock
        self.clock[name] = len(keys)
        self.ordered = self.ordered and [key for key in self.has if key in keys] == keys

    # ---- what is not supported ----
    def _refuse(self, what: str) -> NoReturn:
        raise StagedValueError(
            f"{what} of a dict that has some of its keys only in some runs, as a condition on tensors decides, is not supported",
            location=user_location(3), hint="give it all keys before the condition, with None say, or ask for them one by one",
        )  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(self.kind, name):
            raise AttributeError(f"{self.kind.__name__!r} object has no attribute {name!r}")
        self._refuse(f"{name}()")


class StagedView:
    """What the `keys`, `values` or `items` of such a dict give: what is in it whenever they are asked."""

    __slots__ = ("item", "name", "of")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, of: StagedDict, name: str, item: Callable[[Any], Any]):
        self.of, self.name, self.item = of, name, item

    def each(self) -> Any:
        """A generator over its parts."""
        return self.of.each(self.item)

    def length(self) -> Any:
        return self.of.length()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.each())

    def __eq__(self, other: object) -> NoReturn:
        self.of._refuse(f"a comparison of {self.name}()")


def _refusing(what: str) -> Any:
    def refuse(self: StagedDict, *args: Any) -> NoReturn:
        self._refuse(what)

    return refuse


for _name, _what in {
    "bool": "the truth", "len": "len() here", "iter": "iterating here", "contains": "`in` here", "eq": "a comparison", "ne": "a comparison",
    "or": "`|`", "ror": "`|`", "ior": "`|=`", "str": "the text", "repr": "the text", "format": "the text", "reversed": "reversed()",
}.items():  # fmt: skip
    setattr(StagedDict, f"__{_name}__", _refusing(_what))


def _tracer() -> Any:
    return need_tracer("a dict")
