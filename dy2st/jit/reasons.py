"""Why there is a new trace: what of a call differs from those that the traces there are serve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..convert.pyfacts.safe_repr import shown
from ..convert.values.trees import Tree
from ..tensor.location import warn
from .signature import Arguments, Constant, Key, TensorKey

if TYPE_CHECKING:
    from .concrete import ConcreteProgram

LIMIT = 8
"""Values of an argument, or of something outside, with a trace each, after which a warning names it."""


@dataclass(frozen=True)
class Reason:
    """A sentence; what it says has another value now, None if it is nothing that has values; and an old value of that."""

    text: str
    cause: str | None = None
    value: Any = None

    def __str__(self) -> str:
        return self.text


FIRST = Reason("the first call")


def of_arguments(traces: Sequence[ConcreteProgram], arguments: Arguments) -> Reason:
    """How the key of a call differs from that of the trace that is most like it."""
    keys = [trace.key for trace in traces if trace.key is not None]
    if not keys:
        return FIRST
    key = arguments.key
    same = [k for k in keys if k.tree == key.tree]
    if not same:
        return Reason(_other_structure(keys[-1].tree, key.tree))
    names = arguments.names()
    nearest = min(reversed(same), key=lambda k: len(_differences(names, k, key)))
    differences = _differences(names, nearest, key)
    changed = [(name, a.value) for name, a, b in zip(names, nearest.leaves, key.leaves, strict=True)
               if a != b and isinstance(a, Constant) and isinstance(b, Constant)]  # fmt: skip
    text = "; ".join(differences)
    return Reason(text, f"argument {changed[0][0]!r}", changed[0][1]) if len(differences) == len(changed) == 1 else Reason(text)


def _differences(names: Sequence[str], old: Key, new: Key) -> list[str]:
    found = [
        f"argument {name!r} was {_leaf(a, b, names)}, is {_leaf(b, a, names)}"
        for name, a, b in zip(names, old.leaves, new.leaves, strict=True)
        if a != b and not (_only_gradients(a, b) and old.grad != new.grad)
    ]
    if old.grad != new.grad:
        found.append(f"gradients are {'' if new.grad else 'not '}recorded now")
    if old.default_dtype != new.default_dtype:
        found.append(f"the default dtype was {old.default_dtype}, is {new.default_dtype}")
    return found


def _only_gradients(a: Any, b: Any) -> bool:
    return isinstance(a, TensorKey) and isinstance(b, TensorKey) and (a.dtype, a.rank, a.alias) == (b.dtype, b.rank, b.alias)


def _leaf(key: TensorKey | Constant, other: TensorKey | Constant, names: Sequence[str]) -> str:
    if isinstance(key, Constant):
        return shown(key.value)
    text = f"a {key.dtype} tensor with {key.rank} dims"
    if isinstance(other, TensorKey):
        if key.stop_gradient != other.stop_gradient:
            text += f", stop_gradient={key.stop_gradient}"
        if key.alias != other.alias:
            text += f" that is {'not ' if key.alias < 0 else ''}argument {names[max(key.alias, other.alias)]!r}"
    return text


def _other_structure(old: Tree, new: Tree) -> str:
    """The first argument whose structure has changed."""
    for name, child in zip(new.keys, new.children, strict=True):
        before = old.children[old.keys.index(name)] if name in old.keys else None
        if before != child:
            return f"argument {name!r} was {_kind(before)}, is {_kind(child)}"
    return "the arguments have another structure"


def _kind(tree: Tree | None) -> str:
    if tree is None:
        return "not given"
    if tree.kind is None:
        return "one value"
    if tree.keys:
        return f"a {tree.kind.__name__} with {', '.join(map(str, tree.keys)) or 'nothing'}"
    return f"a {tree.kind.__name__} of {len(tree.children)}"


class Counter:
    """Counts the traces that each cause has made, and warns once of those that make one for each value."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def add(self, reason: Reason, function: str) -> None:
        if reason.cause is None:
            return
        count = self._counts[reason.cause] = self._counts.get(reason.cause, 0) + 1
        if count == LIMIT:
            advice = "a tensor in its place is one input for all values" if isinstance(reason.value, (int, float)) else "pass the same one"
            warn(
                f"{function} is traced and compiled anew for each value of {reason.cause} ({reason.text}; "
                f"{count + 1} traces so far): {advice}"
            )
