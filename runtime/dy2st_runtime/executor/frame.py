"""A frame: the memory of one run. Descriptors, buffers, argument records and relocated code in one block.

Frames of one Executable are kept and reused, so a steady run allocates nothing; runs in several threads have a frame each.
"""

from __future__ import annotations

import ctypes
import math
import operator
import struct
import weakref
from typing import Any

import numpy as np

from .. import config, signals, threads
from ..codegen import layout
from ..ops.control import ABSENT
from .plans import CallRecord, Plan

_libc = ctypes.CDLL(None)
_libc.free.argtypes = [ctypes.c_void_p]
_libc.free.restype = None
WORD = 8

_READ = 0x100
_memory = ctypes.pythonapi["PyMemoryView_FromMemory"]  # a function of its own: others may declare this one in other ways
_memory.argtypes, _memory.restype = [ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int], ctypes.py_object


class Frame:
    """Memory for one run of a plan.

    Args:
        plan: the plan.
        entries: the address of each kernel.
        dtypes, ranks, arrays: of each descriptor.
    """

    def __init__(self, plan: Plan, entries: list[int], types: list[tuple[np.dtype, int, bool]]):
        self.plan, self.types = plan, types
        count = len(plan.names)
        self.descriptors = np.zeros((count, layout.DESCRIPTOR_WORDS), np.int64)
        self.buffers = np.zeros((max(plan.buffers, 1), layout.BUFFER_WORDS), np.int64)
        # memory bound from outside, one pseudo buffer for each descriptor without a buffer of its own
        self.bound = np.zeros((count, layout.BUFFER_WORDS), np.int64)
        self.bound[:, layout.BUFFER_CAPACITY] = -1
        at, buffers, bound = (a.ctypes.data for a in (self.descriptors, self.buffers, self.bound))
        for d in range(count):
            b, t = plan.buffer_of[d], plan.table_of[d]
            row = self.descriptors[d]
            if not types[d][2]:
                row[layout.DIMS + types[d][1] :] = 1
            row[layout.BUFFER] = (
                bound + d * layout.BUFFER_WORDS * WORD if b < 0 else buffers + b * layout.BUFFER_WORDS * WORD
            )
            row[layout.TABLE] = buffers + t * layout.BUFFER_WORDS * WORD if t > 0 else 0
        addresses = [at + d * layout.DESCRIPTOR_WORDS * WORD for d in range(count)]
        # the words before a record are for what a kernel says besides its status
        words: list[int] = []
        starts: list[int] = []
        for record in plan.records:
            words += [signals.address(), *[0] * (layout.RECORD_HEAD - 1)]
            starts.append(len(words))
            words += [addresses[d] for d in record.descriptors]
            words += [_bits(dtype, value) for dtype, value in record.scalars]
        self.records = np.array(words or [0], np.int64)
        # the records of calls come after all that they point to has its place
        lists = [_call_words(call, addresses, self.descriptors) for call in plan.calls]
        self.calls = np.array([word for words in lists for word in words] or [0], np.int64)
        heads = [self.calls.ctypes.data + sum(map(len, lists[:i])) * WORD for i in range(len(lists))]
        code = np.array(plan.code, np.int64)
        base = self.records.ctypes.data
        for row in code:
            op = row[0]
            if op == layout.CALL:
                r = int(row[1])
                row[1], row[2] = entries[plan.records[r].kernel], base + starts[r] * WORD
            elif op == layout.ENTER:
                row[1] = heads[row[1]]
            elif op in (layout.SHARE, layout.MOVE):
                row[1], row[2] = addresses[row[1]], addresses[row[2]]
            elif op in (layout.JUMP_IF_FALSE, layout.MARK_ABSENT, layout.JUMP_IF_ABSENT, layout.FAIL_IF_ABSENT):
                row[1] = addresses[row[1]]
        self.code = code
        self.arguments = np.zeros(layout.DRIVER_WORDS, np.int64)
        self.arguments[layout.CODE], self.arguments[layout.POOL] = code.ctypes.data, threads.pool().address
        self.arguments[layout.SIGNAL_WORDS] = signals.address()
        self.arguments_address = self.arguments.ctypes.data
        self.argument_words = _words(self.arguments)
        self.keep: dict[int, Any] = {}
        # what each descriptor shows, by weak reference: an array that is bound again, such as a parameter, is there already
        self._shown: list[tuple[weakref.ref[np.ndarray], tuple[int, ...]] | None] = [None] * count
        # the arrays of a run's state, which most runs have in common with the one before, and their shapes
        self._state: list[weakref.ref[np.ndarray]] = []
        self._state_shapes: list[tuple[int, ...]] = []
        self._same: object = None
        self.state: list[np.ndarray] = []
        # of descriptors whose values were asked for: where they are, their shapes, and arrays that show the memory
        self._views: dict[int, tuple[int, list[int], np.ndarray]] = {}
        self._words, self._bound_words, self._buffer_words = map(_words, (self.descriptors, self.bound, self.buffers))
        self._memory = weakref.finalize(self, _release, self.buffers, self.arguments)
        self._memory.atexit = False  # a daemon thread may still run in it when the process ends

    def restart(self) -> None:
        """Forgets the calls of functions that a run which failed has left."""
        words = self.argument_words
        words[layout.DEPTH] = words[layout.WORDS_USED] = words[layout.SLOTS_USED] = 0
        words[layout.DEPTH_LIMIT] = config.RECURSION_LIMIT.get()

    # ---- values ----
    def bind(self, d: int, array: np.ndarray) -> None:
        """Shows an array's memory as the value of a descriptor. The array must be C-contiguous and stays alive with the frame."""
        self.keep[d] = array
        shown, shape = self._shown[d], array.shape
        if shown is not None and shown[0]() is array and shown[1] == shape:
            return
        self._shown[d] = None  # until all of it is there: what a signal's handler raises may end this anywhere
        words, at = self._words, d * layout.DESCRIPTOR_WORDS
        words[at + layout.DATA] = self._bound_words[d * layout.BUFFER_WORDS + layout.BUFFER_ADDRESS] = address(array)
        words[at + layout.STATE] = 1
        for axis, size in enumerate(shape, at + layout.DIMS):
            words[axis] = size
        self._shown[d] = weakref.ref(array), shape

    def has_state(self, arrays: list[Any]) -> bool:
        """Whether just these arrays were bound as the state of a run before, one by one; they stay alive with this run then."""
        known = [ref() for ref in self._state]
        if len(known) != len(arrays) or not all(map(operator.is_, known, arrays)):
            return False
        if [a.shape for a in known if a is not None] != self._state_shapes:
            return False
        self.state = arrays
        return True

    def has_same(self, same: object) -> bool:
        """Whether the arrays for which this object stands were bound as the state of a run before; who has the run has them."""
        return same is not None and self._same is same

    def note_state(self, arrays: list[np.ndarray], same: object = None) -> None:
        """Notes what has been bound as the state of a run, and what stands for just these arrays; [] before other arrays are."""
        self._state, self._state_shapes, self._same = [weakref.ref(a) for a in arrays], [a.shape for a in arrays], same

    def write_to(self, d: int, source: int) -> None:
        """Lets what computes a descriptor write to the memory of the array that is bound to another one."""
        at = layout.BUFFER_ADDRESS
        self._bound_words[d * layout.BUFFER_WORDS + at] = self._bound_words[source * layout.BUFFER_WORDS + at]

    def bind_absent(self, d: int) -> None:
        self._shown[d] = None
        self._words[d * layout.DESCRIPTOR_WORDS + layout.STATE] = 0

    def bind_list(self, d: int, entries: list[np.ndarray]) -> None:
        """Shows a list of tensors as the value of a TensorArray."""
        self._shown[d] = None
        dtype, rank, _ = self.types[d]
        table = np.zeros((max(len(entries), 1), 1 + rank), np.int64)
        data = (
            np.concatenate([np.ascontiguousarray(e, dtype).reshape(-1) for e in entries])
            if entries
            else np.zeros(1, dtype)
        )
        offset = 0
        for row, e in zip(table, entries, strict=False):
            row[0], row[1:] = offset, e.shape
            offset += e.size * dtype.itemsize
        row = self.descriptors[d]
        row[layout.DATA], row[layout.STATE], row[layout.ENTRIES] = data.ctypes.data, 1, table.ctypes.data
        row[layout.LENGTH], row[layout.USED] = len(entries), offset
        self.keep[d] = (data, table)

    def shape(self, d: int) -> tuple[int, ...]:
        """The sizes of the dims of a descriptor's value."""
        sizes = d * layout.DESCRIPTOR_WORDS + layout.DIMS
        return tuple(self._words[sizes : sizes + self.types[d][1]].tolist())

    def value(self, d: int) -> Any:
        """A copy of a descriptor's value: an array, a list of arrays, or `ABSENT`."""
        words, at = self._words, d * layout.DESCRIPTOR_WORDS
        if words[at + layout.STATE] == 0:
            return ABSENT
        dtype, rank, is_array = self.types[d]
        if is_array:
            return self._entries(self.descriptors[d], dtype, rank)
        sizes = at + layout.DIMS
        source, shape = words[at + layout.DATA], words[sizes : sizes + rank].tolist()
        known = self._views.get(d)
        if known is None or known[0] != source or known[1] != shape:
            known = self._views[d] = source, shape, _view(source, shape, dtype)
        return known[2].copy()

    def _entries(self, row: np.ndarray, dtype: np.dtype, rank: int) -> list[Any]:
        count = int(row[layout.LENGTH])
        table = (
            _copy(int(row[layout.ENTRIES]), (count, 1 + rank), np.dtype(np.int64))
            if count
            else np.zeros((0, 1 + rank), np.int64)
        )
        return [
            ABSENT if r[0] < 0 else _copy(int(row[layout.DATA]) + int(r[0]), tuple(int(n) for n in r[1:]), dtype)
            for r in table
        ]

    @property
    def alive(self) -> bool:
        """Whether its buffers are still there. The garbage collector frees them before it calls `__del__` of what holds the frame."""
        return self._memory.alive

    def release_inputs(self) -> None:
        """Drops the references to what was bound."""
        self.keep.clear()
        self.state = []

    @property
    def allocated(self) -> int:
        """Bytes of buffers that the frame holds."""
        words = self.argument_words
        capacity = [c for c in self._buffer_words[layout.BUFFER_CAPACITY :: layout.BUFFER_WORDS].tolist() if c > 0]
        if words[layout.SLOTS + 1]:
            capacity += [c for _, c in _slots(self.arguments).tolist() if c > 0]
        return sum(capacity) + words[layout.WORDS + 1] + words[layout.SLOTS + 1]


