"""Calling a trace: feed, run, put the results together, and hook the gradient into the tape."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
from dy2st_runtime import signals
from dy2st_runtime.errors import with_note
from dy2st_runtime.ops.check import UNKNOWN, RaisedError
from dy2st_runtime.ops.control import ABSENT
from dy2st_runtime.ops.message import silent

from ..convert.effects.cells import Cell
from ..convert.values.trees import flatten, split
from ..errors import GradientError, StructureError, of_results
from ..tensor import Tensor, dispatch, due, tape, twins
from ..tensor.location import user_location
from ..tensor.ownership import make_alone
from ..tensor.random import STATE_NAME
from ..tensor.tape import has_hooks
from .captures import View
from .concrete import ArgumentCell, ConcreteProgram, Training
from .recipes import Argument, CreatedContainer, Fetched, Twin, cook
from .signature import Arguments

_VALUE = attrgetter("_value")
Change = Callable[[], object]


def run(concrete: ConcreteProgram, arguments: Arguments) -> Any:
    """Calls a trace with arguments that fit its key and shapes.

    Returns:
        what the function returns: the same structure, with tensors.
    """
    view = arguments.view or concrete.captured.view_of_any()
    records = concrete.records or dispatch.is_grad_enabled()
    if concrete.only_computes and not (records and concrete.differentiable):
        inputs = arguments.tensors()
        state = partial(view.by_name, concrete.captured.names)
        values = concrete.forward().run([t._value for t in inputs], state, view.same)
        return cook(concrete.recipe, inputs, _results(concrete, values), arguments.at, {})
    steps = concrete.steps if records else None
    if steps is not None and steps.joined is not None:
        waiting = steps.deferred(concrete, arguments, view, run_waiting)
        if waiting is not None:
            for i, t in enumerate(waiting):
                t._result_of = concrete.mark, i
            for at in concrete.flagged:
                waiting[at]._stop = False
            return cook(concrete.recipe, arguments.tensors(), waiting, arguments.at, {})
    return _run(concrete, arguments, view, records)


def run_waiting(concrete: ConcreteProgram, inputs: Sequence[Tensor], fed: Sequence[Any], view: View) -> list[Tensor]:
    """Calls a trace that only computes, with gradients, later than it was called.

    Args:
        inputs, fed: the tensors among the arguments, and the values that they had.

    Returns:
        the tensors of what is fetched.
    """
    state = view.by_name(concrete.captured.names)
    values, pending = _start(concrete, dict(zip(concrete.input_names, fed, strict=True)), state, view.same)
    results = _results(concrete, values)
    known = [*inputs, *view.tensors]
    _attach(concrete, pending, [known[i] for i in concrete.sources], values, results)
    return results


def _results(concrete: ConcreteProgram, values: Sequence[Any]) -> list[Any]:
    """The tensors of what was fetched."""
    results: list[Any] = []
    mark, wrap = concrete.mark, Tensor.wrap
    for value in values:
        if value.__class__ is np.ndarray:
            t = wrap(value)
            t._result_of = mark, len(results)
            results.append(t)
        else:
            results.append(None if value is None else [*map(wrap, value)])
    for at in concrete.flagged:
        if isinstance(results[at], Tensor):
            results[at]._stop = False
    return results


def _run(concrete: ConcreteProgram, arguments: Arguments, view: View, records: bool) -> Any:
    """A call that may do more than compute its result from what it is fed and the captured tensors.

    Args:
        records: whether gradients may be recorded.
    """
    for function in concrete.functions:
        function.require(concrete.name)
    inputs = arguments.tensors()
    for i, name in concrete.missing:
        if name == "__class__":
            if type(inputs[i]) is not Tensor:
                raise _of_another_class(concrete.inputs[i].name, inputs[i], concrete.name)
        elif has_attribute(inputs[i], name):
            raise hidden(concrete.inputs[i].name, name, concrete.name)
    captured, effects = view.tensors, concrete.effects

    def now(t: Tensor) -> Tensor:
        """What has taken the place of a traced tensor: what is there is what changes."""
        at = concrete.positions.get(id(t))
        return t if at is None else captured[at]

    if concrete.changes:
        _require_distinct(concrete, arguments, inputs, captured)
        _require_own_memory(concrete, arguments, inputs)
        for i in effects.clean:
            _require_clean(concrete, inputs[i])
        by = [inputs[t] if isinstance(t, int) else now(t) for t in effects.differentiated]
        for t in by:
            _require_no_hook(concrete, t, "grad()")
        if by:
            _require_no_way(concrete, [*inputs, *captured], by)
        for i in concrete.trained:
            if captured[i]._node is not None:
                _require_leaf(concrete, captured[i])
        for i in concrete.trained_inputs:
            _require_leaf(concrete, inputs[i])
    if concrete.written:
        arguments.view = None
        view.arrays.clear()  # who has an array, if only for this call, keeps it from being written to
        for at, _ in concrete.written:
            make_alone(captured[at])
        view = concrete.captured.view_of_any(captured)
    feeds: dict[str, Any] = dict(zip(concrete.input_names, map(_VALUE, inputs), strict=True))
    for n in concrete.numbers:
        feeds[n.variable.name] = np.asarray(n.holder[n.entry], n.variable.dtype)
    for d in concrete.drawn:
        feeds[d.variable.name] = np.asarray(d.draw(), d.variable.dtype)
    state: dict[str, Any] = view.by_name(concrete.captured.names)
    if concrete.draws:
        # a run updates it, and the array of a tensor that others may have is not written to
        state[STATE_NAME] = np.array(state[STATE_NAME])
    let_through = [now(t) for t, stop in effects.flags if not stop]
    sources: list[Tensor] = []
    if records and not effects.trains and concrete.differentiable:
        known = [*inputs, *captured]
        sources = [known[i] for i in concrete.sources]
    done: list[tuple[Any, list[Change]]] = []

    def commit(values: Sequence[Any], pending: Pending | None = None) -> Any:
        """The result, after all changes. It may be left anywhere and called again: what is to be done is found once, before it is done."""
        for at, name in concrete.written:
            if captured[at]._value is not state[name]:
                captured[at]._value = state[name]
        for t in let_through:
            t.set_stop(False)
        if not done:
            results = _results(concrete, values)
            if pending is not None:
                _attach(concrete, pending, sources, values, results)
                if concrete.steps is not None:
                    concrete.steps.called(concrete, inputs, results, view)
            elif effects.trains and records:
                _attach_freed(concrete, results)
            # what is handed on is what is there before the outside changes
            made: dict[Any, Any] = {}
            result = cook(concrete.recipe, inputs, results, arguments.at, made)
            changes: list[Change] = []
            if concrete.changes:
                cells = [(cell, cook(recipe, inputs, results, arguments.at, made)) for cell, recipe in effects.cells]
                _note_twins(concrete, inputs, now, results, made)
                changes += _changes(concrete, arguments, inputs, now, results, cells)
            done.append((result, changes))
        for change in done[0][1]:
            change()
        return done[0][0]

    try:
        if all(t._stop and all(t is not x for x in let_through) for t in sources):
            return _forward(concrete, feeds, state, view.same, commit)
        values, pending = _start(concrete, feeds, state, view.same)
    except RaisedError as error:
        if error.number == UNKNOWN:
            raise
        new = concrete.raised[error.number].make(error.values)
        for note in getattr(error, "__notes__", ()):
            new = with_note(new, note)
        raise new from new.__cause__
    return signals.whole(lambda: commit(values, pending), lambda: True)


def has_attribute(t: Tensor, name: str) -> bool:
    """Whether a tensor has an attribute, without running a property."""
    return name in vars(t) or hasattr(type(t), name)


def hidden(argument: str, attribute: str, name: str) -> StructureError:
    """What to raise of an attribute that the caller has given a tensor, and the static function of this name asks for: in a trace
    it has none."""
    return of_results(StructureError(
        f"argument {argument!r} has an attribute {attribute!r}, which the static function {name!r} asks for and does not see",
        location=user_location(), hint="pass its value as an argument",
    ))  # fmt: skip


def _of_another_class(argument: str, t: Tensor, name: str) -> StructureError:
    """What to raise of an argument of a subclass of Tensor, whose class the static function of this name asks for."""
    return of_results(StructureError(
        f"argument {argument!r} is a {type(t).__name__}, and the static function {name!r}, for which it is a Tensor, asks for its class",
        location=user_location(), hint="ask before the call, and pass what it is as an argument",
    ))  # fmt: skip


def _require_clean(concrete: ConcreteProgram, t: Tensor) -> None:
    """GradientError if an argument has a gradient from before the call, to which `backward()` would add."""
    due.deliver()
    if t._grad is not None:
        raise _before_the_run(
            f"{t.name!r} has a gradient from before the call, and the static function {concrete.name!r} calls backward() or makes a step",
            "call optimizer.clear_grad() before, or at its begin",
        )


def _require_leaf(concrete: ConcreteProgram, t: Tensor) -> None:
    """GradientError if a gradient flows on from what has taken the place of a leaf, or to a hook of it."""
    if not t._is_leaf:
        raise _before_the_run(
            f"{t.name!r}, which was a leaf when the static function {concrete.name!r} was traced, has been computed: its gradient flows on",
            "compute it in the function too, call backward() outside, or give x.detach()",
        )
    _require_no_hook(concrete, t, "backward()")


def _require_no_hook(concrete: ConcreteProgram, t: Tensor, what: str) -> None:
    """GradientError if a function is to be called with the gradient of a tensor, which a trace does not know of."""
    if has_hooks(t):
        raise _before_the_run(
            f"{t.name!r} has a hook, which the {what} in the static function {concrete.name!r} cannot call",
            f"call {what} outside of the static function",
        )


def _require_no_way(concrete: ConcreteProgram, known: Sequence[Any], by: Sequence[Tensor]) -> None:
    """GradientError if something that the function reads was computed, outside, from what its `grad()` differentiates by: the gradient that
    takes this way is no part of a trace."""
    targets = {(t._node, t._index): t for t in by if t._node is not None}
    found: set[tape.Node] = set()
    for x in known if targets else ():
        if not isinstance(x, Tensor) or x._stop or x._node is None or (x._node, x._index) in targets:
            continue
        stack = [x._node]
        while stack:
            node = stack.pop()
            if node in found:
                continue
            found.add(node)
            for edge in node.edges or ():
                if edge in targets:
                    raise _before_the_run(
                        f"{x.name!r} was computed from {targets[edge].name!r} outside of the static function {concrete.name!r}, which "
                        "differentiates by that: its grad() does not see this way", "compute it in the function too, or pass x.detach()",
                    )  # fmt: skip
                if edge is not None:
                    stack.append(edge[0])


def _before_the_run(message: str, hint: str) -> GradientError:
    """What to raise of tensors for which no trace will do."""
    return of_results(GradientError(message, location=user_location(), hint=hint))


def _attach_freed(concrete: ConcreteProgram, results: list[Any]) -> None:
    """The results of a call that has computed gradients itself: their graph is freed, as by the `backward()` of eager mode."""
    for freed, r in zip(concrete.freed, results, strict=True):
        if freed and r is not None:
            for t in r if isinstance(r, list) else [r]:
                t._stop, t._node, t._index = False, tape.FreedNode(concrete.label), 0


def _require_distinct(concrete: ConcreteProgram, arguments: Arguments, inputs: Sequence[Tensor], captured: Sequence[Any]) -> None:
    """StructureError if the function changes something that it knows twice, as an argument and from outside, or tells the two apart.

    A trace takes them for two objects.
    """
    effects = concrete.effects
    found: Any = None
    trains = effects.trains and not all(t._stop for t in inputs)  # what is trained is not stopped
    if effects.arguments or effects.captures or trains or concrete.compares_arguments:
        trained = [*effects.written, *effects.clean, *(effects.graded if effects.trains else ()), *(t for t, _ in effects.gradients)]
        known = {id(t): t for t in (*(place.now() for place in concrete.compared), *(t for t in trained if isinstance(t, Tensor)))}
        known |= {id(t): c.tensor for c, t in zip(concrete.captured, captured, strict=True)}
        changed = {*(i for i, _ in effects.arguments), *(t for t in trained if isinstance(t, int))}
        set_ = {*(id(t) for t, _ in effects.captures), *map(id, trained)}
        both = [i for i, t in enumerate(inputs) if id(t) in known]
        counts = [i for i in both if concrete.compares_arguments or i in changed or id(known[id(inputs[i])]) in set_]
        found = inputs[counts[0]] if counts else None
    if effects.cells and found is None:
        outside = concrete.containers_outside
        paths = {c.path for c, _ in effects.cells if isinstance(c, ArgumentCell)}
        set_ = {id(c.target) for c, _ in effects.cells if not isinstance(c, ArgumentCell)}
        given = _containers(arguments.bound, set(map(id, arguments.leaves)))
        found = next((x for path, x in given if id(x) in set_ or (path in paths and id(x) in outside)), None)
    if found is not None:
        tells = concrete.compares_arguments and isinstance(found, Tensor)
        raise known_twice(type(found).__name__, concrete.name, "tells the two apart" if tells else "changes it")


def _require_own_memory(concrete: ConcreteProgram, arguments: Arguments, inputs: Sequence[Tensor]) -> None:
    """An error if the call changes an array of NumPy among the arguments that cannot be changed, or of which another argument is a part."""
    arrays = arguments.arrays
    for i, _ in concrete.effects.arguments if arrays else ():
        array = arrays.get(id(inputs[i]))
        if array is None:
            continue
        if not array.flags.writeable:
            raise ValueError("assignment destination is read-only")
        if any(x is not array and np.may_share_memory(x, array) for x in arrays.values()):
            raise of_results(StructureError(
                f"the static function {concrete.name!r} changes the array {concrete.inputs[i].name!r}, of which another argument is a part",
                location=user_location(), hint="pass a copy of it",
            ))  # fmt: skip


def known_twice(what: str, name: str, does: str) -> StructureError:
    """What to raise of an object that the static function of this name knows as an argument and from outside."""
    return of_results(StructureError(
        f"a {what} among the arguments is also known to the static function {name!r} from outside, and it {does}",
        location=user_location(), hint="pass it as an argument only, or not at all",
    ))  # fmt: skip


def _containers(value: Any, leaves: set[int], path: tuple = ()) -> Iterator[tuple[tuple, Any]]:
    """The lists and dicts in the arguments, also those of the attributes of dataclasses, with the ways to them."""
    keys, children = split(value)
    if children is None or isinstance(value, Tensor) or id(value) in leaves:
        return
    if path and isinstance(value, (list, dict)):
        yield path, value
    elif path and hasattr(value, "__dict__"):
        yield path, vars(value)
    for key, child in zip(keys or range(len(children)), children, strict=True):
        yield from _containers(child, leaves, (*path, key))


def _note_twins(concrete: ConcreteProgram, inputs: Sequence[Tensor], now: Callable[[Tensor], Tensor], results: Sequence[Any],
                made: dict[Any, Any]) -> None:  # fmt: skip
    def tensors(x: Twin) -> list[Tensor]:
        """What may be others in this call."""
        if isinstance(x, CreatedContainer):
            return [t for t in flatten(made.get(x.mark))[0] if isinstance(t, Tensor)]
        found = inputs[x.position] if isinstance(x, Argument) else results[x.position] if isinstance(x, Fetched) else now(x)
        return [t for t in (found if isinstance(found, list) else [found]) if t is not None]

    for first, *others in concrete.tied:
        known = [t for x in others for t in tensors(x)]
        for t in tensors(first) if known else ():
            twins.tie([t, *known])


def _changes(concrete: ConcreteProgram, arguments: Arguments, inputs: Sequence[Tensor], now: Callable[[Tensor], Tensor],
             results: Sequence[Any], cells: Sequence[tuple[Cell | ArgumentCell, Any]]) -> list[Change]:  # fmt: skip
    """What the call changes outside, in order: each may be done twice."""
    effects = concrete.effects
    found: list[Change] = []
    for i, p in effects.arguments if arguments.arrays else ():
        if (array := arguments.arrays.get(id(inputs[i]))) is not None:
            found.append(partial(np.copyto, array, results[p]._value))
    changed = [*((inputs[i], p) for i, p in effects.arguments), *((now(t), p) for t, p in effects.captures)]
    freed = [now(t) for t in effects.freed]
    for target, _ in changed:
        twins.require_alone(target)
    for target, position in changed:
        new = results[position]
        found.append(partial(setattr, target, "_value", new._value))
        if target._is_leaf and (not target._stop or any(target is t for t in freed)):
            continue  # a parameter gets another value, as by `set_value`; its gradients go on coming to it
        if new._node is not None:
            found += [partial(target.set_stop, False), partial(new._node.hand_over, new._index, target)]
        elif dispatch.is_grad_enabled():
            found.append(partial(_forget_origin, target))
    # which containers change: those that there were before anything has changed
    places = [(cell.cell(arguments.at(cell.path)) if isinstance(cell, ArgumentCell) else cell, value) for cell, value in cells]
    found += [place.change(value) for place, value in places]
    for at, grad in effects.gradients:
        t = inputs[at] if isinstance(at, int) else now(at)
        found.append(partial(setattr, t, "_grad", None if grad is None else results[grad]))
    # what was computed before gradients were to stop has its way by now
    found += [partial(now(t).set_stop, stop) for t, stop in effects.flags]
    return found


def _forget_origin(t: Tensor) -> None:
    t._stop, t._node, t._index = True, None, 0  # as in `dispatch.rebind`


class Pending:
    """A run that waits for the gradients of its results. The frame is given back when they came, or nobody can send them."""

    def __init__(self, training: Training, session: Any, feeds: dict[str, Any], state: dict[str, np.ndarray]):
        self.training, self.session, self.feeds, self.state = training, session, feeds, state

    def resume(self, seeds: dict[str, Any]) -> list[Any]:
        """The gradients, in the order of `training.grads` (None where none flows)."""
        if self.session is None:  # the graph was retained: the forward part runs once more, and has printed what it prints
            state = {name: np.array(a) if name == STATE_NAME else a for name, a in self.state.items()}
            with silent():
                self.session = self.training.executable.start(self.feeds, state)
        session, self.session = self.session, None
        try:
            session.resume(seeds)
            found = iter(session.fetch([g for g in self.training.grads if g is not None]))
            return [None if g is None else next(found) for g in self.training.grads]
        finally:
            session.close()

    def __del__(self) -> None:
        if self.session is not None:
            self.session.close()


def _forward(concrete: ConcreteProgram, feeds: dict[str, Any], state: dict[str, np.ndarray], same: object,
             commit: Callable[[Sequence[Any]], Any]) -> Any:  # fmt: skip
    executable = concrete.forward()
    return executable.run([feeds[name] for name in executable.feed_names], state, same, commit)


def _start(concrete: ConcreteProgram, feeds: dict[str, Any], state: dict[str, np.ndarray], same: object) -> tuple[list[Any], Pending]:
    training = concrete.training()
    before = dict(state)
    if concrete.draws:
        before[STATE_NAME] = np.array(state[STATE_NAME])
    session = training.executable.start(feeds, state, same)
    try:
        values = session.fetch(concrete.fetches)
    except BaseException:
        session.close()
        raise
    return values, Pending(training, session, feeds, before)


def _attach(
    concrete: ConcreteProgram, pending: Pending, sources: list[Tensor], values: Sequence[Any], results: list[Any]
) -> None:
    """Makes the call a node of the tape, with the active results (each entry of a list) as outputs."""
    training = pending.training
    outputs: list[Tensor] = []
    spans: list[tuple[str, int, Any]] = []  # the feed of the gradient, the first output, the value
    fetched: list[int] = []  # which fetch each output comes from
    seeds = iter(training.out_grads)
    for at, (active, value, result) in enumerate(zip(concrete.active(), values, results, strict=True)):
        if not active:
            continue
        seed = next(seeds)
        if result is not None:
            spans.append((seed, len(outputs), value))
            outputs += result if isinstance(result, list) else [result]
            fetched += [at] * (len(outputs) - len(fetched))
    for t in outputs:
        t._stop = False
    absent = dict.fromkeys(training.out_grads, ABSENT)

    def backward(grads: Sequence[Tensor | None], needed: Sequence[bool]) -> list[Tensor | None]:
        fed: dict[str, Any] = dict(absent)
        for seed, first, value in spans:
            if isinstance(value, list):
                part = grads[first : first + len(value)]
                if any(g is not None for g in part):
                    fed[seed] = [np.zeros_like(v) if g is None else g._value for v, g in zip(value, part, strict=True)]
            elif grads[first] is not None:
                fed[seed] = grads[first]._value  # type: ignore[union-attr]
        found = pending.resume(fed)
        return [None if g is None or not want else Tensor.wrap(g) for g, want in zip(found, needed, strict=True)]

    def siblings() -> list[set[int]]:
        return [{j for j, at in enumerate(fetched) if at in concrete.siblings[own] and j != i} for i, own in enumerate(fetched)]

    tape.FunctionNode(sources, outputs, backward, concrete.label, siblings=siblings if len(outputs) > 1 else None)
