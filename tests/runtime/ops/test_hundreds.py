"""Ops on hundreds of parts or terms, natively: each adds to the nesting of expressions, unless these are cut or balanced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dy2st_runtime.executor.executable import Executable

from hand_built import Made  # isort: skip

COUNT = 260

JOINS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any], Any]]] = {
    "concat": (lambda b, xs: b.op("concat", X=xs, axis=1), lambda xs: np.concatenate(xs, 1)),
    "stack": (lambda b, xs: b.op("stack", X=xs, axis=0), np.stack),
    "sum": (lambda b, xs: b.op("sum", X=xs), sum),
}


@pytest.mark.parametrize(("build", "expect"), JOINS.values(), ids=JOINS)
def test_parts_that_become_one(build: Callable[[Any, Any], Any], expect: Callable[[Any], Any]) -> None:
    m = Made()
    out = build(m.b, [m.data(f"x{i}", [-1, 2]) for i in range(COUNT)])
    values = [np.full((3, 2), float(i), "f") for i in range(COUNT)]
    (found,) = Executable(m.program, m.feeds, [out.name]).run(values)
    np.testing.assert_array_equal(found, expect(values))


def test_one_that_becomes_parts() -> None:
    m = Made()
    outs = m.b.op("unbind", X=m.data("x", [-1, COUNT]), axis=1)
    value = np.arange(3.0 * COUNT, dtype="f").reshape(3, COUNT)
    found = Executable(m.program, m.feeds, [v.name for v in outs]).run([value])
    np.testing.assert_array_equal(np.stack(found, 1), value)
