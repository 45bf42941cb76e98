"""Structured control flow, absent values, checks. Blocks are run by the caller of the record (the reference interpreter, the
executor), so `reference` here gets a function `run(block, values)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dims
from ..errors import AttributeValueError, DTypeError, ShapeError, UndefinedError
from .registry import Callee, DType, Ints, OpDef, Str, Strs, SubBlock, TensorType, register


class Absent:
    """The value of a variable on a path that did not set it."""

    def __repr__(self) -> str:
        return "absent"


ABSENT = Absent()

Run = Callable[[Any, dict[str, Any]], list[Any]]


def scalar_bool(value: Any, what: str) -> bool:
    """The truth of a bool tensor of one element; ValueError otherwise, as for eager tensors."""
    if value is ABSENT:
        raise UndefinedError(f"{what} has no value")
    array = np.asarray(value)
    if array.size != 1:
        raise ShapeError(
            f"the truth value of {what} with {array.size} elements is ambiguous",
            hint="reduce it first: any(), all(), mean(), ...",
        )
    return bool(array.reshape(()))


def join_types(a: TensorType, b: TensorType, what: str) -> TensorType:
    """The type of a value that is of type `a` on one path and `b` on the other: dims that differ become open."""
    if a.kind != b.kind or a.dtype != b.dtype:
        raise DTypeError(f"{what} has type {a} on one path and {b} on the other", hint="cast one side")
    if a.rank != b.rank:
        raise ShapeError(f"{what} has {a.rank} dims on one path and {b.rank} on the other", hint="reshape one side")
    shape = (p if p is q or (dims.known(p) and dims.known(q) and p == q) else dims.UNKNOWN
             for p, q in zip(a.shape, b.shape, strict=True))  # fmt: skip
    return a.with_shape(shape)


def covers(declared: TensorType, t: TensorType) -> bool:
    """Whether every value of type `t` is one of type `declared`."""
    if (declared.kind, declared.dtype, declared.rank) != (t.kind, t.dtype, t.rank):
        return False
    return dims.to_static(join_types(declared, t, "").shape) == dims.to_static(declared.shape)


def check_condition(t: TensorType, what: str) -> None:
    """A condition is a bool with one element (where that is known already)."""
    if t.dtype != "bool":
        raise DTypeError(f"the condition of {what} must be bool, got {t}")
    if any(dims.known(d) and d != 1 for d in t.shape):
        raise ShapeError(f"the truth value of a tensor of shape {dims.show(t.shape)} is ambiguous",
                         hint="reduce it first: any(), all(), mean(), ...")  # fmt: skip


@register
class Cond(OpDef):
    """`Out = true_block() if Cond else false_block()`; only the block that is taken runs."""

    type = "cond"
    inputs = ("Cond",)
    outputs = ("Out*",)
    attrs = {"true_block": SubBlock(), "false_block": SubBlock()}

    @staticmethod
    def infer(cond: TensorType, *, true_block: Any, false_block: Any) -> tuple:
        check_condition(cond, "cond")
        if len(true_block.results) != len(false_block.results):
            raise ShapeError(
                f"one branch yields {len(true_block.results)} values, the other {len(false_block.results)}"
            )
        return ([join_types(true_block.var(t).type, false_block.var(f).type, f"output {i} of the branches")
                 for i, (t, f) in enumerate(zip(true_block.results, false_block.results, strict=True))],)  # fmt: skip

    @staticmethod
    def reference(cond: np.ndarray, *, true_block: Any, false_block: Any, run: Run) -> tuple:
        return (run(true_block if scalar_bool(cond, "a tensor") else false_block, {}),)

    @staticmethod
    def lower(cx: Any, cond: Any, outs: list, *, true_block: Any, false_block: Any) -> None:
        cx.branch(cond, true_block, false_block, outs)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        raise AssertionError("backward.py differentiates cond")


@register
class WhileLoop(OpDef):
    """Runs `body_block` while `cond_block` yields True; see `ir.program`."""

    type = "while_loop"
    takes_arrays = True
    inputs = ("X*",)
    outputs = ("Out*", "Saved*")
    attrs = {"cond_block": SubBlock(), "body_block": SubBlock(), "saved": Strs()}
    handles_absent = True

    @staticmethod
    def infer(xs: list[TensorType], *, cond_block: Any, body_block: Any, saved: list[str]) -> tuple:
        if not len(xs) == len(body_block.params) == len(body_block.results) == len(cond_block.params):
            raise ShapeError("a while_loop needs as many initial values as params and results of its blocks")
        if len(cond_block.results) != 1:
            raise ShapeError("the cond_block of a while_loop yields one value")
        check_condition(cond_block.var(cond_block.results[0]).type, "while_loop")
        outs = []
        for i, (x, param, result) in enumerate(zip(xs, body_block.params, body_block.results, strict=True)):
            declared = body_block.var(param).type
            for t in (x, body_block.var(result).type):
                joined = join_types(declared, t, f"loop variable {i}")
                if dims.to_static(joined.shape) != dims.to_static(declared.shape):
                    raise ShapeError(f"loop variable {i} is declared {declared} but gets a value of type {t}")
            outs.append(declared)
        arrays = [TensorType(t.dtype, t.shape, "array") for t in (body_block.var(n).type for n in saved)]
        return outs, arrays

    @staticmethod
    def reference(xs: list, *, cond_block: Any, body_block: Any, saved: list[str], run: Run) -> tuple:
        values = list(xs)
        arrays: list[list[Any]] = [[] for _ in saved]
        while scalar_bool(run(cond_block, dict(zip(cond_block.params, values, strict=True)))[0], "a tensor"):
            env = dict(zip(body_block.params, values, strict=True))
            values = run(body_block, env)
            for array, name in zip(arrays, saved, strict=True):
                array.append(env[name])
        return values, arrays

    @staticmethod
    def lower(
        cx: Any, xs: list, outs: list, saved_outs: list, *, cond_block: Any, body_block: Any, saved: list
    ) -> None:
        cx.loop(xs, cond_block, body_block, outs, saved, saved_outs)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        raise AssertionError("backward.py differentiates while_loop")


@register
class Call(OpDef):
    """`Out = function(X)`; see `ir.program`. A function may call itself, or others that call it.

    Raises:
        RecursionError: more calls are inside each other than `DY2ST_RECURSION_LIMIT` allows.
    """

    type = "call"
    takes_arrays = True
    inputs = ("X*",)
    outputs = ("Out*",)
    attrs = {"function": Callee()}
    effect = True  # whatever the function does, it fails where it is too deep
    may_raise = True
    handles_absent = True

    @staticmethod
    def infer(xs: list[TensorType], *, function: Any) -> tuple:
        block = function.block
        if len(xs) != len(block.params):
            raise ShapeError(f"function {function.name!r} takes {len(block.params)} values, got {len(xs)}")
        for name, x in zip(block.params, xs, strict=True):
            declared = block.var(name).type
            join_types(declared, x, f"argument {name!r} of {function.name!r}")
            if not covers(declared, x):
                raise ShapeError(f"argument {name!r} of {function.name!r} is declared {declared}, got {x}")
        return (list(function.result_types),)

    @staticmethod
    def reference(xs: list, *, function: Any, run: Run) -> tuple:
        return (run(function.block, dict(zip(function.block.params, xs, strict=True))),)

    @staticmethod
    def lower(cx: Any, xs: list, outs: list, *, function: Any) -> None:
        cx.call(function, xs, outs)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        raise AssertionError("backward differentiates call")


@register
class MakeAbsent(OpDef):
    """A value that is not there: what a variable holds on a path that does not set it. Shape and dtype are those it would have."""

    type = "absent"
    inputs = ()
    attrs = {"dtype": DType("float32"), "shape": Ints(), "array": Str("")}
    differentiable = False

    @staticmethod
    def infer(*, dtype: str, shape: list[int], array: str) -> TensorType:
        if array not in ("", "array"):
            raise AttributeValueError(f"absent: {array!r} is no kind of value")
        return TensorType(dtype, dims.from_static(shape), array or "dense")

    @staticmethod
    def reference(**attrs: Any) -> Any:
        return ABSENT

    @staticmethod
    def lower(cx: Any, out: Any, **attrs: Any) -> None:
        cx.mark_absent(out)


@register
class EnsureDefined(OpDef):
    """The value of X; UnboundLocalError if it is absent. `name` is the variable in the user's source, `why` says which path
    does not set it."""

    type = "ensure_defined"
    takes_arrays = True
    attrs = {"name": Str(), "why": Str()}
    handles_absent = True
    never_absent = True
    may_raise = True
    view = {"Out": "X"}

    @staticmethod
    def infer(x: TensorType, *, name: str, why: str) -> TensorType:
        return x

    @staticmethod
    def reference(x: Any, *, name: str, why: str) -> Any:
        if x is ABSENT:
            raise UndefinedError(f"local variable {name!r} is read where it has no value" + (f": {why}" if why else ""),
                                 hint=f"give {name!r} a value before the branch or loop")  # fmt: skip
        return x

    @staticmethod
    def lower(cx: Any, x: Any, out: Any, *, name: str, why: str) -> None:
        cx.fail_if_absent(x)
        cx.alias(x, out)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        return (douts[0],)


class Mark(OpDef):
    """An op that computes nothing: where it stands is what it says."""

    inputs = ()
    outputs = ()
    effect = True
    differentiable = False

    @staticmethod
    def infer() -> tuple:
        return ()

    @staticmethod
    def reference() -> tuple:
        return ()


@register
class SuspendRun(Mark):
    """Splits a run in two: what follows runs when the caller resumes it, with further feeds (the backward part of a training step)."""

    type = "suspend"

    @staticmethod
    def lower(cx: Any) -> None:
        cx.suspend()


@register
class Fence(Mark):
    """Nothing moves across it: what is computed again for the gradient comes behind it, and must not be computed with the first time."""

    type = "fence"

    @staticmethod
    def lower(cx: Any) -> None:
        pass  # it is for the passes alone