def address(array: np.ndarray) -> int:
    """Where the elements of an array are; `array.ctypes.data` takes seven times as long."""
    if array.size and array.flags.carray:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]
    return array.ctypes.data


def _words(array: np.ndarray) -> memoryview:
    """The int64s of an array one by one, quicker to read and write than by NumPy."""
    return array.data.cast("B").cast("q") if array.size else memoryview(b"").cast("q")


def _view(source: int, shape: list[int], dtype: np.dtype) -> np.ndarray:
    """An array that shows memory as long as that is there."""
    nbytes = math.prod(shape) * dtype.itemsize
    return np.ndarray(shape, dtype, _memory(source, nbytes, _READ)) if nbytes else np.empty(shape, dtype)


def _copy(source: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    out = np.empty(shape, dtype)
    if out.size:
        ctypes.memmove(address(out), source, out.nbytes)
    return out


def _bits(dtype: str, value: Any) -> int:
    """A scalar argument as the word that kernels read."""
    if dtype.startswith("float"):
        return int(struct.unpack("<q", struct.pack("<d", float(value)))[0])
    return int(value)


def _call_words(call: CallRecord, addresses: list[int], descriptors: np.ndarray) -> list[int]:
    """The record of a call, as `calls` reads it."""
    slots = sum(1 if size > 0 else 2 for *_, size in call.results)
    words = [len(call.arguments), len(call.saved), len(call.buffers), len(call.results), slots]
    words += [addresses[d] for pair in call.arguments for d in pair]
    words += [addresses[d] for d in call.saved]
    words += [int(descriptors[d, word]) for d, word in call.buffers]
    for out, value, rank, size in call.results:
        words += [addresses[out], addresses[value], rank, size]
    return words


def _slots(arguments: np.ndarray) -> np.ndarray:
    """The slots of the stack of buffers, those that are not in use among them."""
    count = int(arguments[layout.SLOTS + 1]) // (layout.BUFFER_WORDS * WORD)
    return _copy(int(arguments[layout.SLOTS]), (count, layout.BUFFER_WORDS), np.dtype(np.int64))


def _release(buffers: np.ndarray, arguments: np.ndarray) -> None:
    stacks = [(arguments[at], arguments[at + 1]) for at in (layout.WORDS, layout.SLOTS)]
    for address, capacity in [*buffers, *_slots(arguments), *stacks]:
        if capacity > 0:
            _libc.free(int(address))
