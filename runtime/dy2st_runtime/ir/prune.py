"""Pruning a Program to what some of its variables need: for inference models and `clone(for_test)`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..errors import FetchError
from .functions import drop_unread_tapes, drop_unused_functions, is_tape_op, tapes
from .program import Block, Operator, Program
from .visit import all_ops, called, clone_program, reads

RNG = "@RNG@"


def prune(program: Program, feed_names: Sequence[str], fetch_names: Sequence[str], draws: bool = False) -> Program:
    """A copy of a Program with only the ops that the fetches need.

    Other than dead-code elimination this drops effects: updates of persistable variables that nothing wanted reads
    afterwards, and random draws whose result nobody wants, unless these are to stay too, as later ones continue from them.
    Checks and prints stay if what they read can be computed from the feeds.

    Args:
        program: is not changed.
        feed_names: data variables that are given. Other data variables are dropped.
        fetch_names: variables of the global block that are wanted; of a persistable one, the value that it has before
        the run.
        draws: whether random draws stay, if what they read can be computed from the feeds.

    Raises:
        FetchError: a fetch is no variable of the global block, or needs a data variable that is not fed.
    """
    copy = clone_program(program)
    block = copy.global_block()
    for name in fetch_names:
        if name not in block.vars:
            raise FetchError(f"the program has no variable {name!r} to fetch")
    available = {v.name for v in block.vars.values() if v.persistable} | set(feed_names)
    for op in block.ops:
        if all(name in available for name in reads(op)):
            available.update(op.output_names)
    _Pruner(block, available, draws).block(block, {n for n in fetch_names if not block.vars[n].persistable})
    used = {name for op in block.ops for name in reads(op)} | set(fetch_names) | set(feed_names)
    drop_unused_functions(copy)
    drop_unread_tapes(copy)
    missing = [v.name for v in block.vars.values() if v.is_data and v.name in used and v.name not in feed_names]
    if missing:
        raise FetchError(f"the fetches need {', '.join(map(repr, missing))}, which is not among the feeds",
                         hint="add it to the feeds, or fetch something that does not depend on it")  # fmt: skip
    made = {name for op in block.ops for name in op.output_names}
    for name in [n for n in block.vars if n not in used and n not in made]:
        del block.vars[name]
    return copy


class _Pruner:
    """`available`: the names of the global block that can be computed from the feeds; `draws`: whether random draws stay."""

    def __init__(self, block: Block, available: set[str], draws: bool):
        self.unavailable, self.draws = set(block.vars) - available, draws
        self.tapes = tapes(block)

    def block(self, block: Block, wanted: set[str]) -> None:
        """Drops what does not lead to the wanted names."""
        live = set(wanted)
        kept = []
        for op in reversed(block.ops):
            stays = self.checks(op) and self.unavailable.isdisjoint(reads(op))
            if not stays and live.isdisjoint(self.writes(op, block)):
                _forget(block, op.output_names)
                continue
            if op.type == "cond":
                self.cond(op, block, live)
            elif op.type == "while_loop":
                self.loop(op, block, live)
            kept.append(op)
            live.update(reads(op))
            live.discard(RNG)
        block.ops[:] = reversed(kept)

    def checks(self, op: Operator) -> bool:
        """Whether an op, or one in its blocks or in the functions that it calls, checks or prints something, or starts the random numbers
        anew; or draws, if draws stay."""
        blocks = [*op.blocks, *(f.block for f in called([op]))]
        inner = [op, *(inner for sub in blocks for inner in all_ops(sub))]
        return any(_checks(x) or (self.draws and RNG in x.output_names) for x in inner)

    def cond(self, op: Operator, block: Block, live: set[str]) -> None:
        outs = op.output("Out")
        keep = [i for i, name in enumerate(outs) if name in live]
        _forget(block, [n for i, n in enumerate(outs) if i not in keep])
        op.outputs["Out"] = _pick(outs, keep)
        for sub in op.blocks:
            sub.results = _pick(sub.results, keep)
            self.block(sub, {*sub.results, *self.outlasting(block, live)})

    def loop(self, op: Operator, block: Block, live: set[str]) -> None:
        test, body = op.attrs["cond_block"], op.attrs["body_block"]
        outs, inits, saved = op.output("Out"), op.input("X"), op.output("Saved")
        inside = {name for sub in (test, body) for inner in sub.ops for name in reads(inner)}
        state = self.outlasting(block, live | inside)  # an iteration may read what an earlier one wrote
        self.block(test, {*test.results, *state})
        keep_saved = [i for i, name in enumerate(saved) if name in live]
        always = {*state, *_pick(op.attrs["saved"], keep_saved)}
        read = {name for inner in test.ops for name in reads(inner)} | set(test.results)
        keep = {i for i, name in enumerate(outs) if name in live or test.params[i] in read}
        while True:  # a loop variable is needed if a needed one is computed from it
            needed = _closure(body, always | {body.results[i] for i in keep})
            more = keep | {i for i, name in enumerate(body.params) if name in needed}
            if more == keep:
                break
            keep = more
        order = sorted(keep)
        self.block(body, always | {body.results[i] for i in order})
        for sub in (test, body):
            _forget(sub, [p for i, p in enumerate(sub.params) if i not in keep])
            sub.params = _pick(sub.params, order)
        body.results = _pick(body.results, order)
        _forget(
            block,
            [n for i, n in enumerate(outs) if i not in keep] + [n for i, n in enumerate(saved) if i not in keep_saved],
        )
        op.inputs["X"], op.outputs["Out"] = _pick(inits, order), _pick(outs, order)
        op.outputs["Saved"], op.attrs["saved"] = _pick(saved, keep_saved), _pick(op.attrs["saved"], keep_saved)


    def writes(self, op: Operator, block: Block) -> list[str]:
        """What an op assigns: its outputs, the persistable variables that its blocks update, and the tapes that it uses at all, as
        what it leaves on a tape is what the next one finds."""
        names = list(op.output_names)
        if is_tape_op(op) or op.function is not None:
            names += [name for name in reads(op) if name in self.tapes]
        for sub in op.blocks:
            for inner in sub.ops:
                names += self.outlasting(block, self.writes(inner, sub))
        return names

    def outlasting(self, block: Block, names: Iterable[str]) -> list[str]:
        """Those among names that stand for what outlasts a block that changes it: persistable variables and tapes."""
        found = ((name, block.find_var(name)) for name in names)
        return [name for name, v in found
                if v is not None and (v.persistable or name in self.tapes) and name != RNG]  # fmt: skip


def _checks(op: Operator) -> bool:
    if op.type == "rng_restore":  # nobody names the state that later draws begin from
        return True
    return op.record.effect and not op.record.inplace and op.function is None and not is_tape_op(op)


def _closure(body: Block, names: set[str]) -> set[str]:
    """All names that some names are computed from in a body; what effects and nested blocks read is counted in."""
    live = set(names)
    for op in reversed(body.ops):
        if op.record.effect or op.blocks or not live.isdisjoint(op.output_names):
            live.update(reads(op))
    return live




def _pick(items: list[str], at: Iterable[int]) -> list[str]:
    return [items[i] for i in at]


def _forget(block: Block, names: Iterable[str]) -> None:
    for name in names:
        v = block.vars.get(name)
        if v is not None and not v.persistable:
            del block.vars[name]
