"""`ProgramRecorder`: where ops go while a Program is built by hand."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from dy2st_runtime.ir import Block, IRBuilder, Variable
from dy2st_runtime.ops import registry
from dy2st_runtime.ops.fill import assign_value_attrs
from dy2st_runtime.ops.registry import OpDef

from .. import unique_name
from ..errors import ModeError, ShapeError
from ..tensor import dispatch
from ..tensor.location import user_location, user_path
from ..tensor.tensor import Parameter, Tensor

_EXACT_IN_FLOAT = 1 << 53


class ProgramRecorder(dispatch.Recorder):
    """Appends ops to the current block of a Program.

    Concrete tensors that meet the program become variables of it: persistable ones (parameters, buffers) a
    persistable variable of their name, which `captured` lists with its Tensor, others a constant.

    Args:
        block: gives the current block (that of the default main program, say).
        startup: gives the block to which the initial values of new parameters go; without it parameters are made eagerly.
    """

    def __init__(self, block: Callable[[], Block], startup: Callable[[], Block] | None = None):
        self._current, self._startup = block, startup
        self._inside: list[Block] = []
        self.captured: dict[str, Tensor] = {}

    @property
    def block(self) -> Block:
        """Where ops are appended."""
        return self._inside[-1] if self._inside else self._current()

    @contextlib.contextmanager
    def inside(self, block: Block) -> Iterator[Block]:
        """Appends to another block (a branch, a loop body) until the end of the `with`."""
        self._inside.append(block)
        try:
            yield block
        finally:
            self._inside.pop()

    # ---- Recorder ----
    def apply(self, op: type[OpDef], ins: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, ...]:
        values = tuple(
            [self.lift(t) for t in x] if isinstance(x, list) else (None if x is None else self.lift(x)) for x in ins
        )
        updated = self._updated(op, ins, values)
        names: dict[str, Sequence[str]] = {
            slot: [v.name for v in variables] for slot, (_, variables) in updated.items()
        }
        outs = self._builder().apply(op, values, attrs, self._named(op, names))
        flat = [v for x in values for v in (x if isinstance(x, list) else [x]) if v is not None]
        requires = dispatch.is_grad_enabled() and op.differentiable and any(not v.stop_gradient for v in flat)
        results = []
        for slot, out in zip(op.output_slots, outs, strict=True):
            if slot.name in updated:
                results.append(updated[slot.name][0])
            elif out is None:
                results.append(None)
            else:
                results.append([self.wrap(v, requires) for v in out] if slot.many else self.wrap(out, requires))
        return tuple(results)

    def constant(self, value: np.ndarray) -> Tensor:
        if value.ndim == 0:
            scalar = value.item()
            # a float attribute holds no large integer
            text = str(scalar) if value.dtype.kind in "iu" and abs(scalar) > _EXACT_IN_FLOAT else ""
            attrs: dict[str, Any] = {"dtype": value.dtype.name, "value": float(scalar), "str_value": text}
            record = registry.get("fill_constant")
        else:
            attrs, record = assign_value_attrs(value), registry.get("assign_value")
        ins: tuple[Any, ...] = tuple([] if slot.many else None for slot in record.input_slots)
        (out,) = self._builder().apply(record, ins, record.complete_attrs(attrs))
        out.stop_gradient = True
        return Tensor.wrap(out)

    def rebind(self, tensor: Tensor, new: Tensor) -> None:
        """State is updated by an `assign` to its variable; another tensor just takes the value of `new`."""
        self.on_mutate(tensor)
        if not self.is_state(tensor):
            tensor._value = new._value
            return
        target, source = self.lift(tensor), self.lift(new)
        if target.shape != source.shape or target.dtype != source.dtype:
            raise ShapeError(
                f"{target.name!r} is {target.type}, it cannot become {source.type}", location=user_location(2)
            )
        record = registry.get("assign")
        self._builder().apply(record, (source,), record.complete_attrs({}), {"Out": [target.name]})

    def parameter(self, name: str, shape: list[int], dtype: str, make: Callable[[list[int], str], Tensor],
                  trainable: bool) -> Parameter | None:  # fmt: skip
        if self._startup is None:
            return None
        main = self.block.program.global_block()
        if not main.has_var(name):
            main.create_var(name, dtype, shape, persistable=True, stop_gradient=not trainable, is_parameter=True)
        startup = self._startup()
        if not startup.has_var(name):
            target = startup.create_var(name, dtype, shape, persistable=True, is_parameter=True)
            with dispatch.recording(ProgramRecorder(lambda: startup)) as recorder:
                assert isinstance(recorder, ProgramRecorder)
                state = Tensor.wrap(target)
                state.persistable = True
                recorder.rebind(state, make(shape, dtype))
        p = Parameter.__new__(Parameter)
        p._value, p._stop, p._name = main.var(name), not trainable, name
        return p

    # ---- lifting ----
    def is_state(self, t: Tensor) -> bool:
        """Whether a concrete tensor is state of the program, or a constant."""
        return t.persistable

    def lift(self, t: Tensor) -> Variable:
        """The variable of this program that stands for a tensor."""
        if isinstance(t._value, Variable):
            if t._value.block.program is not self.block.program:
                raise ModeError(
                    f"variable {t._value.name!r} belongs to another program", location=user_location(2),
                    hint="build all parts under the same program_guard",
                )  # fmt: skip
            return t._value
        if self.is_state(t):
            return self.capture(t)
        lifted = self.constant(t._value)._value
        assert isinstance(lifted, Variable)
        return lifted

    def capture(self, t: Tensor) -> Variable:
        """The persistable variable of a concrete parameter or buffer."""
        block = self.block.program.global_block()
        v = block.find_var(t.name)
        if v is None:
            v = block.create_var(t.name, t.dtype, tuple(t.shape), persistable=True, stop_gradient=t.stop_gradient,
                                 is_parameter=isinstance(t, Parameter))  # fmt: skip
        self.captured[t.name] = t
        return v

    def wrap(self, v: Variable, requires: bool) -> Tensor:
        """The Tensor of a new variable; `requires`: gradients flow to it if it is of a floating dtype."""
        v.stop_gradient = not (requires and v.dtype.startswith("float"))
        return Tensor.wrap(v, v.stop_gradient)

    # ---- helpers ----
    def _builder(self) -> IRBuilder:
        return IRBuilder(self.block, user_path(3))

    def _updated(
        self, op: type[OpDef], ins: tuple[Any, ...], values: tuple[Any, ...]
    ) -> dict[str, tuple[Any, list[Variable]]]:
        """Output slot → the tensor (or list) in its in-place input slot and the variables, where these are
        persistable."""
        updated = {}
        slots = {slot.name: (t, v) for slot, t, v in zip(op.input_slots, ins, values, strict=True)}
        for out_slot, in_slot in op.inplace.items():
            tensor, v = slots[in_slot]
            variables = v if isinstance(v, list) else [v]
            if v is not None and all(one.persistable for one in variables):
                updated[out_slot] = (tensor, variables)
        return updated

    def _named(self, op: type[OpDef], names: dict[str, Sequence[str]]) -> dict[str, Sequence[str]]:
        """The names of the outputs: `mean_0.tmp_0`, counted by `unique_name`."""
        stem = unique_name.generate(op.type)
        for i, slot in enumerate(op.output_slots):
            name = f"{stem}.tmp_{i}"
            if slot.name not in names and not slot.many and not self.block.has_var(name):
                names[slot.name] = [name]
        return names
