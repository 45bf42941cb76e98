"""Gradient rules of eager mode, worked out once.

Which ops a rule makes depends on the op, its attributes, and the shapes and dtypes of what it is given, never on values. So the first time
it runs, and the ops that it makes are noted; then these run on the arrays alone, without tensors, and without asking again what fits. The
rule stays the one definition: what is noted is what it did.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from dy2st_runtime import quiet
from dy2st_runtime.ops.custom import CustomOp
from dy2st_runtime.ops.registry import OpDef, results
from dy2st_runtime.ops.vjp import Recorder

from .tensor import Tensor

if TYPE_CHECKING:
    from .tape import OpNode

MOST = 4096
"""So many rules are kept, each for the types that it was given."""
_kept: dict[Any, Replay | None] = {}
"""None: of this rule what it makes cannot be noted."""
_MISSING: Any = object()
ndarray = np.ndarray
_NO_GRADIENT, _GIVEN, _MADE, _AGAIN = range(4)

Pick = Callable[[list[Any]], Sequence[Any]]
Gradients = list[Tensor | None]


class Noting(Recorder):
    """Makes ops with the builder of eager mode and remembers them."""

    def __init__(self, inner: Any):
        super().__init__(inner)
        self.constants: list[Tensor] = []

    def constant(self, value: float, dtype: str, shape: Sequence[int] = ()) -> Any:
        found = self.inner.constant(value, dtype) if not shape else super().constant(value, dtype, shape)
        if not shape:
            self.constants.append(found)
        return found


class Replay:
    """What a rule has made.

    Args:
        constants: follow the inputs, the outputs and the gradients of the outputs in the list of arrays that the steps pick from.
        steps: what computes, the operands that it picks, the attributes, and how many outputs it adds to the list.
        gradients: for each input whether there is a gradient, and where.
    """

    __slots__ = ("constants", "gradients", "steps")

    def __init__(self, constants: list[Any], steps: list[tuple[Any, Pick, dict[str, Any], int]], gradients: list[tuple[int, int]]):
        self.constants, self.steps, self.gradients = constants, steps, gradients

    def run(self, arrays: list[Any]) -> None:
        for function, pick, attrs, count in self.steps:
            out = function(pick(arrays), attrs)
            if count == 1 and type(out) is ndarray:
                arrays.append(out)
            else:
                arrays += results(out)


def gradients(node: OpNode, grads: Sequence[Tensor | None], needed: Sequence[bool]) -> Gradients | None:
    """The gradients of a node of the tape by its rule; None: they are not to be had this way."""
    try:
        key = _key(node, grads, needed)
        replay = _kept.get(key, _MISSING)
    except TypeError:  # an attribute that cannot be looked up
        return None
    if replay is None:
        return None
    if replay is _MISSING:
        note = Noting(node.builder)
        ins, outs, found = node.rule(note, grads, needed)
        if len(_kept) >= MOST:
            _kept.clear()
        _kept[key] = _replay(node.op, note, (*ins, *outs, *grads), found, len(ins) + len(outs), len(grads))
        return found
    assert node.values is not None
    assert node.results is not None
    arrays: list[Any] = [*node.values, *node.results]
    first = len(arrays)
    if replay.steps:
        for g in grads:
            arrays.append(None if g is None else g._value)
        arrays += replay.constants
        try:
            place = quiet.places.pop()
        except IndexError:
            place = quiet.new_place()
        try:
            place.run(replay.run, arrays)
        except Exception:
            return None  # it fails again by the rule, which says what and where
        finally:
            quiet.places.append(place)
    flat: Gradients = []
    for kind, at in replay.gradients:
        if kind == _MADE:
            flat.append(Tensor.wrap(arrays[at]))
        elif kind == _GIVEN:
            flat.append(grads[at - first])
        else:
            flat.append(None if kind == _NO_GRADIENT else flat[at])
    return flat


def _key(node: OpNode, grads: Sequence[Tensor | None], needed: Sequence[bool]) -> tuple[Any, ...]:
    """All that a rule sees but for values.

    Raises:
        TypeError: not all of it can be looked up.
    """
    op: Any = node.op
    key: list[Any] = [op, (*needed,), *(node.attrs.values() if _are_plain(op) else map(_frozen, node.attrs.values()))]
    add = key.append
    for value in node.values:  # type: ignore[union-attr]
        if type(value) is ndarray:
            add(value.shape)
            add(value.dtype)
        else:
            add(value is None)
    for value, g in zip(node.results, grads, strict=True):  # type: ignore[arg-type]
        if g is None:
            add(None if value is None else value.shape)
        else:
            gradient: Any = g._value
            add(gradient.shape)
            add(gradient.dtype)
    return tuple(key)


@functools.cache
def _are_plain(op: Any) -> bool:
    """Whether attributes of an op are no lists, which are no keys, and no floats, of which 0.0 is -0.0."""
    return all(attr.kind in ("INT", "LONG", "BOOLEAN", "STRING", "DTYPE") for attr in op.attrs.values())


def _frozen(value: Any) -> Any:
    """An attribute as a part of a key.

    Raises:
        TypeError: it is none.
    """
    kind = type(value)
    if kind is list:
        return tuple([_frozen(v) for v in value])
    return value.hex() if kind is float else value


def _replay(op: type[OpDef], note: Noting, given: Sequence[Any], found: Gradients, first: int, count: int) -> Replay | None:
    """What to do the next time, if it can be told from what was noted.

    Args:
        op: whose rule it is.
        given: the inputs, the outputs and their gradients.
        found: the gradients of the inputs.
        first, count: where the gradients of the outputs are among what was given.
    """
    if issubclass(op, CustomOp):
        return None  # its rule is code of the user's
    known = {id(t): at for at, t in enumerate(given) if isinstance(t, Tensor)}
    constants = [t for t in note.constants if id(t) not in known]
    known.update((id(t), len(given) + i) for i, t in enumerate(constants))
    nothing, no_list = len(given) + len(constants), len(given) + len(constants) + 1
    length, steps = no_list + 1, []
    for made, ins, outs, attrs in note.entries:
        places = [nothing if x is None else no_list if type(x) is list and not x else known.get(id(x), -1) for x in ins]
        if -1 in places or not _is_plain(made, outs):
            return None
        arrays = tuple([x._value if type(x) is Tensor else x for x in ins])
        if made.kernel_from and made.elements(arrays, attrs) >= made.kernel_from:
            return None  # by kernels, or not, as is then decided
        steps.append((made.settled(arrays, attrs), _picker(places), attrs, len(outs)))
        known.update((id(t), length + i) for i, t in enumerate(outs) if t is not None)
        length += len(outs)
    gradients: list[tuple[int, int]] = []
    for i, g in enumerate(found):
        at = -1 if g is None else known.get(id(g), -1)
        if g is None:
            gradients.append((_NO_GRADIENT, 0))
        elif at == -1 or len(given) <= at <= no_list:
            return None
        elif (before := next((j for j in range(i) if found[j] is g), None)) is not None:
            gradients.append((_AGAIN, before))
        else:
            gradients.append((_GIVEN if first <= at < first + count else _MADE, at))
    return Replay([*(t._value for t in constants), None, []], steps, gradients)


def _is_plain(op: type[OpDef], outs: Sequence[Any]) -> bool:
    """Whether an op makes arrays of arrays, and does nothing else."""
    if op.host or op.effect or op.inplace or issubclass(op, CustomOp):
        return False
    return all(t is None or type(t) is Tensor for t in outs)


def _picker(places: list[int]) -> Pick:
    if len(places) > 1:
        return operator.itemgetter(*places)
    if not places:
        return lambda arrays: ()
    (at,) = places
    return lambda arrays: (arrays[at],)
