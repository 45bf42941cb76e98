"""One op as a compiled Program, for eager mode: its heavy ops run the kernels that static programs run."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..codegen import layout
from ..ir import IRBuilder, Program
from ..ops import registry
from ..ops.registry import OpDef
from .executable import Executable

MOST_KEPT = 1 << 25
"""Bytes of buffers that an op keeps for its next run: what is larger, such as the first values of an embedding, may be drawn once."""
Kind = tuple[np.dtype, int | tuple[int, ...]]
"""Dtype of an input, and its rank; where its own values are sizes, its shape."""
_SIMPLE = {"BOOLEAN", "INT", "LONG", "STRING", "DTYPE"}
"""Kinds of attributes whose values are equal only if they are the same: of floats, 0.0 and -0.0 are not."""


def run_op(op: type[OpDef], ins: Sequence[Any], attrs: dict[str, Any]) -> tuple[Any, ...]:
    """What `op.run_reference` gives, by compiled kernels; one Program serves all sizes.

    Raises:
        what the reference raises.
    """
    feeds: list[Any] = []
    kinds: list[Any] = []
    for x in ins:
        if type(x) is list:
            kinds.append(tuple([_kind(a) for a in x]))
            feeds += x
        elif x is None:
            kinds.append(None)
        else:
            kinds.append(_kind(x))
            feeds.append(x)
    executable, outputs = _compiled(op.type, tuple(kinds), tuple(attrs.items()) if _has_simple(op.type) else _Attributes(attrs))
    results = executable.run(feeds)
    if outputs is None:
        return tuple(results)
    taken = iter(results)
    return tuple(None if n is None else [next(taken) for _ in range(n)] if n >= 0 else next(taken) for n in outputs)


def _kind(array: Any) -> Kind:
    dtype, rank = array.dtype, array.ndim
    if rank == 1 and dtype.kind == "i" and array.size <= layout.MAX_RANK:
        return dtype, array.shape  # its own size tells a rank
    return dtype, rank


@functools.cache
def _has_simple(op_type: str) -> bool:
    return all(attr.kind in _SIMPLE for attr in registry.get(op_type).attrs.values())


class _Attributes:
    """Attributes as a key: equal if all their values are."""

    def __init__(self, values: dict[str, Any]):
        self.values, self._key = values, repr(sorted(values.items()))

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Attributes) and self._key == other._key


@functools.lru_cache(512)
def _compiled(type: str, kinds: tuple[Any, ...], attrs: Any) -> tuple[Executable, list[int | None] | None]:
    """The Program of one op with inputs of such kinds (tuples of them, None); for each output slot -1 for a tensor, the length of a list,
    None for nothing; None if each slot has a tensor."""
    block = Program().global_block()
    feeds: list[str] = []

    def data(kind: Kind) -> Any:
        dtype, sizes = kind
        shape = sizes if isinstance(sizes, tuple) else (-1,) * sizes
        v = block.create_var(f"x{len(feeds)}", dtype.name, shape, is_data=True)
        feeds.append(v.name)
        return v

    ins = tuple(None if k is None else data(k) if k and isinstance(k[0], np.dtype) else list(map(data, k)) for k in kinds)
    outs = IRBuilder(block).apply(registry.get(type), ins, dict(attrs.values if isinstance(attrs, _Attributes) else attrs))
    fetched = [v.name for x in outs if x is not None for v in (x if isinstance(x, list) else [x])]
    outputs = [None if x is None else len(x) if isinstance(x, list) else -1 for x in outs]
    return Executable(block.program, feeds, fetched, most_kept=MOST_KEPT), None if set(outputs) == {-1} else outputs
