"""Golden tests of passes: what a Program looks like after one."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from dy2st_runtime.ir import Variable, verify
from dy2st_runtime.passes.manager import Pass

from hand_built import Made  # isort: skip


def assert_after(one: Pass, m: Made, keep: Sequence[Variable], expected: str, *, changed: bool = True) -> None:
    """Runs one pass and compares the ops, without the outer braces and the indentation."""
    verify(m.program)
    before = str(m.program)
    assert one(m.program, frozenset(v.name for v in keep)) is changed
    verify(m.program)
    body = "\n".join(str(m.program).splitlines()[1:-1])
    got, want = textwrap.dedent(body).strip(), textwrap.dedent(expected).strip()
    assert got == want, f"before:\n{before}\nafter:\n{got}\nexpected:\n{want}"
