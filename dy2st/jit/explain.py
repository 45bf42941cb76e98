"""`explain()`: what was staged and why, why there is more than one trace, and what was compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dy2st_runtime.errors import shorten_path
from dy2st_runtime.executor.executable import Executable

from .splits import describe

if TYPE_CHECKING:
    from .static_function import StaticFunction


def explain(function: StaticFunction) -> str:
    """The decisions of the tracer and the reasons of the traces, as text."""
    traces = function.concrete_programs
    count = "1 trace" if len(traces) == 1 else f"{len(traces)} traces"
    lines = [f"{function.__qualname__}: {count}"]
    lines += describe(function)
    for number, concrete in enumerate(traces, start=1):
        inputs = ", ".join(f"{v.name}: {v.type}" for v in concrete.inputs) or "no tensors"
        lines.append(f"trace {number}: {concrete.reason}")
        lines.append(f"  inputs: {inputs}")
        if concrete.fixed is not None:
            lines.append(f"  of these sizes only, because with open ones: {concrete.fixed.message} ({concrete.fixed.location})")
        if concrete.captured:
            lines.append(f"  captured: {', '.join(c.variable.name for c in concrete.captured)}")
        for note in concrete.notes:
            place = f"{shorten_path(note.location.file)}:{note.location.line}" if note.location else "?"
            text = f"   | {note.location.text.strip()}" if note.location and note.location.text.strip() else ""
            lines.append(f"  {place}: {note.what} {note.why}{text}")
        for part, executable in concrete.executables.items():
            lines += [f"  {part}: {line}" if i == 0 else f"    {line}" for i, line in enumerate(_kernels(executable))]
    return "\n".join(lines) + "\n"


def _kernels(executable: Any) -> list[str]:
    """How many kernels there are, and which of them this process had to compile."""
    if not isinstance(executable, Executable):
        return ["run by the reference interpreter (DY2ST_NO_JIT)"]
    kernels = executable.kernels()
    new = [(launch, seconds) for launch, seconds in kernels if seconds is not None]
    count, engine = f"{len(kernels)} kernels for {len(executable.plan.kernels)} launches", f"engine: {executable.engine.name}"
    if not new:
        return [f"{count}, all compiled before ({engine})"]
    lines = [f"{count}; {len(new)} compiled by this process in {sum(s for _, s in new):.2f} s ({engine}), as no one before had compiled "
             "their text for this processor and these versions"]  # fmt: skip
    for launch, seconds in new:
        place = launch.op.location
        where = f" ({shorten_path(place.file)}:{place.line})" if place is not None else ""
        lines.append(f"{launch.kernel.label}{where}: {f'{seconds:.2f} s' if seconds else 'by a second process, meanwhile'}")
    return lines
