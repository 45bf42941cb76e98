"""The ways to run a program, and what is compared: results, gradients, state, printed text, exceptions."""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import linecache
import re
import sys
import types
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from dy2st_runtime import config
from dy2st_runtime.errors import Dy2stError
from dy2st_runtime.executor.interpreted import InterpretedExecutable
from dy2st_runtime.formats import program_from_bytes, program_to_bytes
from dy2st_runtime.ir import clone_program
from dy2st_runtime.passes.pipeline import optimize

import dy2st
from dy2st import convert as runtime
from dy2st import jit, transpiler
from dy2st.convert.values.trees import flatten
from dy2st.errors import InplaceError
from dy2st.jit import concrete as concrete_module
from dy2st.tensor import Parameter, Tensor

from . import world
from .grammar.surroundings import OUTSIDE
from .state import Place, State, value

# x, n, m, a of the calls, with other sizes, values and signs
CALLS = [
    ([1.0, -2.0], 3, [1, 2], [[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]]),
    ([0.5, 2.0, -0.25], 0, [0, -1, 4], [[-1.0, 0.5, 0.75]]),
    ([-1.5], 1, [3], [[0.25, -0.5, 1.0], [2.0, 1.0, -1.0], [0.5, 0.5, -2.0]]),
]
RNG = "@RNG@"
_numbers = itertools.count()


class Disagreement(Exception):
    """Two ways gave something else. `kind` is a short name of what, the same for programs that only differ in size."""

    def __init__(self, kind: str, text: str):
        super().__init__(f"{kind}\n{text}")
        self.kind = kind


@dataclass(frozen=True)
class Refusal:
    """A program that cannot be converted: the code and message of the error, without names and numbers."""

    code: str
    message: str
    useful: bool

    @staticmethod
    def of(error: Dy2stError, eager_raised: bool) -> Refusal:
        masked = re.sub(r"'[^']*'", "'…'", error.message.split("\n")[0])
        return Refusal(error.code, re.sub(r"-?\d+(\.\d+)?(e-?\d+)?", "#", masked)[:110], not eager_raised)


@dataclass
class Outcome:
    """What one call gave.

    Attributes:
        leaves, tree: the result in parts; None and its exception otherwise.
        rest: gradients, values of arguments and of the state after the call, by name.
        shown: what it has printed.
    """

    leaves: list[Any] | None = None
    tree: Any = None
    error: BaseException | None = None
    rest: dict[str, Any] = field(default_factory=dict)
    shown: str = ""


