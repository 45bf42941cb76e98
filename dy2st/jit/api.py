"""`to_static`, `declarative` and their switches."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Sequence
from typing import Any

from dy2st_runtime import config

from ..errors import DTypeError
from .static_function import StaticFunction


def to_static(function: Any = None, input_spec: Sequence[Any] | None = None, build_strategy: Any = None,
              backend: Any = None, full_graph: bool = True) -> Any:  # fmt: skip
    """Makes a function, a method or a layer static: it is traced at its first call and then runs as a compiled Program.

    As a decorator, with or without arguments, or as a function. Of a layer the `forward` is made static, and the layer
    is returned.

    Args:
        function: a function, a method, or a Layer.
        input_spec: for each argument an InputSpec; without it, shapes are learned from the calls.
        build_strategy, backend: accepted for the sake of PaddlePaddle's signature; there is one backend.
        full_graph: what cannot be staged is an error. With False the statement that is the reason runs eagerly, with an
            `EagerStatementWarning` that names it; what is before and behind it is static.

    Raises:
        DTypeError: it is none of these.

    >>> import dy2st
    >>> @to_static
    ... def f(x):
    ...     return x + 1
    >>> f.__name__
    'f'
    """
    if function is None:
        return lambda f: to_static(f, input_spec, full_graph=full_graph)
    if isinstance(function, StaticFunction):
        if input_spec is None and full_graph == function.full_graph:
            return function
        return StaticFunction(function.original, function.input_spec if input_spec is None else input_spec, full_graph=full_graph)
    if isinstance(function, (types.FunctionType, types.MethodType)):
        return StaticFunction(function, input_spec, full_graph=full_graph)
    forward = getattr(function, "forward", None)
    if forward is not None and hasattr(function, "sublayers"):
        inner = forward.original if isinstance(forward, StaticFunction) else forward
        function.forward = StaticFunction(inner, input_spec, full_graph=full_graph)
        return function
    if isinstance(function, (staticmethod, classmethod)):
        raise DTypeError("put to_static below @staticmethod or @classmethod, next to the function")
    if isinstance(function, functools.partial) and input_spec is None:
        return functools.partial(to_static(function.func, full_graph=full_graph), *function.args, **function.keywords)
    own = None if isinstance(function, type) else inspect.getattr_static(type(function), "__call__", None)
    if isinstance(own, types.FunctionType):
        return StaticFunction(types.MethodType(own, function), input_spec, full_graph=full_graph)
    raise DTypeError(
        f"to_static takes a function, a method, a Layer or an object with __call__, got {type(function).__name__}",
        hint=next((hint for kind, hint in _HINTS.items() if isinstance(function, kind)), None),
    )


_HINTS: dict[type, str] = {
    functools.partial: "give the function to to_static, with an input_spec for all arguments: partial(to_static(f, input_spec), ...)",
    functools._lru_cache_wrapper: "a cache would keep the tensors of a call; decorate the function without lru_cache, which has its traces",
    types.BuiltinFunctionType: "call it in a function of your own",
    type: "decorate its forward or __call__, or make an object of it",
}


declarative = to_static
dygraph_to_static_func = to_static


def set_code_level(level: int = 100, also_to_stdout: bool = False) -> None:
    """Prints transformed code when a function is converted.

    Args:
        level: 0: nothing; more: the transformed source, 100 and more: also the source after each pass.
    """
    names = {"code"} if level > 0 else set()
    if level >= 100:
        from ..transpiler.pipeline import PIPELINE

        names |= {"ast", *(_snake(p.__name__) for p in PIPELINE)}
    kept = config.DUMP.get() - _code_names()
    config.DUMP.set(frozenset(kept | names))


def set_verbosity(level: int = 0, also_to_stdout: bool = False) -> None:
    """Prints more about what is done: 1: new traces, why they were made, and the Program; 2: also the plan; 3: also the generated
    kernels."""
    levels = [("traces", "program"), ("plan",), ("source",)]
    kept = config.DUMP.get().difference(*levels)
    config.DUMP.set(kept.union(*levels[: max(level, 0)]))


def _code_names() -> set[str]:
    from ..transpiler.pipeline import PIPELINE

    return {"ast", "code", *(_snake(p.__name__) for p in PIPELINE)}


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")
