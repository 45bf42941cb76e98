"""Control flow of hand-built programs: `cond`, `while_loop`, `case`, `switch_case`.

In dynamic mode they run as Python does: one branch, or the loop step by step; and so they do in a function that `to_static` converts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dy2st_runtime.ir import Block, IRBuilder, Operator
from dy2st_runtime.ir.infer import infer_op
from dy2st_runtime.ops.control import check_condition

from ..errors import DTypeError, Dy2stError, Location, ModeError, ShapeError
from ..framework.nest import flatten, pack, shape_of
from ..tensor import Tensor, dispatch, logic
from ..tensor.location import user_location
from ..tensor.promotion import NUMBERS, as_tensor
from .recorder import ProgramRecorder


def cond(pred: Any, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None,
         name: str | None = None, return_names: Any = None) -> Any:  # fmt: skip
    """`true_fn()` if `pred` else `false_fn()`; only the one that is taken runs.

    Args:
        pred: a bool with one element.
        true_fn, false_fn: functions without arguments; both return the same nesting of lists, tuples and dicts, of
        tensors
            with equal dtypes and ranks. None stands for a function that returns None.

    Returns:
        what the functions return, as one structure of tensors.

    Raises:
        ShapeError: the functions return different structures or ranks.
        DTypeError: `pred` is no bool, or dtypes differ.

    Example:
        >>> from dy2st import static
        >>> with static.program_guard(static.Program()):
        ...     x = static.data("x", [1])
        ...     cond(x > 0.0, lambda: x, lambda: -x).shape
        [1]
    """
    recorder = _recorder(pred)
    require_branches(true_fn, false_fn)
    if recorder is None:
        chosen = true_fn if bool(pred) else false_fn
        return None if chosen is None else chosen()
    here = user_location()
    predicate = recorder.lift(as_tensor(pred))
    try:
        check_condition(predicate.type, "cond")
    except Dy2stError as error:
        raise error.at(here) from None
    blocks, results = [], []
    for function in (true_fn, false_fn):
        blocks.append(Block(recorder.block.program, recorder.block))
        with recorder.inside(blocks[-1]):
            results.append(None if function is None else function())
    shapes = ["None" if r is None else shape_of(r) for r in results]
    if shapes[0] != shapes[1]:
        raise ShapeError(f"the branches of cond return different structures: {shapes[0]}{_where(true_fn)} and "
                         f"{shapes[1]}{_where(false_fn)}", location=here, hint="return the same structure from both")  # fmt: skip
    leaves = [[] if r is None else flatten(r) for r in results]
    for block, own, other in zip(blocks, leaves, reversed(leaves), strict=True):
        with recorder.inside(block):
            pairs = zip(own, other, strict=True)
            block.results = [recorder.lift(_value(leaf, like, "cond", here)).name for leaf, like in pairs]
    outs = IRBuilder(recorder.block, here).cond(predicate, true_block=blocks[0], false_block=blocks[1])
    grads = [blocks[0].var(t).stop_gradient and blocks[1].var(f).stop_gradient
             for t, f in zip(blocks[0].results, blocks[1].results, strict=True)]  # fmt: skip
    tensors = [recorder.wrap(v, not stop) for v, stop in zip(outs, grads, strict=True)]
    return None if results[0] is None else pack(results[0], iter(tensors))


def while_loop(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Sequence[Any], is_test: bool = False,
               name: str | None = None) -> list[Any]:  # fmt: skip
    """Runs `loop_vars = body(*loop_vars)` while `cond(*loop_vars)` is true.

    Args:
        cond: returns a bool with one element.
        body: returns as many values as it takes, of the same nesting, dtypes and ranks; sizes may change.
        loop_vars: initial values: tensors, numbers, or nested lists, tuples and dicts of them.

    Returns:
        a list of the final values.

    Raises:
        ShapeError: `body` returns another structure or rank than it takes.
        DTypeError: `cond` gives no bool, or a dtype changes.

    Example:
        >>> import dy2st as paddle
        >>> i = paddle.to_tensor(0)
        >>> while_loop(lambda i: i < 10, lambda i: [i + 1], [i])[0].item()
        10
    """
    require_loop(cond, body, loop_vars)
    recorder = _recorder(*flatten(list(loop_vars)))
    if recorder is None:
        values = list(loop_vars)
        while bool(cond(*values)):
            values = as_list(body(*values), values)
        return values
    here = user_location()
    inits = [recorder.lift(_value(leaf, None, "while_loop", here)) for leaf in flatten(list(loop_vars))]
    blocks = []
    for function in (cond, body):
        block = Block(recorder.block.program, recorder.block)
        params = [block.create_var(None, v.dtype, v.shape, stem="loop_var", kind=v.kind) for v in inits]
        for param, init in zip(params, inits, strict=True):
            param.stop_gradient = init.stop_gradient
        block.params = [p.name for p in params]
        with recorder.inside(block):
            arguments = pack(list(loop_vars), iter([Tensor.wrap(p) for p in params]))
            result = function(*arguments)
            leaves = [result] if function is cond else flatten(_checked(result, loop_vars, here))
            likes = [None] if function is cond else [Tensor.wrap(v) for v in inits]
            block.results = [recorder.lift(_value(leaf, like, "while_loop", here)).name
                             for leaf, like in zip(leaves, likes, strict=True)]  # fmt: skip
        blocks.append(block)
    program = recorder.block.program
    attrs = {"cond_block": blocks[0], "body_block": blocks[1], "saved": []}
    outs = [recorder.block.create_var(None, v.dtype, v.shape, stem="while_loop", kind=v.kind) for v in inits]
    op = Operator("while_loop", {"X": [v.name for v in inits]}, {"Out": [v.name for v in outs]}, attrs, here)
    try:
        infer_op(op, recorder.block)  # also opens the dims that change from one iteration to the next
    except Dy2stError as error:
        raise error.at(here) from None
    recorder.block.ops.append(op)
    program.version += 1
    tensors = []
    for out, init, result in zip(outs, inits, blocks[1].results, strict=True):
        tensors.append(recorder.wrap(out, not (init.stop_gradient and blocks[1].var(result).stop_gradient)))
    return pack(list(loop_vars), iter(tensors))


def case(pred_fn_pairs: Sequence[tuple[Any, Callable[[], Any]]], default: Callable[[], Any] | None = None,
         name: str | None = None) -> Any:  # fmt: skip
    """The function of the first pair whose condition is true; else `default`, or the last function if there is none.

    Args:
        pred_fn_pairs: (bool with one element, function) pairs.
        default: a function without arguments.

    Raises:
        ShapeError, DTypeError: as `cond`.
    """
    return _chain(*cases(pred_fn_pairs, default))


def _chain(pairs: list[Any], default: Callable[[], Any]) -> Any:
    if not pairs:
        return default()
    (pred, function), *rest = pairs
    return cond(pred, function, lambda: _chain(rest, default))


def switch_case(branch_index: Any, branch_fns: Any, default: Callable[[], Any] | None = None,
                name: str | None = None) -> Any:  # fmt: skip
    """The function whose number is `branch_index`; else `default`, or the function with the highest number.

    Args:
        branch_index: an integer with one element.
        branch_fns: a dict of number and function, or a list of functions or of (number, function) pairs.
        default: a function without arguments.

    Raises:
        DTypeError: `branch_fns` is none of these, or a number comes twice.

    Example:
        >>> import dy2st as paddle
        >>> switch_case(paddle.to_tensor(1), [lambda: "a", lambda: "b"])
        'b'
    """
    items, default = numbered_cases(branch_fns, default)
    index = as_tensor(branch_index)
    return _chain([(logic.equal(index, number), function) for number, function in items], default)


# ---- what they are given ----
def require_branches(true_fn: Any, false_fn: Any) -> None:
    """DTypeError if one of them is neither a function nor None."""
    for what, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if function is not None and not callable(function):
            raise DTypeError(f"{what} of cond must be callable, got {type(function).__name__}", location=user_location(2))


def require_loop(cond: Any, body: Any, loop_vars: Any) -> None:
    """DTypeError or ShapeError if these are not what `while_loop` takes."""
    if not callable(cond) or not callable(body):
        raise DTypeError("cond and body of while_loop must be callable", location=user_location(2))
    if not isinstance(loop_vars, (list, tuple)) or not loop_vars:
        raise ShapeError("loop_vars of while_loop must be a list with at least one value", location=user_location(2))


def cases(pred_fn_pairs: Any, default: Any) -> tuple[list[Any], Callable[[], Any]]:
    """What `case` is given as a list of pairs, and the function for the case that none is true.

    Raises:
        DTypeError: these are no pairs of a condition and a function.
    """
    pairs = list(pred_fn_pairs)
    if not pairs or not all(isinstance(p, (tuple, list)) and len(p) == 2 and callable(p[1]) for p in pairs):
        raise DTypeError("case takes a list of (condition, function) pairs", location=user_location(2))
    return (pairs[:-1], pairs[-1][1]) if default is None else (pairs, default)


def numbered_cases(branch_fns: Any, default: Any) -> tuple[list[Any], Callable[[], Any]]:
    """What `switch_case` is given as pairs in the order of their numbers, and the function for any other number.

    Raises:
        DTypeError: these are neither functions nor such pairs, or a number comes twice.
    """
    items = list(branch_fns.items()) if isinstance(branch_fns, Mapping) else list(branch_fns)
    if items and all(map(callable, items)):
        items = list(enumerate(items))
    numbers = [item[0] for item in items if isinstance(item, (tuple, list)) and len(item) == 2 and callable(item[1])]
    if not items or len(numbers) != len(items) or len(set(numbers)) != len(numbers):
        raise DTypeError("switch_case takes functions, or pairs of a number and a function, each number once",
                         location=user_location(2))  # fmt: skip
    items.sort(key=lambda item: item[0])
    return (items[:-1], items[-1][1]) if default is None else (items, default)


# ---- helpers ----
def _recorder(*values: Any) -> ProgramRecorder | None:
    """Where to build; None if all is eager."""
    recorder = dispatch.current_recorder()
    if recorder is None:
        if any(isinstance(v, Tensor) and v.is_symbolic for v in values):
            raise ModeError("a variable of a program is used in dynamic mode", location=user_location(2),
                            hint="build the program under program_guard, or call enable_static()")  # fmt: skip
        return None
    if not isinstance(recorder, ProgramRecorder):
        raise ModeError("static control flow cannot be used here", location=user_location(2),
                        hint="use Python's if and while: to_static converts them")  # fmt: skip
    return recorder


def _value(leaf: Any, like: Any, what: str, here: Location | None) -> Tensor:
    """A leaf as a tensor. A number becomes a constant, of the dtype of the tensor that it stands in for."""
    if leaf is None or isinstance(leaf, str):
        raise DTypeError(f"{what} got {leaf!r} where a tensor or a number must be", location=here)
    number = isinstance(leaf, NUMBERS) and isinstance(like, Tensor)
    return as_tensor(leaf, like.dtype if number else None)


def as_list(result: Any, like: list[Any]) -> list[Any]:
    """What the body of a loop returns as a list like that of its values.

    Raises:
        ShapeError: it is another number of values.
    """
    if isinstance(result, (list, tuple)) and len(result) == len(like):
        return list(result)
    if len(like) == 1 and isinstance(result, (list, tuple)) == isinstance(like[0], (list, tuple)):
        return [result]
    count = len(result) if isinstance(result, (list, tuple)) else 1
    raise ShapeError(f"the body of while_loop returns {count} values, it takes {len(like)}", location=user_location(2))


def _checked(result: Any, loop_vars: Sequence[Any], here: Location | None) -> list[Any]:
    try:
        values = as_list(result, list(loop_vars))
    except ShapeError as error:
        raise ShapeError(error.message, location=here) from None
    if shape_of(values) != shape_of(list(loop_vars)):
        raise ShapeError(f"the body of while_loop returns {shape_of(values)}, it takes {shape_of(list(loop_vars))}",
                         location=here, hint="return the structure of loop_vars")  # fmt: skip
    return values


def _where(function: Any) -> str:
    """Where a function of the user stands, for messages."""
    code = getattr(function, "__code__", None)
    return "" if code is None else f" ({code.co_filename}:{code.co_firstlineno})"

