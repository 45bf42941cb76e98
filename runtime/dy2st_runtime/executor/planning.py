"""A Program becomes a plan and the source of its kernels."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from .. import config
from ..codegen import cpu, layout
from ..errors import CompileError
from ..ir.program import Program
from ..ir.visit import clone_program
from ..loopir.printer import show_kernel
from ..lowering.lower import lower
from ..lowering.schedule import Launch
from ..passes.pipeline import optimize
from . import routines
from .engines import Engine
from .kept import Details, Planned
from .plan import make_plan


def planned_anew(program: Program, feed_names: Sequence[str], fetch_names: Sequence[str], absent_feeds: Sequence[str],
                 engine: Engine) -> Planned:  # fmt: skip
    """Takes a copy of a Program through the passes, lowering and planning; see `Executable`.

    Raises:
        CompileError: a variable has more dims than a descriptor holds.
    """
    from .compile import compiler

    made, updates, shapes = optimize(clone_program(program), feed_names, fetch_names, absent_feeds)
    block = made.global_block()
    state_names = [v.name for v in block.vars.values() if v.persistable]
    texts = _Texts(config.CHECKS.get())
    # kernels of loops and branches are lowered one by one, and to lower takes as long as to compile some of them
    launched = (lambda launch: compiler().ahead(texts.of(launch), engine)) if compiler().takes_ahead else None
    schedule = lower(made, shapes, frozenset(absent_feeds), routines=True, winograd=config.WINOGRAD.get(), launched=launched)
    used = set(schedule.variables)
    only_written = {name for name in updates if name not in used}
    for name in [*feed_names, *fetch_names, *updates, *updates.values()]:
        schedule.variables.setdefault(name, block.var(name))
    state_names = [name for name in state_names if name in schedule.variables]
    plan = make_plan(schedule, [*feed_names, *state_names], fetch_names, updates)
    sources = [texts.of(launch) for launch in plan.kernels]
    if config.dumping("loop"):
        print("\n".join(show_kernel(launch.kernel) for launch in plan.kernels), file=sys.stderr)
    if config.dumping("source"):
        # what a kernel is called is no part of its source: one may be that of different ops
        labels = {source: launch.kernel.label for launch, source in zip(reversed(plan.kernels), reversed(sources), strict=True)}
        print("\n".join(f"# {labels[source]}\n{source}" for source in dict.fromkeys(sources)), file=sys.stderr)
    types = []
    for name in plan.names:
        v = schedule.variables[name]
        types.append((v.dtype, len(v.shape), v.kind == "array"))
        if len(v.shape) > layout.MAX_RANK:
            op = next((k.op for k in plan.kernels if k.op is not None and v.name in k.writes()), None)
            raise CompileError(f"{v.name!r} has {len(v.shape)} dims; at most {layout.MAX_RANK} are supported",
                               location=op.location if op else None)  # fmt: skip
    places = {v.name: (v.dtype, v.shape, v.kind) for v in map(block.var, [*feed_names, *state_names])}
    symbols = [compiler().symbol(source, engine) for source in sources]
    return Planned(plan, updates, state_names, only_written, types, places, symbols, routines.called(list(dict.fromkeys(sources))),
                   Details(made, sources))  # fmt: skip


class _Texts:
    """The source of each kernel; layers of a kind have equal ones.

    Args:
        bounds: whether they check indices.
    """

    def __init__(self, bounds: bool):
        self._bounds = bounds
        self._rendered: dict[Any, str] = {}

    def of(self, launch: Launch) -> str:
        key = launch.kernel.key, tuple(cpu.by_argument(launch.kernel, launch.views).items())
        if key not in self._rendered:
            self._rendered[key] = cpu.render(launch.kernel, bounds=self._bounds, views=launch.views)
        return self._rendered[key]
