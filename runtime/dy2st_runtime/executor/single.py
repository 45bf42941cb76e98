"""One op as a compiled Program, for eager mode: its heavy ops run the kernels that static programs run."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from ..codegen import layout
from ..ir import IRBuilder, Program
from ..ops import registry
from ..ops.registry import OpDef
from .executable import Executable

MOST_KEPT = 1 << 25
"""Bytes of buffers that an op keeps for its next run: what is larger, such as the first values of an embedding, may be drawn once."""
Kind = tuple[str, tuple[int, ...]]
"""Dtype and shape of an input, -1 for what may be of any size."""


def run_op(op: type[OpDef], ins: Sequence[Any], attrs: dict[str, Any]) -> tuple[Any, ...]:
    """What `op.run_reference` gives, by compiled kernels; one Program serves all sizes.

    Raises:
        what the reference raises.
    """
    kinds = tuple(None if x is None else tuple(map(_kind, x)) if isinstance(x, list) else _kind(x) for x in ins)
    executable, outputs = _compiled(op.type, kinds, _Attributes(attrs))
    feeds = [a for x in ins for a in (x if isinstance(x, list) else () if x is None else (x,))]
    results = iter(executable.run(feeds))
    return tuple(None if n is None else [next(results) for _ in range(n)] if n >= 0 else next(results) for n in outputs)


def _kind(array: Any) -> Kind:
    gives_sizes = array.dtype.kind == "i" and array.ndim == 1 and array.size <= layout.MAX_RANK  # then its own tells a rank
    return array.dtype.name, array.shape if gives_sizes else (-1,) * array.ndim


class _Attributes:
    """Attributes as a key: equal if all their values are."""

    def __init__(self, values: dict[str, Any]):
        self.values, self._key = values, repr(sorted(values.items()))

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Attributes) and self._key == other._key


@functools.lru_cache(512)
def _compiled(type: str, kinds: tuple[Any, ...], attrs: _Attributes) -> tuple[Executable, list[int | None]]:
    """The Program of one op with inputs of such kinds (tuples of them, None); for each output slot -1 for a tensor, the length of a list,
    None for nothing."""
    block = Program().global_block()
    feeds: list[str] = []

    def data(kind: Kind) -> Any:
        v = block.create_var(f"x{len(feeds)}", kind[0], kind[1], is_data=True)
        feeds.append(v.name)
        return v

    ins = tuple(None if k is None else data(k) if k and isinstance(k[0], str) else list(map(data, k)) for k in kinds)
    outs = IRBuilder(block).apply(registry.get(type), ins, dict(attrs.values))
    fetched = [v.name for x in outs if x is not None for v in (x if isinstance(x, list) else [x])]
    outputs = [None if x is None else len(x) if isinstance(x, list) else -1 for x in outs]
    return Executable(block.program, feeds, fetched, most_kept=MOST_KEPT), outputs
