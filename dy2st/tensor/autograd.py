"""`backward`, `grad` and the modes of recording."""

from __future__ import annotations

import contextlib
import functools
import inspect
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from dy2st_runtime import dims

from ..errors import DTypeError, GradientError
from . import dispatch, due, sums, tape, watching
from .attribute import size_of
from .dispatch import ops
from .failures import require_sizes
from .location import user_location
from .tensor import Tensor

_Key = tuple[int, int]  # id of a node, output index


def backward(tensors: Tensor | Sequence[Tensor], grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
             retain_graph: bool = False, create_graph: bool = False) -> None:  # fmt: skip
    """Computes the gradients of the leaves behind `tensors` and adds them to their `.grad`.

    Tensors that are no leaves get the gradient of this call as `.grad`, as long as they are alive.

    Args:
        tensors: what is differentiated.
        grad_tensors: the gradients to start with, each of the shape of its tensor; default: ones.
        retain_graph: keeps the graph for another call.
        create_graph: records this computation too, so that the gradients can be differentiated.

    Raises:
        GradientError: a tensor needs no gradient or is no floating-point tensor, or the graph was freed.
        ShapeError, DTypeError: a gradient to start with does not fit its tensor.

    >>> x = Tensor([3.0], stop_gradient=False)
    >>> backward(x * x)
    >>> x.grad.numpy()
    array([6.], dtype=float32)
    """
    roots, grads = _roots(tensors, grad_tensors)
    recorder = dispatch.current_recorder()
    if recorder is not None:
        recorder.backward(roots, grads, retain_graph, create_graph)
        return
    if due.debtors:
        due.deliver()
    watcher = watching.current()
    if watcher is not None and watcher.backward(roots, grads, retain_graph, create_graph):
        return
    _run(roots, grads, None, retain_graph or create_graph, create_graph, ())


def accumulate(root: Tensor) -> None:
    """`backward(root)`, called before, when all that was due was delivered: nobody is told."""
    _run([root], [None], None, False, False, ())


def forget(tensors: Sequence[Tensor]) -> None:
    """Clears the gradients of tensors: `.grad` is None."""
    if due.debtors:
        due.forget(tensors)
    recorded = not dispatch.in_dynamic_mode()
    for t in tensors:
        if recorded:
            t.grad = None
        elif t._grad is not None:
            t._grad = None


def gradients(root: Tensor, wrt: Sequence[Tensor]) -> list[Tensor | None]:
    """`grad(root, wrt, allow_unused=True)`: nobody is told."""
    return _run([root], [None], [*wrt], False, False, ())


def grad(outputs: Tensor | Sequence[Tensor], inputs: Tensor | Sequence[Tensor],
         grad_outputs: Tensor | Sequence[Tensor | None] | None = None, retain_graph: bool | None = None,
         create_graph: bool = False, only_inputs: bool = True, allow_unused: bool = False,
         no_grad_vars: Tensor | Sequence[Tensor] | None = None) -> list[Tensor | None]:  # fmt: skip
    """The gradients of `outputs` with respect to `inputs`; no `.grad` changes.

    Args:
        outputs: what is differentiated.
        inputs: with respect to what.
        grad_outputs: the gradients to start with, each of the shape of its output; default: ones.
        retain_graph: keeps the graph for another call; default: `create_graph`.
        create_graph: records this computation too, so that the gradients can be differentiated.
        only_inputs: must be True.
        allow_unused: gives None for an input that the outputs do not depend on, instead of raising.
        no_grad_vars: tensors through which no gradient flows.

    Returns:
        a list with a Tensor of the shape and dtype of each input.

    Raises:
        GradientError: an input is not reached or is no floating-point tensor, an output needs no gradient, or the graph
            was freed.
        ShapeError, DTypeError: a gradient to start with does not fit its output.

    >>> x = Tensor([3.0], stop_gradient=False)
    >>> (dx,) = grad(x * x * x, x, create_graph=True)
    >>> (ddx,) = grad(dx, x)
    >>> dx.numpy(), ddx.numpy()
    (array([27.], dtype=float32), array([18.], dtype=float32))
    """
    if not only_inputs:
        raise GradientError(
            "grad() computes the gradients of its inputs only", hint="only_inputs=False: use backward()"
        )
    roots, grads = _roots(outputs, grad_outputs)
    wrt = _list(inputs)
    blocked = _list(no_grad_vars) if no_grad_vars is not None else []
    recorder = dispatch.current_recorder()
    if recorder is not None:
        results = recorder.grad(roots, wrt, grads, blocked, create_graph)
    else:
        retain = create_graph if retain_graph is None else retain_graph
        watcher = watching.current()
        made = None if watcher is None else watcher.grad(roots, grads, wrt, retain, create_graph, blocked)
        results = _run(roots, grads, wrt, retain, create_graph, blocked) if made is None else made
    return results if allow_unused else [_required(g, wrt[i], i) for i, g in enumerate(results)]


