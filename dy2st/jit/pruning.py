"""Which inputs and outputs of a trace `jit.save` writes: `input_names_after_prune` and `output_spec`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st_runtime.ir import Variable

from ..convert.values.trees import flatten
from ..errors import DTypeError, FeedError, FetchError
from ..static.input_spec import InputSpec
from ..tensor import Tensor
from .concrete import ConcreteProgram
from .recipes import Fetched, outside


def outputs_to_save(concrete: ConcreteProgram, traces: Sequence[ConcreteProgram], output_spec: Any) -> list[int] | None:
    """The positions of the outputs that `output_spec` lists; None for all.

    Args:
        concrete: the trace that is saved.
        traces: those of calls, whose results may be listed.
        output_spec: positions of outputs, or results of calls.

    Raises:
        DTypeError, FetchError: it is no list, or has an entry that is none of these.
    """
    if output_spec is None:
        return None
    if not isinstance(output_spec, (list, tuple)):
        raise DTypeError(f"output_spec must be a list, got {type(output_spec).__name__}", hint="give a list of results of a call")
    if not output_spec:
        raise FetchError("output_spec is empty: nothing would be saved", hint="leave it out for all outputs")
    paths = [path for path, _ in concrete.results]
    found: list[int] = []
    for i, x in enumerate(output_spec):
        what = f"output_spec[{i}]"
        if isinstance(x, bool) or not isinstance(x, (int, Tensor, Variable)):
            raise DTypeError(f"{what} is a {type(x).__name__}", hint=_GIVE)
        if isinstance(x, int):
            if not -len(paths) <= x < len(paths):
                raise FetchError(f"{what} = {x}: {concrete.name!r} has {len(paths)} outputs")
            found.append(x % len(paths))
            continue
        path = _path_of(x, [concrete, *traces])
        if path is None:
            raise FetchError(f"{what} is no result of a static call of {concrete.name!r}", hint=_GIVE)
        if path not in paths:
            raise FetchError(f"{what} is a result that {concrete.name!r} does not give as it is saved now", hint=_GIVE)
        found.append(paths.index(path))
    # all of them are as they are returned, whatever order they are listed in: so it is in PaddlePaddle
    return None if len(found) == len(paths) == len(set(found)) else found


_GIVE = "give what a call of the static function has returned, or its position among the tensors of the result"


def _path_of(x: Tensor | Variable, traces: Sequence[ConcreteProgram]) -> tuple | None:
    """Where in the result of a trace a tensor is."""
    for trace in traces:
        if isinstance(x, Tensor) and (found := next((path for path, r in trace.results if (outside(r) or (None, None))[1] is x), None)):
            return found
        if isinstance(x, Variable):
            found = next((path for (path, _), v in zip(trace.results, trace.outputs, strict=True) if v is x), None)
            if found is not None:
                return found
        elif x._result_of is not None and x._result_of[0]() is trace:
            position = x._result_of[1]
            return next((path for path, r in trace.results if isinstance(r, Fetched) and r.position == position), None)
    return None


def inputs_to_save(concrete: ConcreteProgram, names: Any, specs: Sequence[Any] | None) -> list[int] | None:
    """The positions of the inputs with these names; None for all.

    Args:
        specs: the `input_spec`; a tensor in it stands for its input under its own name, too.

    Raises:
        DTypeError, FeedError: it is no list of names, or an input has no such name.
    """
    if names is None:
        return None
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise DTypeError("input_names_after_prune must be a list of names", hint="give the names of the InputSpecs that are to stay")
    known = {v.name: i for i, v in enumerate(concrete.inputs)}
    given = [x for x in flatten(list(specs or ()))[0] if isinstance(x, (InputSpec, Tensor))]
    also = {x.name: i for i, x in enumerate(given) if isinstance(x, Tensor)}
    also |= {name: i for i, name in enumerate(concrete.names)}
    positions = [known.get(name, also.get(name)) for name in names]
    for name, position in zip(names, positions, strict=True):
        if position is None:
            raise FeedError(f"input_names_after_prune has {name!r}; the inputs of {concrete.name!r} are {', '.join(map(repr, known))}",
                            hint="give names of these")  # fmt: skip
    return sorted({p for p in positions if p is not None})
