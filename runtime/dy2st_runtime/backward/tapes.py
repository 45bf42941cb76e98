"""Values that the gradient of a block needs, by way of tapes: of a function, or of a loop's body with calls in it."""

from __future__ import annotations

from ..ir.program import Block, Variable
from ..ir.visit import free_names, rename_reads
from .sweep import Builder, State


def keep_on_tapes(state: State, source: Block, reader: Block) -> None:
    """Lets `reader` pop at its begin what it reads of the variables of `source`, which pushes them at its end.

    A reader runs once for each run of the source, in the reverse order.
    """
    names: dict[str, str] = {}
    push, pop = Builder(source, state), Builder(reader, state, index=0)
    for name in free_names(reader):
        if name not in source.vars:
            continue
        v = source.vars[name]
        if v.kind == "array":
            length = push.op("lod_array_length", X=v)
            count = _through(state, push, pop, length)
            tape = _tape(state, v)
            push.op("tape_extend", Tape=tape, Array=v)
            taken = pop.op("tape_take", Tape=tape, Count=count)
        else:
            taken = _through(state, push, pop, v)
        taken.stop_gradient = v.stop_gradient
        names[name] = taken.name
    rename_reads(reader, names)


def _through(state: State, push: Builder, pop: Builder, v: Variable) -> Variable:
    """The value of a dense variable, where it is popped."""
    tape = _tape(state, v)
    push.op("tape_push", Tape=tape, X=v)
    return pop.op("tape_pop", Tape=tape)


def _tape(state: State, v: Variable) -> Variable:
    """A new tape for values like that of a variable; all functions see it."""
    b = Builder(v.block.program.global_block(), state, index=0)
    return b.op("create_tape", dtype=v.dtype, shape=list(v.shape))
