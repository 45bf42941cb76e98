"""`Recording`: how the ops and tensors of eager code get into the blocks of a Program."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from dy2st_runtime import config, dims
from dy2st_runtime.ir import Block, IRBuilder, Program, Variable
from dy2st_runtime.ops.registry import OpDef

from ...errors import Dy2stError, LeakError, Location, ShapeError, StagedValueError, of_tracing
from ...static.recorder import ProgramRecorder
from ...tensor import Parameter, Tensor, dispatch
from ...tensor.attribute import dynamic_size
from ...tensor.failures import raise_if
from ...tensor.kinds import require_one_kind
from ...tensor.location import asked_by_debugger, instruction, user_frame, user_location, user_path
from ...tensor.promotion import as_plain_tensor
from ...tensor.random import STATE_NAME
from .. import hub, roles
from ..effects.cells import TensorCell
from ..effects.may_alias import ON_LISTS, Aliases, is_inside, who
from ..guards.activations import GradientsInside
from ..training.tensor_flags import Flags
from ..values.maybe_none import MaybeNone
from ..values.path_conditions import Facts
from ..values.symbolic_texts import StagedText

if TYPE_CHECKING:
    from ..guards.argument_identity import StandIns
    from ..trace.active_tries import ActiveTries
    from ..training.training_step import Gradients

ROLE = roles.BOOKKEEPING

Captured = tuple[Tensor, Variable]


class TooLongError(Dy2stError):
    """More ops than a trace may have that unrolls loops over sizes; whoever set the limit catches it."""


@dataclass
class Squeezes:
    """Where `squeeze` has met axes whose size is open, which it takes for 1 and the run checks, and others that are not of size 1 and stay.

    Attributes:
        decided: where it is known that the sizes of the arguments decide: with an open one that is an error.
    """

    open: set[Location | None] = field(default_factory=set)
    kept: set[Location | None] = field(default_factory=set)
    decided: Collection[Location | None] = ()


class Recording(Flags):
    """The part of a `Tracer` that appends ops to the current block, and knows which variable stands for a tensor.

    Concrete tensors that ops meet become persistable variables, one for each Tensor object; `captures` lists them. Their values are
    read at each call. Values are never updated in place: a tensor that is modified takes a new variable, and
    the journal of the innermost branch or loop notes that it did.

    Attributes:
        compared: the tensors outside that were told from others, by id; `compares_arguments`: from arguments too.
        absent: why the variables of these names may have no value.
        marked: the tensors whose texts are parts of others, each with how it is shown.
        values: the tensors that got a variable as their value when they were modified in place, by its name.
        limit: the number of ops beyond which tracing fails: with TooLongError if it is less than `config.TRACE_LIMIT`.
        shown: how many effects that others see there were.
        squeezes: what `squeeze` took for granted.
    """

    advice = (
        "use tensor operations on it, or if, while, for, int(), float(), min(), max() and the functions of math in a function "
        "with source code, where they are converted"
    )
    remedies = {
        "a comparison of items": "of two tuples or lists write one out, (score, i) > best, so that the run compares their items",
        ".numpy()": (
            "leave it out in conditions, indices and arithmetic (if x[0] > 5), use functions of tensors instead of NumPy's (exp(x), not "
            "np.exp(x)), or return the tensor and do it outside"
        ),
        "numpy.asarray()": "use functions of tensors instead of NumPy's (exp(x), not np.exp(x)), or return the tensor and do it outside",
        ".tolist()": "it is traced for up to three dims: loop over the tensor, and list each part",
        "an index (or chr(), hex() and the like)": (
            "index a tensor made of the values (to_tensor(values)[n]), or choose with if and elif; a text like chr(n) or hex(n) is made "
            "outside, of what is returned"
        ),
        "hash() (a lookup in a dict or set)": (
            "use a dict that has all its keys from the begin (d = {0: 0, 1: 0}; d[k] += 1), a list or a tensor that is indexed; or choose "
            "with if and elif, or with match"
        ),
        "an axis": "pass it as a Python number, which a trace knows (each value has a trace of its own), or choose with if and elif",
        "the number of parts of split()": (
            "pass it as a Python number, which a trace knows (each value has a trace of its own), or loop over slices of the tensor"
        ),
    }

    gradients: Gradients
    tries: ActiveTries
    stand_ins: StandIns

    def __init__(self, program: Program, open_captures: dict[int, tuple[int, ...]]) -> None:
        super().__init__(program.global_block)
        self.program = program
        self.captures: dict[int, Captured] = {}
        self.compared: dict[int, Tensor] = {}
        self.compares_arguments = False
        self.absent: dict[str, str] = {}
        self.marked: list[tuple[Tensor, str]] = []
        self.aliases = Aliases()
        self.facts = Facts()
        self.values: dict[str, Any] = {}
        self.limit = config.TRACE_LIMIT.get()
        self.squeezes = Squeezes()
        self.shown = 0
        self._open = open_captures
        self._count = 0

    def advise(self, what: str) -> str:
        frame = user_frame()
        if frame is not None and what == "bool()" and instruction(frame).startswith("COMPARE_OP"):  # Python asks, for items
            what = "a comparison of items"
        return hub.why_unconverted(frame and frame.f_code) or ProgramRecorder.advise(self, what)

    # ---- ops ----
    def _end(self) -> NoReturn:
        if self.limit < config.TRACE_LIMIT.get():
            raise TooLongError(f"a trace of more than {self.limit} ops", location=user_location(4))
        raise StagedValueError(
            f"more than {self.limit} operations are recorded in one trace: a loop that Python counts is unrolled, and seems to have no end",
            location=user_location(4), hint="loop over a tensor, or a `range` of one, which is recorded once; or set DY2ST_TRACE_LIMIT",
        )  # fmt: skip

    def apply(self, op: type[OpDef], ins: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, ...]:
        self._count += 1
        if self._count > self.limit:
            self._end()
        if op.may_raise and (self.tries.active or self.tries.enclosing_handlers) and self.tries.intercept(op, ins, attrs):
            return ()
        values = tuple(
            [self.lift(t) for t in x] if isinstance(x, list) else (None if x is None else self.lift(x)) for x in ins
        )
        inputs = {slot.name: (t, v) for slot, t, v in zip(op.input_slots, ins, values, strict=True)}
        # the state of the generator is an ordered effect, which the program updates itself
        drawn = {
            o: [v.name]
            for o, i in op.inplace.items()
            if isinstance(v := inputs[i][1], Variable) and v.name == STATE_NAME
        }
        if self.gradients.stepping:
            for o, i in op.inplace.items():
                t, v = inputs[i]
                # what an optimizer does not keep is None; what the function has modified before, or a branch updates, gets another variable
                if isinstance(v, Variable) and v.persistable and id(t) in self.captures and not self.frames:
                    self.gradients.note_written(t)
                    drawn[o] = [v.name]
        try:
            outs = self._builder().apply(op, values, attrs, self._named(op, dict(drawn)))
        except Dy2stError as error:
            if op.type in ON_LISTS:
                of_tracing(error)
            raise
        flat = [v for x in values for v in (x if isinstance(x, list) else [x]) if v is not None]
        # what is put into a list or taken out of it in `no_grad()` stays what it was
        self.records_gradients |= dispatch.is_grad_enabled()
        recorded = dispatch.is_grad_enabled() or op.type in ON_LISTS
        requires = recorded and op.differentiable and any(not v.stop_gradient for v in flat)
        results: list[Any] = []
        changes = op.changes(attrs)
        for slot, out in zip(op.output_slots, outs, strict=True):
            target = inputs.get(op.inplace.get(slot.name, ""), (None, None))[0]
            if slot.name in drawn or out is None or (target is not None and slot.name not in changes):
                results.append(target)
            elif target is not None:
                for t, v in zip(target if slot.many else [target], out if slot.many else [out], strict=True):
                    v.stop_gradient = True
                    self.assign(t, self.lift(self.keep_gradient_place(t, Tensor.wrap(v))) if self.gradients.stepping else v)
                results.append(target)
            else:
                results.append([self.wrap(v, requires) for v in out] if slot.many else self.wrap(out, requires))
        made = [v for out in outs for v in (out if isinstance(out, list) else [out]) if v is not None]
        if requires:
            self.needs.computed(flat, made)
        if op.type in ON_LISTS:
            self.needs.moved(flat, made)
            self.aliases.passed(op.type, {slot.name: t for slot, t in zip(op.input_slots, ins, strict=True)}, results)
        return tuple(results)

    def _named(self, op: type[OpDef], names: dict[str, Sequence[str]]) -> dict[str, Sequence[str]]:
        """`mean_0.tmp_0`, counted by the Program: tracing must not move the counters that name the user's layers."""
        stem = self.program.fresh_name(op.type)
        for i, slot in enumerate(op.output_slots):
            name = f"{stem}.tmp_{i}"
            if slot.name not in names and not slot.many and not self.program.has_name(name):
                names[slot.name] = [name]
        return names

    def builder(self) -> IRBuilder:
        """A builder for the current block, with the user's location."""
        return IRBuilder(self.block, user_path(2))

    # ---- values ----
    def lift(self, t: Tensor) -> Variable:
        self.aliases.require_fresh(t, self.block)
        return self.carry(t)

    def carry(self, t: Tensor) -> Variable:
        """`lift` without a look at the value: it is only handed on under another name."""
        v = t._value
        if not isinstance(v, Variable):
            return self.capture(t)
        if isinstance(t, MaybeNone):
            self.require_not_none(t.is_none, "unsupported operand: the value is None here, an operation on a tensor was expected")
        if t._kinds is not None and t._kinds.number is not None:
            t = as_plain_tensor(t)
        require_one_kind(t, "what is done with it depends on that")
        return self.visible(super().lift(t))

    def visible(self, v: Variable) -> Variable:
        """The variable, or what it is after a check that it has a value, if the current block can read it; LeakError otherwise."""
        if self.can_read(v):
            return self._checked(v) or v
        made = next((op.location for op in v.block.ops if v.name in op.output_names), None)
        raise LeakError(
            "a tensor that was computed inside a branch or a loop is used outside of it"
            + (f"; it was computed at {made}" if made else ""),
            location=user_location(2),
            hint="assign it to a local variable or an attribute of self in the same function, so that it is carried out",
        )

    def can_read(self, v: Variable) -> bool:
        """Whether a variable is of the current block or one around it."""
        return self.is_around(v.block)

    def is_around(self, outer: Block) -> bool:
        """Whether a block is the current one or one around it."""
        return is_inside(self.block, outer)

    def capture(self, t: Tensor) -> Variable:
        known = self.captures.get(id(t))
        if known is not None:
            return known[1]
        block = self.program.global_block()
        shape = self._open.get(id(t), tuple(t._value.shape))
        name = t.name if not self.program.has_name(t.name) else self.program.fresh_name(t.name)
        stop = t._stop or t.dtype not in ("float16", "float32", "float64")
        v = block.create_var(
            name, t.dtype, shape, persistable=True, stop_gradient=stop, is_parameter=isinstance(t, Parameter)
        )
        self.captures[id(t)] = (t, v)
        return v

    def note_compared(self, *values: Any) -> None:
        """Whether these are one object is about to be decided, for all calls that the trace serves."""
        outside = [x for x in values if isinstance(x, Tensor) and (not x.is_symbolic or id(x) in self.originals)]
        self.compared.update((id(x), x) for x in outside)
        self.compares_arguments |= bool(outside) and any(id(x) in self.arguments and x not in self.stand_ins for x in values)

    def on_squeeze(self, tensor: Tensor, axis: int) -> None:
        shape, at = tensor._value.shape, user_location(2)
        if shape[axis] != -1:
            self.squeezes.kept.add(at)
        elif at not in self.squeezes.decided:
            self.squeezes.open.add(at)
        else:
            raise ShapeError(f"squeeze of {dims.show(shape)}: whether axis {axis} has size 1 decides how many dims are left", location=at)

    def open_dim(self, tensor: Tensor, axis: int) -> Any:
        return dynamic_size(tensor, axis)

    def read(self, tensor: Tensor, what: str) -> np.ndarray:
        # also the value of a concrete tensor is one that may be another at the next call
        raise dispatch.staged_value_error(tensor, what)

    def text(self, tensor: Tensor, spec: str) -> str | None:
        if asked_by_debugger():
            return None
        if hub.is_called_unconverted():  # what it does with the text nobody sees: look at its characters, say
            raise dispatch.staged_value_error(tensor, "its text")
        if tensor._kinds is None or tensor._kinds.number is None or sum(k.weak for k in tensor._kinds.all) > 1:
            require_one_kind(tensor, "its text depends on that")
        return self.mark(tensor, f":{spec}" if spec else "")

    def mark(self, tensor: Tensor, shown: str) -> StagedText:
        """What stands for the text of a tensor, shown as an f-string says with this conversion and format."""
        if not self.may_record and tensor.dtype.startswith("float") and any(
                id(t) in self.arguments for t in (who(tensor), *self.aliases.of(tensor).values())):  # fmt: skip
            raise GradientsInside  # the text says whether an argument wants a gradient, whatever the caller's mode
        self.aliases.require_fresh(tensor, self.block)
        # cannot be part of a text of the user; `printing.texts` puts the tensor in its place
        self.marked.append((self._as_now(tensor), shown))
        return StagedText(f"\0{len(self.marked) - 1}\0")

    def _as_now(self, t: Tensor) -> Tensor:
        """Another object for the value that a tensor has now: a text stays as it is, whatever is done to the tensor in place."""
        now = t.alike(t._value if isinstance(t._value, Variable) else self.capture(t))
        now._who = None
        return MaybeNone.of(now, t.is_none) if isinstance(t, MaybeNone) else now

    def require_not_none(self, is_none: Tensor, text: str, exception: type[Exception] = TypeError) -> None:
        """Raises at run time, as eager would, if a value is None."""
        if self.facts.of(is_none) is not False:
            raise_if(is_none, exception, text)

    def effect(self, op_type: str, **slots_and_attrs: Any) -> None:
        """An op that is run for its effect."""
        self.shown += op_type != "assert"
        dispatch.ops.op(op_type, **slots_and_attrs)

    def start_random(self, state: Tensor, value: np.ndarray) -> bool:
        dispatch.ops.op("rng_restore", State=state, X=dispatch.constant(value))
        return True

    def on_random_state(self) -> None:
        raise StagedValueError("the state of the random generator is only known when the program runs", location=user_location(2),
                               hint="call get_rng_state() outside of the static function")  # fmt: skip

    def why_absent(self, v: Variable) -> str:
        """Why a variable may have no value here; "" if it has one."""
        return "" if self._checked(v) is not None else self.absent.get(v.name, "")

    def _checked(self, v: Variable) -> Variable | None:
        """The variable, as it is known to have a value here."""
        found = self.facts.present.get(v.name)
        return found if found is not None and self.can_read(found) else None

    # ---- mutation ----
    def on_mutate(self, tensor: Any) -> None:
        """Notes the value that a tensor (or staged list) has before it is modified."""
        if not isinstance(tensor._value, Variable):
            v = self.capture(tensor)
            self.originals.setdefault(id(tensor), (tensor, tensor._value))
            tensor._value = v
        if self.frames and not is_inside(tensor._value.block, self.frames[-1].block):
            cell = TensorCell(tensor)
            self.frames[-1].tensors.setdefault(cell.key, (cell, tensor._value))

    def assign(self, tensor: Any, v: Variable) -> None:
        """A tensor (or staged list) is modified in place: it gets another variable."""
        wholes = list(_wholes(tensor))
        self.gradients.require_modifiable(tensor, *wholes)
        self.aliases.mutated(tensor, self.block)
        self.carry_on(tensor, v)
        for whole in wholes:
            if whole._kinds is not None and v.dtype != whole.dtype:
                raise whole._kinds.fail(f"modified in place, the tensor becomes {v.dtype}")
            self.carry_on(whole, v)

    def carry_on(self, tensor: Any, v: Variable) -> None:
        """Gives a tensor the variable that stands for its value from now on."""
        self.on_mutate(tensor)
        self.values.setdefault(v.name, tensor)
        tensor._value = v

    def rebind(self, tensor: Tensor, new: Tensor) -> None:
        self.assign(tensor, self.lift(new))


def _wholes(tensor: Any) -> Iterator[Tensor]:
    """What a tensor is a part of, from the inside out: what may be None is modified by the tensor in it."""
    whole = tensor._whole if isinstance(tensor, Tensor) else None
    while whole is not None:
        yield whole
        whole = whole._whole