def _required(g: Tensor | None, x: Tensor, i: int) -> Tensor:
    """The gradient of an input of `grad()`.

    Raises:
        GradientError: there is none; where only the run knows, then.
    """
    message = f"input {i} of grad() is not used by the outputs, or has stop_gradient=True"
    if hasattr(type(g), "require"):
        return g.require(message, GradientError)  # type: ignore[union-attr]
    if g is not None:
        return g
    if not x.dtype.startswith("float"):
        raise no_gradient(x, f"input {i} of grad()")
    raise GradientError(message, hint="pass allow_unused=True to get None for it", location=user_location(3))


def _list(x: Tensor | Sequence[Tensor]) -> list[Tensor]:
    found = [x] if isinstance(x, Tensor) else list(x)
    for t in found:
        if not isinstance(t, Tensor):
            raise DTypeError(f"expected Tensors, got {type(t).__name__}")
    return found


def _roots(tensors: Any, grads: Any) -> tuple[list[Tensor], list[Tensor | None]]:
    if grads is None and isinstance(tensors, Tensor):
        return [tensors], [None]
    roots = _list(tensors)
    given: list[Tensor | None]
    given = [grads] if isinstance(grads, Tensor) else ([None] * len(roots) if grads is None else list(grads))
    if len(given) != len(roots):
        raise GradientError(f"{len(roots)} tensors, but {len(given)} gradients to start with")
    for t, g in zip(roots, given, strict=True):
        if g is not None:
            check_gradient(g, t, "the gradient to start with")
    return roots, given


def check_gradient(g: Any, t: Tensor, what: str) -> None:
    """A gradient that the user gives must fit its tensor: nothing further down would notice, and `.grad` would get a
    shape or dtype that is not that of its tensor.

    Raises:
        ShapeError, DTypeError: it does not. `what` names it in the message.
    """
    if not isinstance(g, Tensor):
        raise DTypeError(f"{what} must be a Tensor, got {type(g).__name__}", location=user_location(2))
    mine, wanted = g._form.shape, t._form.shape
    if mine != wanted or -1 in mine:

        def message() -> str:
            return f"{what} has shape {dims.show(mine)}, its tensor has shape {dims.show(wanted)}"

        require_sizes(len(mine) == len(wanted), message)
        for axis in range(len(mine)):
            require_sizes(size_of(g, axis) == size_of(t, axis), message)
    if g.dtype != t.dtype:
        raise DTypeError(f"{what} is {g.dtype}, its tensor is {t.dtype}", location=user_location(2))


def no_gradient(t: Tensor, what: str) -> GradientError:
    """What is raised for a tensor that no gradient flows to."""
    if not t.dtype.startswith("float"):
        return GradientError(
            f"{what} is {t.dtype}: only floating-point tensors have gradients", location=user_location(2),
            hint="cast it to float32 before the computation",
        )  # fmt: skip
    return GradientError(
        f"{what} has stop_gradient=True: no op that needs a gradient made it", location=user_location(2),
        hint="set stop_gradient=False on an input before the computation, and compute outside no_grad()",
    )  # fmt: skip


