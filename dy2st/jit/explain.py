"""`explain()`: what was staged and why, and why there is more than one trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dy2st_runtime.errors import shorten_path

from .splits import describe

if TYPE_CHECKING:
    from .static_function import StaticFunction


def explain(function: StaticFunction) -> str:
    """The decisions of the tracer and the reasons of the traces, as text."""
    traces = function.concrete_programs
    count = "1 trace" if len(traces) == 1 else f"{len(traces)} traces"
    lines = [f"{function.__qualname__}: {count}"]
    lines += describe(function)
    for i, concrete in enumerate(traces, start=1):
        inputs = ", ".join(f"{v.name}: {v.type}" for v in concrete.inputs) or "no tensors"
        lines.append(f"trace {i}: {concrete.reason}")
        lines.append(f"  inputs: {inputs}")
        if concrete.fixed is not None:
            lines.append(f"  of these sizes only, because with open ones: {concrete.fixed.message} ({concrete.fixed.location})")
        if concrete.captured:
            lines.append(f"  captured: {', '.join(c.variable.name for c in concrete.captured)}")
        for note in concrete.notes:
            place = f"{shorten_path(note.location.file)}:{note.location.line}" if note.location else "?"
            text = f"   | {note.location.text.strip()}" if note.location and note.location.text.strip() else ""
            lines.append(f"  {place}: {note.what} {note.why}{text}")
    return "\n".join(lines) + "\n"
