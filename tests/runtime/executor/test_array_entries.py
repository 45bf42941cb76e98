"""Entries taken by indices that another thread changes meanwhile: the function itself, on memory that the test watches."""

from __future__ import annotations

import ctypes

import pytest
from dy2st_runtime.codegen import layout as at
from dy2st_runtime.executor import array_entries, arrays

ENTRY = 4
SMALL, LARGE = 8, 4096


class Memory:
    """Words of memory, the entries' bytes that were asked for, and those that were written behind them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.kept: list[ctypes.Array] = []
        self.reserved = self.last_written = 0
        self.table = self.words([0] * 64)
        self.data = 10**6  # an address to count from; nothing is copied there
        self.index = 0
        for module in (array_entries, arrays):
            monkeypatch.setattr(module, "word", self.word)
            monkeypatch.setattr(module, "put_words", self.put_words)
        monkeypatch.setattr(array_entries, "room", self.room)
        monkeypatch.setattr(array_entries, "copy_bytes", self.copy_bytes)

    def words(self, values: list[int]) -> int:
        self.kept.append((ctypes.c_int64 * len(values))(*values))
        return ctypes.addressof(self.kept[-1])

    def word(self, address: int, place: int) -> int:
        value = ctypes.c_int64.from_address(address + place * 8).value
        if address == self.index:
            ctypes.c_int64.from_address(address).value = 1  # the other thread: now it is the large entry
        return value

    def put_words(self, address: int, place: int, *values: int) -> None:
        for i, value in enumerate(values):
            ctypes.c_int64.from_address(address + (place + i) * 8).value = value

    def room(self, out: int, nbytes: int, entries: int, rank: int) -> int:
        self.reserved = nbytes
        self.put_words(out, at.DATA, self.data)
        self.put_words(out, at.ENTRIES, self.table)
        return at.OK

    def copy_bytes(self, target: int, source: int, nbytes: int) -> None:
        if target < self.data or target > self.data + 10**6:
            ctypes.memmove(target, source, nbytes)
        else:
            self.last_written = max(self.last_written, target + nbytes - self.data)


def test_an_index_that_changes_is_read_once(monkeypatch) -> None:
    memory = Memory(monkeypatch)
    buffer = memory.words([0] * at.BUFFER_WORDS)
    empty = [0] * at.DESCRIPTOR_WORDS
    out, array, index = memory.words(empty), memory.words(empty), memory.words(empty)
    memory.put_words(out, at.BUFFER, buffer, buffer)
    memory.put_words(array, at.ENTRIES, memory.words([0, SMALL, SMALL * ENTRY, LARGE]))
    memory.put_words(array, at.LENGTH, 2)
    memory.put_words(index, at.DIMS, 1)
    memory.index = memory.words([0])
    memory.put_words(index, at.DATA, memory.index)

    assert array_entries.array_take(out, array, index, 1, ENTRY) == at.OK
    assert memory.last_written == memory.reserved == SMALL * ENTRY
