"""A whole training step in a static function: `backward()`, the `.grad` of leaves, and the step of an optimizer.

What a leaf has in `.grad` when a call begins is not known while tracing. So a function that calls `backward()` is for leaves without a
gradient, which each call checks, or clears them itself before.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dy2st_runtime.ir import Variable
from dy2st_runtime.ir.absent import maybe_absent

from ..errors import GradientError, StagedValueError, StructureError
from ..tensor import Tensor, dispatch
from ..tensor.autograd import no_grad
from ..tensor.location import user_location
from .aliases import who
from .gradients import raw_gradients, require_no_hook

if TYPE_CHECKING:
    from .tracer import Tracer


class Gradients:
    """The gradients of leaves, as a traced function has them.

    Attributes:
        found: what `.grad` of a leaf is now, by id; None: nothing.
        clean: the leaves that must have no gradient when a call begins, by id.
        inputs: the arguments and tensors of the outside by which `grad()` differentiates, by id.
        written: the tensors that the step of an optimizer updates in place, by id.
        stepping: whether the ops of such a step are being traced.
    """

    def __init__(self, tracer: Tracer):
        self._tracer = tracer
        self.found: dict[int, tuple[Tensor, Tensor | None]] = {}
        self.clean: dict[int, Tensor] = {}
        self.inputs: dict[int, Tensor] = {}
        self.written: dict[int, Tensor] = {}
        self.stepping = False
        self._called = False
        self._freed: set[str] = set()
        self._absent: set[str] = set()  # the gradients that some runs do not have

    # ---- `.grad` ----
    def get(self, t: Tensor) -> Tensor | None:
        """`t.grad`.

        Raises:
            StagedValueError: it comes from outside, is that of a tensor that is no leaf, or only the run knows whether there is one.
        """
        g = self._now(t, "read")
        if g is not None and self._may_be_absent(g):
            raise StagedValueError(
                "only the run knows whether there is a gradient: the tensor is used under a condition on tensors",
                location=user_location(3), hint="leave it to the optimizer, which skips what has no gradient, or read it outside",
            )  # fmt: skip
        return g

    def _may_be_absent(self, g: Tensor) -> bool:
        return self._tracer.lift(g).name in self._absent

    def set(self, t: Tensor, value: Tensor | None) -> None:
        """`t.grad = value`, of which only None is possible.

        Raises:
            StagedValueError: it is a tensor, or a condition on tensors decides.
        """
        if value is not None or self._tracer.block is not self._tracer.program.global_block():
            raise StagedValueError(
                "the gradient of a tensor can only be cleared in a static function, and not under a condition on tensors",
                location=user_location(3), hint="do it outside of the static function",
            )  # fmt: skip
        self.found[id(t)] = t, None

    def _now(self, t: Tensor, use: str) -> Tensor | None:
        if id(t) in self.found:
            return self.found[id(t)][1]
        if self._tracer.is_new_leaf(t):
            return None
        if not self._called or not self._tracer.is_leaf(t):
            raise StagedValueError(
                f"the gradient of a tensor cannot be {use} in a static function: it comes from backward(), outside, and each call has "
                "another" if not self._called else "only leaves keep the gradients of a backward() in a static function",
                location=user_location(4), hint="do it outside, or compute gradients in the function with paddle.grad()",
            )  # fmt: skip
        self.clean[id(t)] = t
        return None

    # ---- `grad()` ----
    def note_inputs(self, tensors: Sequence[Tensor]) -> None:
        """`grad()` differentiates by these, or by what is one of them in some runs."""
        tracer = self._tracer
        outside = {*map(id, tracer.placeholders), *(id(t) for t, _ in tracer.captures.values())}
        for t in tensors:
            own = {id(who(t)): who(t), **tracer.aliases.of(t)}
            self.inputs |= {key: x for key, x in own.items() if key in outside}

    # ---- `backward()` ----
    def backward(self, tensors: Sequence[Tensor], grads: Sequence[Tensor | None], retain_graph: bool) -> None:
        """Adds the gradients to the leaves'.

        Raises:
            StagedValueError: a condition on tensors decides whether it is called, a leaf has a hook, or the gradient flows on into what was
                computed outside of the function.
            StructureError: a leaf already has a gradient that only some runs have.
            GradientError: no gradient flows to a tensor, the graph was freed, or what a gradient needs has been updated before.
        """
        tracer = self._tracer
        names = {tracer.lift(t).name for t in tensors}
        if names & self._freed:
            hint = "pass retain_graph=True to all but the last call of backward() or grad()"
            raise GradientError("the graph was freed by an earlier backward()", hint=hint).at(user_location(3))
        self._freed |= set() if retain_graph else names
        given = [t for t in (*(t for t, _ in tracer.captures.values()), *tracer.placeholders) if t.dtype.startswith("float")]
        leaves = [t for t in given if not t._stops and tracer.is_leaf(t)] + [t for t in tracer.leaves_made if tracer.is_new_leaf(t)]
        computed = [t for t in given if not t._stops and not tracer.is_leaf(t)]
        require_no_hook(leaves, "backward()")
        found = raw_gradients(tracer, tensors, [*leaves, *computed], grads, (), "backward()")
        for t, v in zip(computed, found[len(leaves):], strict=True):
            if v is not None:
                what = f"the argument {tracer.lift(t).name!r}" if id(t) in tracer.arguments else "a tensor of the outside"
                raise StagedValueError(
                    f"the gradient flows on from {what} (a {tracer.lift(t).type}) into what has been computed outside of the function",
                    location=user_location(3), hint="compute that in the function too, call backward() outside, or give x.detach()",
                )  # fmt: skip
        del found[len(leaves):]
        self._called = True
        self._absent |= {v.name for v in found if v is not None} & maybe_absent(tracer.program)
        for leaf, v in zip(leaves, found, strict=True):
            if v is None:
                continue
            v.stop_gradient = True
            before, new = self._now(leaf, "read"), Tensor.wrap(v, True)
            if before is not None:
                if self._may_be_absent(before) or self._may_be_absent(new):
                    raise StructureError("a second backward() adds to a gradient that only some runs have", location=user_location(3),
                                         hint="add the losses, and call backward() once")  # fmt: skip
                with no_grad():
                    new = dispatch.ops.op("elementwise_add", X=before, Y=new)
            self.found[id(leaf)] = leaf, new

    # ---- the step of an optimizer ----
    def pairs(self, params: Sequence[Tensor]) -> list[tuple[Tensor, Tensor]]:
        """The parameters that have a gradient, at least in some runs, with it."""
        found = [(p, self._now(p, "used")) for p in params if not p._stops]
        return [(p, g) for p, g in found if g is not None]

    @contextlib.contextmanager
    def step(self, state: Sequence[dict], required: Sequence[Tensor], settings: Iterable[tuple[Any, Sequence[str]]]) -> Iterator[None]:
        """Within this `with` the ops of a step are traced; see `Recorder.step`.

        Raises:
            StagedValueError: a condition on tensors decides whether the step is made, or whether a gradient is there that must be.
        """
        tracer = self._tracer
        if tracer.block is not tracer.program.global_block():
            raise StagedValueError("the step of an optimizer under a condition on tensors", location=user_location(3),
                                   hint="make it before or after, or outside of the static function")  # fmt: skip
        if any(self._may_be_absent(g) for g in required):
            raise StagedValueError("only the run knows whether there is a gradient, and this optimizer does more than nothing without one",
                                   location=user_location(3), hint="make the step outside of the static function, or use Adam")  # fmt: skip
        for owner, names in settings:
            for name in names:
                tracer.ask(owner, name)
        self.stepping = True
        try:
            yield
        finally:
            self.stepping = False
            for tensors in state:
                tracer.root.renew(tensors)
                tracer.state_made.note_accumulators(tensors)

    def note_written(self, t: Tensor, v: Variable) -> None:
        """An update op writes to a tensor, whose variable keeps its name.

        Raises:
            StructureError: it is none of the outside, or the function has modified it before.
        """
        if not v.persistable or id(t) not in self._tracer.captures:
            raise StructureError("an optimizer updates a parameter that the static function has modified before", location=user_location(4),
                                 hint="make it two static functions")  # fmt: skip
        self.written[id(t)] = t
        self._tracer.aliases.mutated(t, self._tracer.block)
