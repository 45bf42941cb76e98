"""`Program` as users build it, and which one is being built."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from dy2st_runtime import formats, ir
from dy2st_runtime.ir.visit import all_ops, clone_program, reads
from dy2st_runtime.scope import Scope

from ..errors import ModeError, ScopeError
from ..tensor import Parameter, Tensor, dispatch
from ..tensor.location import user_location
from .recorder import ProgramRecorder
from .scope import global_scope


class ProgramDesc:
    """What `program.desc` gives: the program in PaddlePaddle's wire format."""

    def __init__(self, program: Program):
        self._program = program

    def serialize_to_string(self) -> bytes:
        """The serialized ProgramDesc; `Program.parse_from_string` reads it back."""
        return formats.program_to_bytes(self._program)


class Program(ir.Program):
    """A program built by hand, under `program_guard` or after `enable_static`.

    Attributes:
        random_seed: not 0: what the first run in a Scope starts the random generator with.
        parameters: the tensors that stand for the parameters (and buffers) made for this program, by name.
        captured: eager tensors (parameters of Layers, buffers) that ops of the program use, by name: their values live
        in
            the tensors, not in a Scope.
        before_run: functions of a Scope that the Executor calls before each run: a schedule sets its learning rate.

    Example:
        >>> from dy2st import static, unique_name
        >>> main = static.Program()
        >>> with static.program_guard(main), unique_name.guard():
        ...     x = static.data("x", [None, 2])
        ...     y = x * 2.0
        >>> print(main)
        program {
          data x: float32[?, 2]
          scale_0.tmp_0: float32[?, 2] = scale(X=x, scale=2)
        }
        <BLANKLINE>
    """

    hand_built = True

    def __init__(self) -> None:
        super().__init__()
        self.parameters: dict[str, Tensor] = {}
        self.captured: dict[str, Tensor] = {}
        self.before_run: list[Callable[[Scope], None]] = []

    @property
    def desc(self) -> ProgramDesc:
        return ProgramDesc(self)

    def clone(self, for_test: bool = False) -> Program:
        """A copy.

        Args:
            for_test: without gradients and updates of parameters, and with dropout and batch norm as in `eval()`.
        """
        copy = Program()
        clone_program(self, copy)
        copy.parameters, copy.captured = dict(self.parameters), dict(self.captured)
        copy.before_run = list(self.before_run)
        if for_test:
            _drop_training(copy)
        return copy

    def to_string(self, throw_on_error: bool = True, with_details: bool = False) -> str:
        """The program in PaddlePaddle's protobuf text form; `str(program)` is shorter and structured."""
        return formats.program_to_text(self)

    @staticmethod
    def parse_from_string(binary_str: bytes) -> Program:
        """Reads what `desc.serialize_to_string()` gave, or PaddlePaddle's own.

        Raises:
            FormatError: malformed, or with ops that are not supported.
        """
        program = Program()
        formats.program_from_bytes(binary_str, into=program)
        return program

    def current_block(self) -> ir.Block:
        """The block that ops are appended to."""
        recorder = dispatch.current_recorder()
        if isinstance(recorder, ProgramRecorder) and recorder.block.program is self:
            return recorder.block
        return self.global_block()

    def state_dict(self, mode: str = "all", scope: Scope | None = None) -> dict[str, np.ndarray]:
        """The values of the persistable variables.

        Args:
            mode: "all", "param" (only parameters) or "opt" (only the others).
            scope: default: the global scope.

        Raises:
            ScopeError: one has no value.
        """
        if mode not in ("all", "param", "opt"):
            raise ValueError(f"mode must be 'all', 'param' or 'opt', got {mode!r}")
        wanted = [v for v in self.list_vars() if v.persistable and (mode == "all" or v.is_parameter == (mode == "param"))]
        return {v.name: np.array(self.value_of(v, scope)) for v in wanted}

    def set_state_dict(self, state_dict: Mapping[str, Any], scope: Scope | None = None) -> None:
        """Sets persistable variables; names that the program does not have are left out.

        Raises:
            ScopeError: a value has another shape or dtype than its variable.
        """
        scope = global_scope() if scope is None else scope
        for v in list(self.list_vars()):
            if not v.persistable or v.name not in state_dict:
                continue
            array = np.asarray(state_dict[v.name])
            if array.dtype.name != v.dtype or array.shape != v.shape:
                raise ScopeError(f"variable {v.name!r} is {v.type}, its new value is {array.dtype}{list(array.shape)}")
            if v.name in self.captured:
                self.captured[v.name].set_value(array)
            else:
                (scope.find_var(v.name) or scope.var(v.name)).get_tensor().set(array)

    def value_of(self, v: ir.Variable, scope: Scope | None = None) -> np.ndarray:
        """The value of a persistable variable: in the scope, else of the eager tensor that it stands for.

        Raises:
            ScopeError: there is none.
        """
        found = (global_scope() if scope is None else scope).find_var(v.name)
        if found is not None and found.value is not None:
            return found.value
        if v.name in self.captured:
            return self.captured[v.name].numpy()
        raise ScopeError(f"variable {v.name!r} has no value in the scope", location=v.info.get("location"),
                         hint="run the startup program first, or load the parameters")  # fmt: skip


