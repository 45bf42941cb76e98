"""What a program can reach besides its tensors: arguments, globals, variables around it, attributes; to be compared and brought back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from dy2st.tensor import Parameter, Tensor
from dy2st.tensor.twins import tie

from . import world


@dataclass(frozen=True)
class Place:
    """Where an object is held; `put` is None where nobody but the caller can put another one (an argument)."""

    get: Callable[[], Any]
    put: Callable[[Any], None] | None = None


class State:
    """The objects at some places, by name, and all that is in their lists, dicts and objects of `world`."""

    def __init__(self, places: dict[str, Place]):
        self.places = places

    def values(self) -> dict[str, Any]:
        """All values by their path: of containers the kind and keys; and which path leads to the same container or tensor, or may lead
        to it, as a recursive function did not tell (an in-place change is an error then)."""
        found: dict[str, Any] = {}
        tied: dict[int, list[str]] = {}
        for path, x, twin in self._walk():
            inside = contents(x)
            found[path] = value(x) if inside is None else f"{type(x).__name__} of {[*inside]}"
            if twin:
                found[f"{path} is"] = twin
            for group in x._ties if isinstance(x, Tensor) else ():
                if group.counts(x):
                    found[f"{path} may be"] = [*found.get(f"{path} may be", ()), *tied.get(id(group), ())]
                    tied.setdefault(id(group), []).append(path)
        return found

    def tensors(self) -> list[Tensor]:
        """The tensors in order."""
        return [x for _, x, _ in self._walk() if isinstance(x, Tensor)]

    def saved(self) -> Callable[[], None]:
        """What brings all back to what it is now: the same objects with the same contents."""
        objects = {name: place.get() for name, place in self.places.items()}
        containers = [(x, contents(x)) for _, x, twin in self._walk() if contents(x) is not None and not twin]
        values = [(t, t._value) for t in self.tensors()]

        def restore() -> None:
            for x, inside in containers:
                fill(x, inside)
            # also what is what it was: an attribute that was made a parameter has gone with the parameters
            for name, place in self.places.items():
                if place.put is not None:
                    place.put(objects[name])
            for t, v in values:
                t._value = v

        return restore

    def settle(self) -> None:
        """Cuts the tensors off from the graph of this call; what is one tensor, or may be one, stays so."""
        known: dict[int, tuple[Any, Any]] = {}
        groups = {id(group): group for t in self.tensors() for group in t._ties}

        def once(x: Any) -> Any:
            return known.setdefault(id(x), (x, cut(x)))[1]

        for place in self.places.values():
            if isinstance(x := place.get(), Tensor) and place.put is not None:
                place.put(once(x))
        for _, x, twin in [*self._walk()]:
            inside = contents(x)
            if inside is not None and not twin and not isinstance(x, tuple):
                fill(x, {k: once(v) for k, v in inside.items()})
            if isinstance(x, Tensor):
                x.clear_grad()
        for group in groups.values():
            members = [t for r in (group.first, *group.others) if (t := r()) is not None]
            if any(known.get(id(t), (t, t))[1] is not t for t in members):
                tie([known.get(id(t), (t, t))[1] for t in members])

    def _walk(self) -> Iterator[tuple[str, Any, str]]:
        """Path, object, and the first path to it if there was one before."""
        seen: dict[int, str] = {}
        left = [(name, place.get()) for name, place in reversed(self.places.items())]
        while left:
            path, x = left.pop()
            inside = contents(x)
            is_object = isinstance(x, Tensor) or (inside is not None and not isinstance(x, tuple))
            twin = seen.setdefault(id(x), path) if is_object else path
            yield path, x, twin if twin != path else ""
            if inside is not None and twin == path:
                left += [(f"{path}[{k!r}]", v) for k, v in reversed(inside.items())]


def contents(x: Any) -> dict[Any, Any] | None:
    """What is in a container; None if it is none."""
    if isinstance(x, (list, tuple)):
        return dict(enumerate(x))
    if isinstance(x, dict):
        return dict(x)
    return dict(vars(x)) if isinstance(x, (world.Box, world.Record)) else None


def fill(x: Any, inside: dict[Any, Any] | None) -> None:
    """Makes these the contents of a container that can be changed."""
    assert inside is not None
    if isinstance(x, list):
        x[:] = inside.values()
    elif not isinstance(x, tuple):
        target = x if isinstance(x, dict) else vars(x)
        target.clear()
        target.update(inside)


def cut(x: Any) -> Any:
    """A tensor without its graph; anything else as it is."""
    return x.detach() if isinstance(x, Tensor) and not x.stop_gradient and not isinstance(x, Parameter) else x


def value(x: Any) -> Any:
    return x.numpy() if isinstance(x, Tensor) else x