def _run(roots: list[Tensor], grads: list[Tensor | None], wrt: list[Tensor] | None, retain: bool, create: bool,
         blocked: Sequence[Tensor]) -> list[Tensor | None]:  # fmt: skip
    """Walks the tape backwards; with `wrt` returns their gradients, without accumulates in the leaves."""
    for t in roots:
        if t._stops or not t.dtype.startswith("float"):
            raise no_gradient(t, "the tensor to differentiate")
    before = dispatch.set_grad(create)
    try:
        pending = sums.Pending(recorded=create)
        for t, g in zip(roots, grads, strict=True):
            start = Tensor.wrap(np.ones_like(t._value)) if g is None else g  # type: ignore[arg-type]
            pending.add(_edge(t), start)
        order = _reachable(list(pending.slots), {_key(t) for t in blocked if not t._stops})
        targets = None if wrt is None else [None if t._stops else _key(t) for t in wrt]
        wanted = {k for k in targets or () if k is not None}
        useful = None if targets is None else _useful(order, wanted)
        found: dict[_Key, Tensor] = {}
        # a gradient that several tensors share (those of a sum), or that the user gave to start with, is given out as
        # another Tensor each time: `a.grad.zero_()` must not change `b.grad`
        given = {id(g) for g in grads if g is not None}
        cut = {_key(t) for t in blocked if not t._stops}
        passed: list[tape.Node] = []
        for node in reversed(order):
            douts = pending.slots.pop(node, None)
            if douts is None:
                continue
            if node.siblings is not None:
                node.take(douts)
                if any(node.misses(i) for i in range(len(douts)) if (id(node), i) in wanted or (node.hooks or {}).get(i)):
                    raise node.unknown()
            for i, g in enumerate(douts):
                if g is not None:
                    if node.hooks:
                        g = douts[i] = _hooked(node, i, g)
                    if targets is None:
                        made = node.outputs[i]
                        alive = None if made is None else made()
                        if alive is not None:
                            _deliver(node, alive, g, given)
                    elif (id(node), i) in wanted:
                        found[id(node), i] = _own(g, given)
            if not node.is_leaf:
                _step(node, douts, pending, useful, cut, create)
            passed.append(node)
        if not retain:
            for node in passed:
                node.release()
    finally:
        dispatch.set_grad(before)
    return [] if targets is None else [None if k is None else found.get(k) for k in targets]


def _step(node: tape.Node, douts: list[Tensor | None], pending: sums.Pending, useful: set[_Key] | None, cut: set[_Key],
          create: bool) -> None:  # fmt: skip
    """Computes the gradients of a node's inputs and hands them on."""
    edges = node.live_edges()
    needed = [e is not None for e in edges]
    if cut or useful is not None:
        keys = [None if e is None else (id(e[0]), e[1]) for e in edges]
        needed = [k is not None and k not in cut and (useful is None or k in useful) for k in keys]
    if True not in needed or pending.add_part(node, douts, needed):
        return
    for edge, want, g in zip(edges, needed, node.gradients(douts, needed, create), strict=True):
        if want and g is not None:
            assert edge is not None
            pending.add(edge, g)


def _edge(t: Tensor) -> tape.Edge:
    edge = tape.edge_of(t)
    assert edge is not None
    return edge


def _key(t: Tensor) -> _Key:
    node, index = _edge(t)
    return id(node), index


def _reachable(roots: list[tape.Node], cut: set[_Key]) -> list[tape.Node]:
    """All nodes behind the roots, inputs before what uses them."""
    seen: set[tape.Node] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        # one that was freed is an error only if a gradient comes to it: a static call need not pass one on to all its inputs
        for e in node.edges or ():
            if e is not None and e[0] not in seen and (not cut or (id(e[0]), e[1]) not in cut):
                stack.append(e[0])
    return sorted(seen, key=_seq)


_seq = operator.attrgetter("seq")


def _useful(order: list[tape.Node], targets: set[_Key]) -> set[_Key]:
    """The edges on a path to a target: only their gradients are computed."""
    useful = set(targets)
    for node in order:
        if any(e is not None and (id(e[0]), e[1]) in useful for e in node.edges or ()):
            useful.update((id(node), i) for i in range(len(node.outputs)))
    return useful


def _hooked(node: tape.Node, index: int, g: Tensor) -> Tensor:
    assert node.hooks is not None
    for hook in list(node.hooks.get(index, {}).values()):
        g = tape.snapshot(g)  # other tensors may share it, and the hook may modify it in place
        result = hook(g)
        if result is not None:
            check_gradient(result, g, "what a gradient hook returns")
            g = result
    return g