def compiled(source: str) -> Any:
    """The function or class `program` of a text, whose lines errors and the transpiler find."""
    name = f"<program {next(_numbers)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    module = sys.modules["random_program"] = types.ModuleType("random_program")  # where dataclasses look for what annotations name
    namespace = vars(module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is left of a program that is made small may look odd
        exec(compile(source, name, "exec"), namespace)
    return namespace["program"]


class Way:
    """A program with objects of its own, that is called one time after the other.

    Args:
        program: a text, function or class. Functions whose first parameter is `self`, and classes, are methods of `world.Net`.
        make: makes of the function what is called.

    Attributes:
        restores: whether what a call that fails has changed is known, and brought back, so that more calls can follow.
    """

    restores = True

    def __init__(self, program: Any, make: Callable[[Any], Any], mode: int, gradients: bool = True):
        self.net: Any = None
        self.mode, self.gradients = mode, gradients
        function = compiled(program) if isinstance(program, str) else program
        if not isinstance(function, type) and function.__code__.co_varnames[:1] == ("self",):
            function = type("Program", (world.Net,), {"forward": function})
        if isinstance(function, type):
            self.net = function()
            if mode & 1:
                self.net.eval()
            function = self.net.forward
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        held = [name for name in names if name.startswith("held")]
        self.held = [eval(OUTSIDE[name.split("_")[1]], {"paddle": dy2st, **vars(world)}) for name in held]
        self.state = State(self.places(function, held))
        self.call = make(function)

    def places(self, function: Any, arguments: Sequence[str]) -> dict[str, Place]:
        """The outside of a function: its arguments that are containers, globals, variables around it, and the attributes of its object."""
        read, write = self.held.__getitem__, self.held.__setitem__
        found = {name: Place(functools.partial(read, i), functools.partial(write, i)) for i, name in enumerate(arguments)}
        names = function.__globals__
        for name in names:
            if name.startswith("KEPT"):
                found[name] = Place(functools.partial(names.get, name), functools.partial(names.__setitem__, name))
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if name.startswith("kept"):
                found[name] = Place(functools.partial(getattr, cell, "cell_contents"), functools.partial(setattr, cell, "cell_contents"))
        if self.net is not None:
            for name in world.Net.PLAIN:
                found[name] = Place(functools.partial(getattr, self.net, name), functools.partial(setattr, self.net, name))
            for name, layer in self.net.named_sublayers(include_self=True):
                for kind in ("_parameters", "_buffers"):
                    found[f"{name}.{kind}"] = Place(functools.partial(getattr, layer, kind))
        return found

    def allows(self, wanted: BaseException | None, found: BaseException | None) -> bool:
        """Whether it is as well that a call ends with another exception than in eager mode."""
        return False

    # ---- a call ----
    def observe(self, values: Sequence[Any]) -> Outcome:
        args, leaves = self.given(values)
        found, shown = Outcome(), io.StringIO()
        restore, before = self.state.saved(), self.state.values()
        dy2st.seed(3)
        with contextlib.redirect_stdout(shown), np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                with dy2st.set_grad_enabled(self.gradients):
                    result = self.call(*args, *self.held)
            except Exception as error:
                found.error = error
                # a static call that fails changes nothing; an eager one is made to
                if isinstance(self.call, jit.StaticFunction):
                    same(before, self.state.values(), "state after an exception")
                restore()
            else:
                found.leaves, found.tree = flatten(result)
                if self.gradients:
                    self.differentiate(found, leaves)
                found.leaves = [value(leaf) for leaf in found.leaves]
                found.rest |= {f"value of argument {i}": value(t) for i, t in enumerate(args)} | self.state.values()
                found.rest["random state"] = value(dy2st.to_tensor(dy2st.get_rng_state()[0]))
                self.state.settle()
        found.shown = _comparable(shown.getvalue())
        return found

    def given(self, values: Sequence[Any]) -> tuple[list[Any], dict[str, Tensor]]:
        """The arguments for some values, and the tensors whose gradients are looked at, by name."""
        x, n, m, a = values
        leaves = {name: Tensor(np.array(v, np.float32), stop_gradient=False) for name, v in (("x", x), ("a", a))}
        # arguments that are computed can be modified in place
        one, rows = [t * 1 for t in leaves.values()] if self.mode & 2 else leaves.values()
        return [one, Tensor(np.array(n)), Tensor(np.array(m)), rows], leaves

    def differentiate(self, found: Outcome, arguments: dict[str, Tensor]) -> None:
        assert found.leaves is not None
        state = self.state.tensors()
        parameters = {id(t): t for t in state if isinstance(t, Parameter)}.values()
        kept = [t for t in state if not isinstance(t, Parameter)]
        loss = None
        for i, t in enumerate([*found.leaves, *kept]):
            if isinstance(t, Tensor) and not t.stop_gradient and t.dtype.startswith("float"):
                term = (t * t * (i + 1)).sum()
                loss = term if loss is None else loss + term
        if loss is not None:
            loss.backward()
        wanted = arguments | {f"parameter {i}": p for i, p in enumerate(parameters)}
        found.rest |= {f"gradient of {name}": None if t.grad is None else value(t.grad) for name, t in wanted.items()}


# ---- comparing ----
def same(a: dict[str, Any], b: dict[str, Any], kind: str, tolerance: float = 0.0) -> None:
    """Disagreement unless two sets of named values agree; which objects are one may be open in the second."""
    for name in a | b:
        if name.endswith(" may be"):
            continue
        if name.endswith(" is"):
            agrees = _is_as_told(a, b, name.removesuffix(" is"))
        else:
            agrees = name in a and name in b and equal(a[name], b[name], tolerance)
        if not agrees:
            raise Disagreement(f"{kind}: {name}", f"{a.get(name, 'nothing')!r}\n{b.get(name, 'nothing')!r}")


def _is_as_told(a: dict[str, Any], b: dict[str, Any], path: str) -> bool:
    """Whether the object at a path is, in `b`, also at the first path to it in `a`, or may be; and in `a` where `b` has it first.

    The first paths may differ: what is [0], [1] and [2] in `a` may be [0] in `b`, or another object that is [1] and [2].
    """
    def first(values: dict[str, Any], path: str) -> str:
        return values.get(f"{path} is", path)

    one, other = first(a, path), first(b, path)
    return (first(b, one) == other or one in b.get(f"{path} may be", ())) and first(a, other) == one


def equal(a: Any, b: Any, tolerance: float) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        return np.allclose(a, b, rtol=tolerance, atol=tolerance / 10, equal_nan=a.dtype.kind == "f")
    if isinstance(a, float):
        return bool(np.isclose(a, b, rtol=tolerance, atol=tolerance / 10, equal_nan=True))
    if isinstance(a, (world.Box, world.Record)):
        return equal(value(a.value), value(b.value), tolerance) and equal(a.count, b.count, tolerance)
    return type(a).__eq__(a, b) is True


def message(error: BaseException) -> str:
    return _comparable(error.message if isinstance(error, Dy2stError) else str(error))


def _comparable(text: str) -> str:
    """A text without what differs from run to run: addresses, numbers of programs, flags of tensors of which only the run knows them."""
    return re.sub(r"stop_gradient=\w+| at 0x[0-9a-f]+|(?<=<program )\d+", "", text)


def _is_one_class(a: type, b: type) -> bool:
    """Whether two classes of exceptions are one, or the same one of a program's own, of which each way has another."""
    return a is b or (a.__module__ == b.__module__ == "random_program" and a.__qualname__ == b.__qualname__)


def _of_operands(error: BaseException) -> str:
    text = re.sub(r"""(['"])(int|float|bool|Tensor)\1""", "'number'", str(error))
    # what may be None is asked as the other operand, which does not know of an assignment
    text = re.sub(r"(operand type\(s\) for \S+?)=:", r"\1:", text)
    # Python asks the other operand, which is not told on which side it was
    return re.sub(r"^'>(=?)' (.*) '(.*)' and '(.*)'$", r"'<\1' \2 '\4' and '\3'", text)


def compare(wanted: Outcome, found: Outcome, way: str, tolerance: float) -> Refusal | None:
    """Disagreement unless a call gave what eager mode gives; a Refusal if it is a clear error instead."""
    kinds = type(found.error), type(wanted.error)
    if found.error is not None and _is_one_class(*kinds) and close_texts(message(found.error), message(wanted.error), tolerance):
        return None
    if kinds[1] is AttributeError and re.match("'(int|float|bool)' object has no", str(wanted.error)):
        # whatever comes behind that
        return Refusal("limits", "a number that depends on tensors also has what a tensor has", False)
    if found.error is not None:
        if isinstance(found.error, RecursionError) and isinstance(wanted.error, RecursionError):
            return None  # without end in both; the static message says why
        if kinds == (TypeError, TypeError) and _of_operands(found.error) == _of_operands(wanted.error):
            return None  # docs/reference/limits.md: a number that only the run knows is a Tensor there
        if kinds == (TypeError, TypeError) and "the value is None" in str(found.error) and "None" in str(wanted.error):
            return None  # docs/reference/limits.md: of our own words, where only a tensor will do
        if isinstance(found.error, UnboundLocalError) and isinstance(wanted.error, NameError):
            return None  # the static message says more
        if type(found.error) is NameError and "free variable" in str(found.error) and isinstance(wanted.error, UnboundLocalError):
            return None  # docs/reference/language.md: of a lambda that reads what it assigns later by `:=`
        if isinstance(found.error, IndexError) and kinds[1] is IndexError and re.search("list|pop", str(wanted.error)):
            return None  # of a list whose length only the run knows: likewise
        if not isinstance(found.error, Dy2stError) or isinstance(found.error, (IndexError, ZeroDivisionError)):
            raise Disagreement(f"{way}: {kinds[0].__name__} for {kinds[1].__name__}",
                               f"{found.error!r}\n{wanted.error!r} {wanted.leaves}")  # fmt: skip
        where = found.error.location
        # of what the arguments are the call itself is to blame
        if where is None or not (where.file.startswith("<program") or where.file in (world.__file__, __file__)):
            raise Disagreement(f"{way}: a refusal without a line", repr(found.error))
        return Refusal.of(found.error, wanted.error is not None)
    if wanted.error is not None:
        raise Disagreement(f"{way}: no {type(wanted.error).__name__}", f"{wanted.error!r}\n{found.leaves}")
    if wanted.tree != found.tree:
        raise Disagreement(f"{way}: structure", f"{wanted.tree}\n{found.tree}")
    assert wanted.leaves is not None
    assert found.leaves is not None
    for i, (a, b) in enumerate(zip(wanted.leaves, found.leaves, strict=True)):
        if not equal(a, b, tolerance):
            raise Disagreement(f"{way}: result", f"{i}: {a!r}\n{i}: {b!r}")
    # of a program that was saved no gradients are taken
    # docs/reference/limits.md: of entries that nobody reads there are gradients of zeros
    rest = {k: v for k, v in wanted.rest.items()
            if not k.startswith("gradient of") or (k in found.rest and (v is not None or not _is_zero(found.rest[k])))}  # fmt: skip
    same(rest, {k: v for k, v in found.rest.items() if k in rest or not k.startswith("gradient of")}, way, tolerance * 5)
    if not close_texts(found.shown, wanted.shown, tolerance):
        raise Disagreement(f"{way}: print", f"{wanted.shown!r}\n{found.shown!r}")
    return None


def _is_zero(x: Any) -> bool:
    return isinstance(x, np.ndarray) and not x.any()


def close_texts(a: str, b: str, tolerance: float) -> bool:
    """Whether two texts are equal but for rounding, in the native way, of what they show."""
    if a == b:
        return True
    number = r"-?\d+\.\d+(?:e[+-]\d+)?"
    return tolerance > 1e-5 and re.sub(number, "#", a) == re.sub(number, "#", b) and all(
        abs(float(p) - float(q)) <= 0.011 + tolerance * abs(float(p))
        for p, q in zip(re.findall(number, a), re.findall(number, b), strict=True)
    )


# ---- ways ----
class OptimizedExecutable(InterpretedExecutable):
    """The reference interpreter of what the passes make of a program."""

    def __init__(self, program: Any, feed_names: Sequence[str], fetch_names: Sequence[str], *, absent_feeds: Sequence[str] = ()):
        made, self.updates, _ = optimize(clone_program(program), feed_names, fetch_names, absent_feeds)
        super().__init__(made, feed_names, [*fetch_names, *self.updates.values()])

    def start(self, feeds: Any, state: dict[str, np.ndarray], same: object = None) -> Any:
        session = super().start(feeds, state, same)
        session.state_names = []
        if session.finished:
            state.update((name, session.env[new]) for name, new in self.updates.items())
        return session


class SavedExecutable(InterpretedExecutable):
    """The reference interpreter of a program that was written to bytes and read again."""

    def __init__(self, program: Any, feed_names: Sequence[str], fetch_names: Sequence[str], *, absent_feeds: Sequence[str] = ()):
        if RNG not in fetch_names:  # a file implies the state of the generator
            program = program_from_bytes(program_to_bytes(program, list(feed_names), list(fetch_names))).program
        super().__init__(program, feed_names, fetch_names, absent_feeds=absent_feeds)


@contextlib.contextmanager
def executables(kind: Any, no_jit: bool = True):
    """Programs of static functions are run by this kind of executable."""
    before = concrete_module.make_executable
    concrete_module.make_executable = kind
    try:
        with config.NO_JIT.override(no_jit):
            yield
    finally:
        concrete_module.make_executable = before


def on_cuda() -> contextlib.AbstractContextManager:
    """What needs no gradients runs on CUDA; programs of a training step are suspended in between, which only the CPU can."""
    from dy2st_runtime.executor import make_executable
    from dy2st_runtime.executor.cuda import CudaExecutable  # numba-cuda may not be installed

    def make(program: Any, feed_names: Sequence[str], fetch_names: Sequence[str], *, absent_feeds: Sequence[str] | None = None) -> Any:
        if absent_feeds is None:
            return CudaExecutable(program, feed_names, fetch_names)
        return make_executable(program, feed_names, fetch_names, absent_feeds=absent_feeds)

    return executables(make, no_jit=False)


def converted(function: Any) -> Any:
    return transpiler.convert(function, runtime).fn


def recomputed(function: Any) -> Any:
    """A static function that computes all of it again for the gradient."""

    def call(*args: Any) -> Any:
        return jit.recompute(function, *args)

    return jit.to_static(call)


WAYS: dict[str, tuple[Callable, Any, float]] = {
    "converted": (converted, contextlib.nullcontext, 0.0),
    "interpreted": (jit.to_static, lambda: executables(InterpretedExecutable), 2e-5),
    "optimized": (jit.to_static, lambda: executables(OptimizedExecutable), 1e-4),
    "recomputed": (recomputed, lambda: executables(OptimizedExecutable), 1e-4),
    "saved": (jit.to_static, lambda: executables(SavedExecutable), 2e-5),
    "native": (jit.to_static, contextlib.nullcontext, 3e-4),
    "numba": (jit.to_static, lambda: config.ENGINE.override("numba"), 3e-4),
    "cuda": (jit.to_static, on_cuda, 3e-4),
}
COMPILED = {"native", "numba", "cuda"}
FORWARD = {"saved", "cuda"}  # programs of a training step are not saved, and do not run on CUDA


def check(program: Any, ways: Sequence[str], mode: int = 0, calls: Sequence[Any] = CALLS,
          kind: type[Way] = Way) -> tuple[Refusal | None, int]:  # fmt: skip
    """Runs a program (see `Way`) in some ways, and compares each with eager mode.

    Args:
        mode: 1: a method runs in eval mode; 2: the arguments are no leaves; 3: both.
        calls: what is given; `kind` knows what becomes of it.

    Returns:
        why it was refused, if it was; and how many calls raised in eager mode.

    Raises:
        Disagreement: two ways gave something else.
    """
    eager = kind(program, lambda f: f, mode)
    wanted: list[Outcome] = []
    for values in calls:
        wanted.append(eager.observe(values))
        if wanted[-1].error is not None and not eager.restores:
            break
    raised = sum(o.error is not None for o in wanted)
    for name in ways:
        make, surroundings, tolerance = WAYS[name]
        with surroundings():
            way = kind(program, make, mode, gradients=name not in FORWARD)
            for values, outcome in zip(calls, wanted, strict=False):
                if isinstance(outcome.error, InplaceError) and name in FORWARD:
                    continue  # it is of gradients
                found = way.observe(values)
                if way.allows(outcome.error, found.error):
                    return Refusal(type(found.error).__name__, "another error", outcome.error is None), raised
                refusal = compare(outcome, found, name, tolerance)
                if refusal is not None:
                    return refusal, raised
    return None, raised
