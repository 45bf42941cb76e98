"""`OpBuilder`: what gradient rules and passes write ops with, eager or static.

A subclass says how an op is applied (`apply`); everything else is written in terms of it.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import AttributeValueError
from . import registry


class _Form:
    """How the arguments of a call of an op are taken apart. That depends on their number and names only, so it is found once for all calls
    that are alike in this.

    Attributes:
        op: the record.
        constant: the attributes of the call where none is given and none is a list; else None.
        attributes: makes the attributes of the call complete.
        pick: gives the values of the first input slots where these are all that is given, and none of them may be absent; else None.
        lists: which of these take lists, of which an op has its own.
        rest: the values of the other slots, which are absent.
        only: `only_output` of the record.
    """

    __slots__ = ("_slots", "attributes", "constant", "lists", "only", "op", "pick", "rest")

    def __init__(self, op: type[registry.OpDef], names: Sequence[str]):
        self.op = op
        self._slots = [(slot.name if slot.name in names else None, slot.many, slot.optional) for slot in op.input_slots]
        for slot in op.input_slots:
            if not (slot.name in names or slot.optional or slot.many):
                raise AttributeValueError(f"{op.type}: input {slot.name} is missing")
        completion = op.completion(tuple([name for name in names if name not in op.input_names]))
        self.constant, self.attributes, self.only = completion.constant, completion.complete, op.only_output
        given = tuple([slot for slot in op.input_slots if slot.name in names])
        simple = bool(given) and given == op.input_slots[: len(given)] and not any(slot.optional for slot in given)
        self.pick = _picker([slot.name for slot in given]) if simple else None
        self.lists = [i for i, slot in enumerate(given) if slot.many]
        self.rest: tuple[Any, ...] = tuple([[] if slot.many else None for slot in op.input_slots[len(given) :]])

    def inputs(self, given: dict[str, Any]) -> tuple[Any, ...]:
        """The values of the input slots, in their order."""
        found = []
        for name, many, optional in self._slots:
            value = None if name is None else given[name]
            if many:
                value = list(value) if value else []
            elif value is None and not optional:
                raise AttributeValueError(f"{self.op.type}: input {name} is missing")
            found.append(value)
        return tuple(found)


def _picker(names: Sequence[str]) -> Callable[[dict[str, Any]], tuple[Any, ...]]:
    if len(names) > 1:
        return operator.itemgetter(*names)
    (name,) = names
    return lambda given: (given[name],)


_forms: dict[tuple[Any, ...], _Form] = {}
"""By the type of the op and the names of the keywords; where inputs are given by position, their number stands between."""
# names in a tuple of their own: a star in the key takes longer than what it would save


def _form(op_type: str, names: tuple[str, ...]) -> _Form:
    form = _forms[op_type, names] = _Form(registry.get(op_type), names)
    return form


def forget(op_type: str) -> None:
    """Forgets how calls of an op are taken apart: another one takes its place."""
    for key in [key for key in _forms if key[0] == op_type]:
        del _forms[key]


def _with_own_lists(ins: Sequence[Any], lists: Sequence[int]) -> tuple[Any, ...]:
    """The values of some slots: in those that take lists there are new ones."""
    found = [*ins]
    for i in lists:
        found[i] = [*found[i]]
    return tuple(found)


def _form_of(op_type: str, count: int, names: tuple[str, ...]) -> _Form:
    op = registry.get(op_type)
    if count > len(op.input_slots):
        raise TypeError(f"{op_type} takes {len(op.input_slots)} inputs, got {count}")
    for name in op.input_names[:count]:
        if name in names:
            raise TypeError(f"{op_type} got input {name} twice")
    form = _forms[op_type, count, names] = _Form(op, (*op.input_names[:count], *names))
    if any(name in op.input_names for name in names):
        form.pick = None  # not all inputs are given by position
    return form


class OpBuilder:
    """Makes ops by name: `b.op("scale", X=x, scale=2.0)` or, with positional inputs, `b.scale(x, scale=2.0)`."""

    def apply(self, op: type[registry.OpDef], ins: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, ...]:
        """Applies an op to values given in the order of its input slots (list for a `*` slot, None for an absent one);
        returns the values of its output slots. `attrs` is complete; as other ops may have the same dict and the same empty lists, nothing
        changes them."""
        raise NotImplementedError

    def op(self, op_type: str, **slots_and_attrs: Any) -> Any:
        """Applies an op; keywords are input slots and attributes. One value if the op has one output slot that is not optional
        (an `XShape?` does not count), else a tuple of all slots; `apply` always gives all."""
        form = _forms.get((op_type, tuple(slots_and_attrs)))
        if form is None:
            form = _form(op_type, tuple(slots_and_attrs))
        pick = form.pick
        if pick is not None:
            ins = pick(slots_and_attrs)
            for value in ins:
                if value is None:
                    pick = None
        if pick is None:
            ins = form.inputs(slots_and_attrs)
        else:
            if form.lists:
                ins = _with_own_lists(ins, form.lists)
            if form.rest:
                ins += form.rest
        outs = self.apply(form.op, ins, form.constant or form.attributes(slots_and_attrs))
        only = form.only
        return outs if only is None else outs[only]

    def of(self, op_type: str, *ins: Any, **attrs: Any) -> Any:
        """`op` with the values of the first input slots by position; the others are absent."""
        form = _forms.get((op_type, len(ins), tuple(attrs) if attrs else ()))
        if form is None:
            form = _form_of(op_type, len(ins), tuple(attrs))
        simple = form.pick is not None
        for value in ins:
            if value is None:
                simple = False
        if not simple:
            return self.op(op_type, **dict(zip(form.op.input_names, ins, strict=False)), **attrs)
        if form.lists:
            ins = _with_own_lists(ins, form.lists)
        if form.rest:
            ins += form.rest
        outs = self.apply(form.op, ins, form.constant or form.attributes(attrs))
        only = form.only
        return outs if only is None else outs[only]

    def __getattr__(self, op_type: str) -> Any:
        if op_type.startswith("_"):
            raise AttributeError(op_type)
        registry.get(op_type)  # or it is no op
        return functools.partial(self.of, op_type)

    # ---- short forms for gradient rules ----
    def constant(self, value: float, dtype: str, shape: Sequence[int] = ()) -> Any:
        return self.op("fill_constant", shape=list(shape), dtype=dtype, value=float(value))

    def mul(self, x: Any, y: Any) -> Any:
        return self.of("elementwise_mul", x, y)

    def add(self, x: Any, y: Any) -> Any:
        return self.of("elementwise_add", x, y)

    def sub(self, x: Any, y: Any) -> Any:
        return self.of("elementwise_sub", x, y)

    def div(self, x: Any, y: Any) -> Any:
        return self.of("elementwise_div", x, y)

    def scaled(self, x: Any, scale: float, bias: float = 0.0) -> Any:
        """scale * x + bias."""
        return self.of("scale", x, scale=scale, bias=bias)

    def cast_to(self, x: Any, dtype: str) -> Any:
        """x in another dtype; x itself if it has it."""
        own = x.dtype
        return x if own == dtype else self.of("cast", x, in_dtype=own, out_dtype=dtype)

    def zeros_like(self, x: Any) -> Any:
        """Zeros of x's shape and dtype."""
        return self.of("fill_any_like", x, value=0.0)

    def compare(self, op_type: str, x: Any, value: float) -> Any:
        """1 where x `op_type` value holds, else 0, in x's dtype: the mask of a piecewise gradient."""
        return self.cast_to(self.of(op_type, x, self.constant(value, x.dtype)), x.dtype)

    def sum_to(self, x: Any, like: Any) -> Any:
        """x summed over the axes that broadcasting `like` to x's shape added or stretched: the gradient of a broadcast."""
        own = self.shape_of(x)
        return x if own == self.shape_of(like) and -1 not in own else self.of("sum_like", x, like)

    def expand_to(self, x: Any, like: Any) -> Any:
        """x broadcast to the shape of `like`."""
        return self.of("expand_as_v2", x, like)

    def shape_of(self, x: Any) -> tuple[int, ...]:
        """The shape of a value; -1 is an open dim."""
        return tuple(x.shape)
