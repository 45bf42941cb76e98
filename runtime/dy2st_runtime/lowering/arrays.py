"""TensorArrays: each primitive is one call of the target's library on descriptors, whatever the dtype and the rank.

Array values are immutable in the IR. The planner lets a result take over its input's descriptor where the input dies; the library
sees equal addresses then and works in place, else it copies first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import dtype as dt
from ..ir.program import Variable
from ..loopir import nodes as n
from ..loopir.builder import KernelBuilder
from .schedule import Launch, Loop


def _launch(cx: Any, fn: str, outs: Sequence[Variable], ins: Sequence[Variable], of: Variable, extra: Sequence[int] = (),
            takes: dict[str, str] | None = None, updates: Sequence[Variable] = ()) -> None:  # fmt: skip
    """Calls `fn(outs..., ins..., rank, element size, extra...)`; rank and size are those of `of`."""
    k = KernelBuilder(fn)
    written = {v.name for v in outs}
    for v in [*outs, *ins]:
        cx.note(v)
    refs = [k.tensor(v.name, v.dtype, () if v.kind == "array" else v.shape, v.name in written) for v in [*outs, *ins]]
    scalars = [k.attr(value) for value in (len(of.shape), dt.size(of.dtype), *extra)]
    k.emit(n.NativeCall(fn, tuple(r.name for r in refs), tuple(scalars)))
    cx.steps.append(Launch(k.kernel, cx.op, {}, takes or {}, tuple(v.name for v in updates)))


def create(cx: Any, out: Variable) -> None:
    _launch(cx, "array_create", [out], [], out)


def copy(cx: Any, source: Variable, out: Variable) -> None:
    _launch(cx, "array_copy", [out], [source], source)


def take_over(cx: Any, x: Variable, out: Variable) -> None:
    """`out` gets the elements of a dense x in memory of its own: x's memory, if x is not needed any more, else a copy."""
    _launch(cx, "tensor_take", [out], [x], x, takes={out.name: x.name})


def write(cx: Any, array: Variable | None, x: Variable, index: Variable | None, out: Variable) -> None:
    """`out` = array with entry `index` replaced by x, or x appended where the index is the length or there is none."""
    if array is None:
        create(cx, out)
        append_in_place(cx, out, x)
    elif index is None:
        _launch(cx, "array_append", [out], [array, x], x, takes={out.name: array.name})
    else:
        _launch(cx, "array_set", [out], [array, x, index], x, [dt.size(index.dtype)], takes={out.name: array.name})


def append_in_place(cx: Any, array: Variable, x: Variable) -> None:
    """Appends to an array that this step alone changes (the saved values of a loop)."""
    _launch(cx, "array_push", [array], [x], x, updates=[array])


def read(cx: Any, array: Variable, index: Variable, out: Variable) -> None:
    _launch(cx, "array_get", [out], [array, index], out, [dt.size(index.dtype)])


def length(cx: Any, array: Variable, out: Variable) -> None:
    _launch(cx, "array_length", [out], [array], out)


def to_tensor(cx: Any, array: Variable, out: Variable, axis: int, use_stack: bool) -> None:
    """Entries stacked along a new axis, or concatenated along an old one."""
    axis = axis + (len(array.shape) + int(use_stack)) if axis < 0 else axis
    _launch(cx, "array_stack" if use_stack else "array_concat", [out], [array], array, [axis])


def from_tensor(cx: Any, x: Variable, out: Variable, axis: int) -> None:
    """The slices of x along `axis` as entries."""
    axis = axis + len(x.shape) if axis < 0 else axis
    _launch(cx, "array_unstack", [out], [x], x, [axis])


def add(cx: Any, a: Variable, b: Variable, out: Variable) -> None:
    """The sums of the entries of two arrays of one length."""
    lengths = [cx.temp("int64", 0) for _ in range(2)]
    for array, count in zip((a, b), lengths, strict=True):
        length(cx, array, count)
    with cx.kernel(lengths, [], shapes=False) as (k, (left, right), _):
        k.fail_if(left[0] != right[0])

    def entry(index: Variable, first: Variable, result: Variable) -> None:
        second = cx.temp(out.dtype, len(out.shape))
        read(cx, b, index, second)
        with cx.kernel([first, second], [result], shapes=False) as (k, (x, y), (o,)):
            for p, q in zip(x.shape, y.shape, strict=True):
                k.fail_if(n.as_expr(p, n.INDEX) != q)
            k.set_shape(o, x.shape)
            with k.parallel(o.size) as i:
                o[i] = x[i] + y[i]

    map_entries(cx, a, lengths[0], out, entry)


def zeros(cx: Any, like: Variable, out: Variable) -> None:
    """An array of zeros with the length of `like` and the shapes of its entries."""
    count = cx.temp("int64", 0)
    length(cx, like, count)

    def entry(index: Variable, shown: Variable, result: Variable) -> None:
        with cx.kernel([shown], [result], shapes=False) as (k, (x,), (o,)):
            k.set_shape(o, x.shape)
            with k.parallel(o.size) as i:
                o[i] = n.cast(0, o.dtype)

    map_entries(cx, like, count, out, entry)


