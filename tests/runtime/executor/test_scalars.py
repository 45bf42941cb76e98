"""The language of `scalars`: compiled functions give what Python gives."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dy2st_runtime.executor import compile as compiling
from dy2st_runtime.executor import runs, scalars
from dy2st_runtime.executor.machine import machine
from dy2st_runtime.executor.runs import add_runs, copy_run, put_words, word

BOUND = 7
linker = compiling.Linker()
numbers = itertools.count()


def compiled(function: Any) -> Callable[..., int]:
    symbol = f"test_scalars_{next(numbers)}"
    target = machine()
    data = target.emit_object(scalars.optimized(scalars.module_of(function, symbol), target))
    address = linker.link({symbol: data})[symbol]
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * function.__code__.co_argcount)(address)


def divided(a: int, b: int) -> int:
    if b == 0:
        return -(a // (b - 1)) % 5
    return a // b * 1000 + a % b


def compared(a: int, b: int) -> int:
    inside = (a < b and b <= BOUND) or not a < BOUND - 2
    return (inside + 2 * (a >= b)) * (10 if a > 0 and b > 0 else -1) + (a == b)


def looped(a: int, b: int) -> int:
    total, i = 0, 0
    for i in range(a, b, 2):
        total += i * helped(i, b)
        if total > 500:
            total -= 400
    for _ in range(3):
        total += 1
    while i < min(b, BOUND, 5):
        i += 1
        a, b = b, max(a, 4)
    return total - i + a


def helped(x: int, y: int) -> int:
    if x > y // 2:
        return y
    else:
        return x - 1


def guarded(a: int, b: int) -> int:
    count = 0
    while b != 0 and a // b > 1 and count < 20:
        count += 1
        a -= 3 * b
    return count if b != 0 else -7


def searched(a: int, b: int) -> int:
    for i in range(a, 12):
        if i * i > 20:
            return i
        while i == b:
            return -1
    return True if holds(a, b) else 5


def holds(a: int, b: int) -> bool:
    found = False
    for i in range(b):
        if i == a:
            found = True
    return found


@pytest.mark.parametrize("function", [divided, compared, looped, guarded, searched])
def test_a_compiled_function_gives_what_python_gives(function: Callable[[int, int], int]) -> None:
    native = compiled(function)
    for a, b in itertools.product(range(-9, 10), repeat=2):
        assert native(a, b) == function(a, b), (a, b)


def test_a_division_by_zero_gives_0() -> None:
    def quotient(a: int, b: int) -> int:
        return a // b + a % b

    assert compiled(quotient)(5, 0) == 0


def test_only_the_side_that_is_chosen_is_computed() -> None:
    def read(address: int, default: int) -> int:
        there = address != 0 and word(address, 0) == 12
        return word(address, 1) if there else default

    native = compiled(read)
    memory = np.array([12, 5], np.int64)
    assert native(memory.ctypes.data, 3) == 5
    assert native(0, 3) == 3


def scoped(a: int, b: int) -> int:
    if a > b:
        inner = a
        a = inner * 2
    return inner


def test_a_variable_that_one_statement_assigns_is_known_in_its_block_only() -> None:
    with pytest.raises(TypeError, match="'inner' is not in the language"):
        compiled(scoped)


def carried(a: int, b: int) -> int:
    last = 0
    for i in range(a, b):
        square = i * i
        if square > 20:
            last = square
            break
        last = last + square if square > 3 else last
    return last


def test_a_loop_that_is_left_keeps_what_several_statements_assign() -> None:
    made = compiled(carried)
    assert [made(0, n) for n in range(8)] == [carried(0, n) for n in range(8)]


def test_a_generated_text() -> None:
    function = scalars.from_source("def twice(a):\n    return factor * a\n", {"factor": 2})
    assert compiled(function)(21) == function(21) == 42


def refused_list(a: int) -> int:
    return [a][0]


def refused_float(a: int) -> int:
    b = a * 0.5
    return b  # type: ignore[return-value]


def refused_name(a: int) -> int:
    return a + unknown  # type: ignore[name-defined,no-any-return]  # noqa: F821


@pytest.mark.parametrize(("function", "text"), [(refused_list, r"\[a\]\[0\]"), (refused_float, "0.5"), (refused_name, "unknown")])
def test_what_is_not_in_the_language_is_named_with_its_line(function: Any, text: str) -> None:
    first = function.__code__.co_firstlineno
    with pytest.raises(TypeError, match=rf"test_scalars\.py:({first + 1}|{first + 2}): .*{text}.* is not in the language"):
        compiled(function)


def test_runs_of_any_length_touch_nothing_else() -> None:
    def copied(target: int, source: int, count: int) -> None:
        copy_run(target, source, 4 * count)

    copy = compiled(copied)
    for dtype in runs.SCALARS:
        add = compiled(add_runs(dtype))
        for count in [*range(70), 131]:
            source = np.arange(1, count + 3).astype(dtype)
            target = np.full(count + 2, 100, dtype)
            want = target.copy()
            want[1:-1] += source[1:-1]
            size = target.itemsize
            add(target.ctypes.data + size, source.ctypes.data + size, count)
            np.testing.assert_array_equal(target, want)
            target[:] = 100
            copy(target.ctypes.data + size, source.ctypes.data + size, count * size // 4)
            np.testing.assert_array_equal(target, np.concatenate([[100], source[1:-1], [100]]))


def test_words_are_written_one_after_the_other() -> None:
    def put(address: int, at: int) -> None:
        put_words(address, at, 5, at, -3)

    memory = np.zeros(6, np.int64)
    compiled(put)(memory.ctypes.data, 2)
    assert memory.tolist() == [0, 0, 5, 2, -3, 0]


def hashed_by_steps(a: int) -> int:
    b = 1
    for i in range(a):
        b = (b ^ i) * 31
    return b


def test_loops_are_not_unrolled() -> None:
    module = scalars.module_of(hashed_by_steps, "one")
    text = str(scalars.optimized(module, machine()))
    assert text.count(" xor ") == 1
