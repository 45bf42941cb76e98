"""The functions of `heapq` while a function is traced: lists whose items only the run can compare. They are converted as a user's are.

Items are compared as parts of tuples, since these are ordered by whatever they hold.
"""

from __future__ import annotations

from typing import Any


def heappush(heap: Any, item: Any) -> None:
    _require_list(heap, "heappush() argument 1")
    heap.append(item)
    _rise(heap, 0, len(heap) - 1)


def heappop(heap: Any) -> Any:
    _require_list(heap, "heappop() argument")
    if len(heap) == 0:
        raise IndexError("index out of range")
    last = heap.pop()
    if len(heap) == 0:
        return last
    return _exchange(heap, last)


def heapreplace(heap: Any, item: Any) -> Any:
    _require_list(heap, "heapreplace() argument 1")
    if len(heap) == 0:
        raise IndexError("index out of range")
    return _exchange(heap, item)


def heappushpop(heap: Any, item: Any) -> Any:
    _require_list(heap, "heappushpop() argument 1")
    if len(heap) > 0 and (heap[0],) < (item,):
        return heapreplace(heap, item)
    return item


def heapify(heap: Any) -> None:
    _require_list(heap, "heapify() argument")
    for at in reversed(range(len(heap) // 2)):
        _sink(heap, at)


def nsmallest(n: int, iterable: Any, key: Any = None) -> Any:
    return sorted(iterable, key=key)[: max(n, 0)]


def nlargest(n: int, iterable: Any, key: Any = None) -> Any:
    return sorted(iterable, key=key, reverse=True)[: max(n, 0)]


def _require_list(heap: Any, what: str) -> None:
    if not isinstance(heap, list):
        raise TypeError(f"{what} must be list, not {type(heap).__name__}")


def _exchange(heap: Any, item: Any) -> Any:
    """The least item, in whose place another one comes."""
    least = heap[0]
    heap[0] = item
    _sink(heap, 0)
    return least


def _rise(heap: Any, top: int, at: int) -> None:
    """Moves an item up to its place, below `top`."""
    item = heap[at]
    while at > top:
        parent = (at - 1) // 2
        if not (item,) < (heap[parent],):
            break
        heap[at] = heap[parent]
        at = parent
    heap[at] = item


def _sink(heap: Any, top: int) -> None:
    """Moves an item down to a leaf, by the smaller child each time, and up again to its place."""
    item, at = heap[top], top
    child = 2 * at + 1
    while child < len(heap):
        if child + 1 < len(heap) and not (heap[child],) < (heap[child + 1],):
            child = child + 1
        heap[at] = heap[child]
        at = child
        child = 2 * at + 1
    heap[at] = item
    _rise(heap, top, at)