def _drop_training(program: Program) -> None:
    """Removes gradients, what is computed from them, and updates of parameters; switches ops to `is_test`."""
    block = program.global_block()
    tainted: set[str] = set()
    kept = []
    for op in block.ops:
        outs = op.output_names
        training = "Param" in op.inputs or not tainted.isdisjoint(reads(op)) or any("@GRAD" in name for name in outs)
        if training:
            tainted.update(name for name in outs if not block.var(name).persistable)
        else:
            kept.append(op)
    block.ops[:] = kept
    for name in tainted:
        block.vars.pop(name, None)
    for op in all_ops(block):
        if "is_test" in op.record.attrs:
            op.attrs["is_test"] = True
    program.version += 1


# ---- which programs are being built ----
class _Current:
    """The main and the startup program that ops go to."""

    def __init__(self, main: Program, startup: Program):
        self.main, self.startup = main, startup


_default = _Current(Program(), Program())
_guards = threading.local()


def _current() -> _Current:
    stack = getattr(_guards, "stack", None)
    return stack[-1] if stack else _default


def default_main_program() -> Program:
    """The program that ops are appended to."""
    return _current().main


def default_startup_program() -> Program:
    """The program that computes the initial values of the parameters of the default main program."""
    return _current().startup


class StaticRecorder(ProgramRecorder):
    """Appends to the default main program; eager tensors that meet it are noted in `Program.captured`."""

    def __init__(self) -> None:
        super().__init__(lambda: default_main_program().global_block(), lambda: default_startup_program().global_block())

    def capture(self, t: Tensor) -> ir.Variable:
        v = super().capture(t)
        program = self.block.program
        assert isinstance(program, Program)
        program.captured[v.name] = t
        return v

    def parameter(self, name: str, shape: list[int], dtype: str, make: Any, trainable: bool) -> Parameter | None:
        p = super().parameter(name, shape, dtype, make, trainable)
        if p is not None:
            program = self.block.program
            assert isinstance(program, Program)
            program.parameters[name] = p
            program.global_block().var(name).info.setdefault("location", user_location())
        return p


def building(loss: Tensor, startup_program: Program | None = None) -> contextlib.AbstractContextManager[None]:
    """Appends to the program of a variable, whichever is the default one."""
    assert isinstance(loss._value, ir.Variable)
    program = loss._value.block.program
    if not isinstance(program, Program):
        raise ModeError("the variable belongs to no program that was built by hand")
    return program_guard(program, startup_program)


@contextlib.contextmanager
def program_guard(main_program: Program, startup_program: Program | None = None) -> Iterator[None]:
    """Ops are appended to the program until the end of the block, also in dynamic mode.

    Args:
        main_program: gets the ops.
        startup_program: gets the ops that compute initial values of parameters; default: the current one.
    """
    for program in (main_program, startup_program):
        if program is not None and not isinstance(program, Program):
            raise ModeError(f"program_guard takes Programs, got {type(program).__name__}")
    stack = _guards.__dict__.setdefault("stack", [])
    stack.append(_Current(main_program, _current().startup if startup_program is None else startup_program))
    try:
        with dispatch.recording(StaticRecorder()):
            yield
    finally:
        stack.pop()


def enable_static() -> None:
    """Switches to static mode: ops are appended to the default main program instead of being run."""
    dispatch.set_default_recorder(StaticRecorder())


def disable_static(place: object = None) -> None:
    """Switches back to dynamic mode: ops run at once."""
    dispatch.set_default_recorder(None)


@contextlib.contextmanager
def name_scope(prefix: str | None = None) -> Iterator[None]:
    """Accepted as PaddlePaddle has it, where it groups ops in pictures of a program; it changes nothing here."""
    yield