def map_entries(
    cx: Any, array: Variable, count: Variable, out: Variable, entry: Callable[[Variable, Variable, Variable], None]
) -> None:
    """`out` = the results that `entry(index, entry of the array, result)` makes, entry by entry."""
    create(cx, out)

    def body(index: Variable, one: Variable) -> None:
        result = cx.temp(out.dtype, len(out.shape))
        entry(index, one, result)
        append_in_place(cx, out, result)

    each(cx, array, count, body)


def each(cx: Any, array: Variable, count: Variable, body: Callable[[Variable, Variable], None]) -> None:
    """Runs the steps that `body(index, entry)` adds for each of the `count` entries of an array."""
    start, index, following, going = (cx.temp(dtype, 0) for dtype in ("int64", "int64", "int64", "bool"))
    with cx.kernel([], [start], shapes=False) as (k, _, (o,)):
        k.set_shape(o, [])
        o[0] = 0
    cx.share(start, index)
    with cx.into([]) as test, cx.kernel([index, count], [going], shapes=False) as (k, (i, c), (o,)):
        k.set_shape(o, [])
        o[0] = i[0] < c[0]
    with cx.into([]) as steps:
        one = cx.temp(array.dtype, len(array.shape))
        read(cx, array, index, one)
        body(index, one)
        with cx.kernel([index], [following], shapes=False) as (k, (i,), (o,)):
            k.set_shape(o, [])
            o[0] = i[0] + 1
    cx.steps.append(Loop([index.name], test, going.name, steps, [following.name], cx.op))


def pop(cx: Any, array: Variable, out_array: Variable, out_value: Variable) -> None:
    """The last entry, and the array without it. The value is a copy, so that the array may be changed in place."""
    _launch(cx, "array_last", [out_value], [array], out_value)
    _launch(cx, "array_drop_last", [out_array], [array], out_value, takes={out_array.name: array.name})


def extend(cx: Any, array: Variable, other: Variable, out: Variable) -> None:
    _launch(cx, "array_extend", [out], [array, other], array, takes={out.name: array.name})


def insert(cx: Any, array: Variable, x: Variable, index: Variable, out: Variable) -> None:
    """`out` = array with x as its entry `index`, which counts in `out`."""
    _launch(cx, "array_insert", [out], [array, x, index], x, [dt.size(index.dtype)], takes={out.name: array.name})


def remove(cx: Any, array: Variable, index: Variable, out_array: Variable, out_value: Variable) -> None:
    """The entry `index`, a copy as in `pop`, and the array without it."""
    read(cx, array, index, out_value)
    extra = [dt.size(index.dtype)]
    _launch(cx, "array_erase", [out_array], [array, index], out_value, extra, takes={out_array.name: array.name})


def replace_in_place(cx: Any, array: Variable, x: Variable, index: Variable) -> None:
    """Replaces an entry of an array that this step alone changes."""
    _launch(cx, "array_set", [array], [array, x, index], x, [dt.size(index.dtype)], updates=[array])


def take(cx: Any, array: Variable, index: Variable, out: Variable) -> None:
    """`out` = the entries that the vector `index` names."""
    _launch(cx, "array_take", [out], [array, index], array)


def common(cx: Any, a: Variable, b: Variable, out: Variable) -> None:
    """`out` = the number of leading entries that are the same in both."""
    _launch(cx, "array_common", [out], [a, b], a)


def tape_extend(cx: Any, tape: Variable, array: Variable) -> None:
    """Appends the entries of an array to a tape, in place."""
    _launch(cx, "array_extend", [tape], [tape, array], array, updates=[tape])


def tape_pop(cx: Any, tape: Variable, out: Variable) -> None:
    """`out` = a copy of the last entry, which the tape loses."""
    _launch(cx, "array_last", [out], [tape], out)
    _launch(cx, "array_drop_last", [tape], [tape], out, updates=[tape])


def tape_take(cx: Any, tape: Variable, count: Variable, out: Variable) -> None:
    """`out` = an array of the last entries, which the tape loses."""
    _launch(cx, "array_cut", [out, tape], [count], out, [dt.size(count.dtype)], updates=[tape])


def total_clear(cx: Any, total: Variable) -> None:
    """`total` is absent, and has memory of its own."""
    _launch(cx, "total_clear", [total], [], total)


def total_add(cx: Any, total: Variable, x: Variable) -> None:
    """Adds x to a total, in place."""
    _launch(cx, "total_add", [total], [x], x, updates=[total])


def total_take(cx: Any, total: Variable, out: Variable) -> None:
    """`out` = the value of a total, whose memory it takes over; the total is absent then."""
    _launch(cx, "total_take", [out, total], [], out, updates=[total])
