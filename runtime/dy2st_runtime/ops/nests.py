"""Loop nests that the lowerings of shape and index ops share. Sizes, strides and offsets count elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..loopir import nodes as n

TILE = 16
"""The elements along both axes of a tile of a transpose. Of float32 they are a line of a cache; 64 lines that are 8 KB apart, as of
[H, W, 2048], would push each other out of it."""


def strides_of(shape: Sequence[Any]) -> list[Any]:
    """The strides of a tensor in C order."""
    strides: list[Any] = []
    step: Any = 1
    for d in reversed(shape):
        strides.insert(0, step)
        step = n.as_expr(d) * step
    return strides


def span(shape: Sequence[Any]) -> Any:
    """The number of elements; 1 for no axes."""
    total: Any = 1
    for d in shape:
        total = n.as_expr(d) * total if isinstance(d, n.Expr) or isinstance(total, n.Expr) else d * total
    return total


def walk(k: Any, shape: Sequence[Any], strides: Sequence[Sequence[Any]], body: Callable[..., None], *,
         offsets: Sequence[Any] | None = None, parallel: bool = True) -> None:  # fmt: skip
    """Runs `body(at_0, at_1, ...)` for every index of `shape`, the flat position for each list of strides.

    Axes that are adjacent in all of them are merged. The last axis is the inner loop, all others make the outer one.
    """
    sizes, steps = _merged(shape, strides)
    bases = [k.let(o, "o") if isinstance(o, n.Expr) else o for o in (offsets or [0] * len(strides))]
    if not sizes:
        body(*bases)
        return
    sizes = [k.let(d, "n") for d in sizes]
    steps = [[k.let(s, "s") if isinstance(s, n.Expr) else s for s in row] for row in steps]
    outer = k.parallel if parallel else k.loop
    if len(sizes) == 1:
        with outer(sizes[0]) as i:
            body(*(_plus(base, i, s[0]) for base, s in zip(bases, steps, strict=True)))
        return
    with outer(span(sizes[:-1])) as row:
        index = split(k, row, sizes[:-1])
        starts = []
        for base, s in zip(bases, steps, strict=True):
            for i, step in zip(index, s[:-1], strict=True):
                base = _plus(base, i, step)
            starts.append(k.let(base, "b") if isinstance(base, n.Expr) else base)
        with k.loop(sizes[-1]) as j:
            body(*(_plus(base, j, s[-1]) for base, s in zip(starts, steps, strict=True)))


def copy(k: Any, shape: Sequence[Any], source: Any, source_strides: Sequence[Any], target: Any,
         target_strides: Sequence[Any], *, source_at: Any = 0, target_at: Any = 0) -> None:  # fmt: skip
    """Copies the elements of `shape` from one tensor to another of the same dtype."""

    def body(at: Any, to: Any) -> None:
        target[to] = source[at]

    strides, offsets = [source_strides, target_strides], [source_at, target_at]
    sizes, steps = _merged(shape, strides)
    along = next((axis for axis, step in enumerate(steps[0]) if _equal(step, 1)), None)
    if along is None or along == len(sizes) - 1:
        walk(k, shape, strides, body, offsets=offsets)
    else:
        _walk_tiles(k, sizes, steps, along, body, offsets)


def _walk_tiles(k: Any, sizes: Sequence[Any], steps: Sequence[Sequence[Any]], along: int, body: Callable[..., None],
                offsets: Sequence[Any]) -> None:  # fmt: skip
    """`walk` for a transpose: one tensor lies along the last of the (merged) axes, the other along the `along`-th.

    Both axes are walked over in tiles, so the lines of a tile stay in the cache until all their elements have been met.
    """
    sizes = [k.let(d, "n") for d in sizes]
    steps = [[k.let(s, "s") if isinstance(s, n.Expr) else s for s in row] for row in steps]
    inner = (along, len(sizes) - 1)
    tiles = list(sizes)
    for axis in inner:
        tiles[axis] = k.let((sizes[axis] + (TILE - 1)) // TILE, "n")
    with k.parallel(span(tiles)) as number:
        index = split(k, number, tiles)
        for axis in inner:
            index[axis] = k.let(index[axis] * TILE, "i")
        starts = list(offsets)
        for i, row in zip(index, zip(*steps, strict=True), strict=True):
            starts = [_plus(start, i, step) for start, step in zip(starts, row, strict=True)]
        starts = [k.let(start, "b") for start in starts]
        rows, columns = (k.let(n.minimum(sizes[axis] - index[axis], TILE)) for axis in inner)
        with k.loop(rows) as i:
            starts = [k.let(_plus(start, i, s[along]), "b") for start, s in zip(starts, steps, strict=True)]
            with k.loop(columns) as j:
                body(*(_plus(start, j, s[-1]) for start, s in zip(starts, steps, strict=True)))


def fill(k: Any, target: Any, value: Any) -> None:
    """Every element gets the value."""
    with k.parallel(target.size) as i:
        target[i] = value


def split(k: Any, flat: Any, sizes: Sequence[Any]) -> list[Any]:
    """The multi-index of a flat C-order index."""
    index: list[Any] = []
    for d in reversed(sizes[1:]):
        index.insert(0, k.let(flat % d, "i"))
        flat = k.let(flat // d, "q")
    return [flat, *index] if sizes else []


def _plus(base: Any, i: Any, step: Any) -> Any:
    if isinstance(step, int) and step == 0:
        return base
    return n.as_expr(i) * step + base


def _merged(shape: Sequence[Any], strides: Sequence[Sequence[Any]]) -> tuple[list[Any], list[list[Any]]]:
    """Without the axes of size 1, and with each axis whose steps continue those of the next one merged into it."""
    sizes: list[Any] = []
    steps: list[list[Any]] = [[] for _ in strides]
    for axis in reversed(range(len(shape))):
        d = shape[axis]
        if isinstance(d, int) and d == 1:
            continue
        here = [s[axis] for s in strides]
        if sizes and all(_equal(h, n.as_expr(sizes[0]) * s[0]) for h, s in zip(here, steps, strict=True)):
            sizes[0] = n.as_expr(d) * sizes[0]
            continue
        sizes.insert(0, d)
        for s, h in zip(steps, here, strict=True):
            s.insert(0, h)
    return sizes, steps


def _equal(a: Any, b: Any) -> bool:
    return n.as_expr(a).same(n.as_expr(b))


def broadcast_strides(k: Any, ref: Any, shape: Sequence[Any]) -> list[Any]:
    """The strides of a tensor broadcast to `shape`, 0 along stretched axes; the kernel fails where it does not fit."""
    strides: list[Any] = [0] * len(shape)
    own = strides_of(ref.shape)
    for back in range(1, ref.rank + 1):
        d = ref.shape[-back]
        if isinstance(d, int) and d == 1:
            continue
        if back > len(shape):
            k.fail_if(d != 1)
            continue
        full = n.as_expr(shape[-back])
        k.fail_if((d != full) & (d != 1))
        strides[-back] = k.let(n.select(d == 1, 0, n.as_expr(own[-back])), "s")
    return strides