def _deliver(node: tape.Node, t: Tensor, g: Tensor, given: set[int]) -> None:
    """Gives the gradient to a tensor that is still alive."""
    if node.is_leaf and t._grad is not None:
        t._grad = ops.add(t._grad, g)
    else:
        t._grad = _own(g, given)


def _own(g: Tensor, given: set[int]) -> Tensor:
    """The gradient as a Tensor that was not given to anybody before."""
    if id(g) in given:
        g = tape.snapshot(g)
    given.add(id(g))
    return g


@contextlib.contextmanager
def _grad_mode(enabled: bool) -> Iterator[None]:
    before = dispatch.set_grad(enabled)
    try:
        yield
    finally:
        dispatch.set_grad(before)


def _switch(enabled: bool) -> bool:
    """Lets gradients be recorded, or not; returns what was before."""
    if enabled and not dispatch.is_grad_enabled() and (recorder := dispatch.current_recorder()) is not None:
        recorder.on_enable_grad()
    return dispatch.set_grad(enabled)


class _GradMode:
    """A context manager and decorator that switches recording."""

    def __init__(self, enabled: bool):
        self.enabled = enabled
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(_switch(self.enabled))

    def __exit__(self, *_: object) -> None:
        dispatch.set_grad(self._before.pop())

    def __call__(self, function: Callable) -> Callable:
        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def generate(*args: Any, **kwargs: Any) -> Iterator:
                steps = function(*args, **kwargs)
                while True:
                    # the mode holds while the generator runs, not while it waits
                    with _GradMode(self.enabled):
                        try:
                            value = next(steps)
                        except StopIteration as stop:
                            return stop.value
                    yield value

            return generate

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with _GradMode(self.enabled):
                return function(*args, **kwargs)

        return call


def no_grad(func: Callable | None = None) -> Any:
    """Switches the recording for gradients off: `with no_grad():`, or as a decorator, `@no_grad` or `@no_grad()`.

    >>> x = Tensor([3.0], stop_gradient=False)
    >>> with no_grad():
    ...     (x * x).stop_gradient
    True
    """
    mode = _GradMode(False)
    return mode if func is None else mode(func)


def enable_grad(func: Callable | None = None) -> Any:
    """Switches the recording on again inside `no_grad`."""
    mode = _GradMode(True)
    return mode if func is None else mode(func)


class set_grad_enabled(_GradMode):
    """Switches the recording on or off at once; as a context manager, until the end of the block."""

    def __init__(self, mode: bool):
        super().__init__(bool(mode))
        self._before.append(_switch(self.enabled))

    def __enter__(self) -> None:
        _switch(self.enabled)


class HookRemover:
    """What `register_hook` returns: `remove()` takes the hook away; True if it was still there."""

    def __init__(self, hooks: dict[int, tape.Hook], key: int):
        self._hooks, self._key = hooks, key

    def remove(self) -> bool:
        return self._hooks.pop(self._key, None) is not None


def register_hook(t: Tensor, hook: tape.Hook) -> HookRemover:
    """Calls `hook(gradient)` when the gradient of `t` is known; what it returns (if not None) replaces the gradient.

    Raises:
        GradientError: the tensor has stop_gradient=True, or is no floating-point tensor.
        DTypeError: the hook cannot be called. When it is called: it returns no Tensor of the dtype of the gradient.
        ShapeError: when it is called: it returns a Tensor of another shape.
    """
    if not callable(hook):
        raise DTypeError(f"a gradient hook must be a function, got {type(hook).__name__}", location=user_location(2))
    recorder = dispatch.current_recorder()
    if recorder is not None:
        return recorder.register_hook(t, hook)
    watching.end()
    if t._stops or not t.dtype.startswith("float"):
        raise no_gradient(t, "a hook would never be called: the tensor")
    node, index = _edge(t)
    hooks = node.hooks_of(index)
    key = next(_hook_ids)
    hooks[key] = hook
    return HookRemover(hooks, key)


_hook_ids = iter(range(1 << 62))
