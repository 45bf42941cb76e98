"""Inference models of hand-built programs, and the values of their variables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from dy2st_runtime import formats, ir
from dy2st_runtime.ir.visit import clone_program
from dy2st_runtime.scope import Scope

from ..errors import FetchError
from ..tensor import Tensor
from .executor import Executor
from .program import Program, default_main_program
from .scope import global_scope


def save_inference_model(path_prefix: str | os.PathLike[str], feed_vars: Any, fetch_vars: Any, executor: Executor,
                         program: Program | None = None, **options: Any) -> None:  # fmt: skip
    """Writes `path_prefix.pdmodel` and `path_prefix.pdiparams`, which PaddlePaddle and `dy2st_runtime` read.

    Args:
        feed_vars: data variables, or their names; a list, or one.
        fetch_vars: variables to return, or their names; a list, or one.
        executor: accepted as PaddlePaddle has it; the values come from the global scope.
        program: default: that of the fetched variables, or the default main program.

    Raises:
        FetchError, FormatError: see `dy2st_runtime.save_inference_model`.
        ScopeError: a parameter has no value.

    Example:
        >>> save_inference_model("model/net", [x], [y], exe)  # doctest: +SKIP
    """
    program, feeds, fetches = _resolve(feed_vars, fetch_vars, program)
    formats.save_inference_model(path_prefix, program, feeds, fetches, _values(program))


def save_inference_folder(dirname: str | os.PathLike[str], feed_vars: Any, fetch_vars: Any, executor: Executor,
                          program: Program | None = None, model_filename: str | None = None,
                          params_filename: str | None = None) -> list[str]:  # fmt: skip
    """The same in the 1.x form: a folder with `__model__` and a file for each parameter, or one named for all.

    Returns:
        the names of the fetches.
    """
    program, feeds, fetches = _resolve(feed_vars, fetch_vars, program)
    formats.save_inference_folder(dirname, program, feeds, fetches, _values(program), model_filename=model_filename,
                                  params_filename=params_filename)  # fmt: skip
    return fetches


def load_inference_model(path_prefix: str | os.PathLike[str], executor: Executor, *, model_filename: str | None = None,
                         params_filename: str | None = None, scope: Scope | None = None) -> list[Any]:  # fmt: skip
    """Reads an inference model; its parameters go to the global scope.

    Args:
        path_prefix: prefix of the two files, or a folder in the 1.x form.
        executor: what will run it.

    Returns:
        [program, names of the feeds, variables to fetch].

    Raises:
        FormatError, FileNotFoundError: see `dy2st_runtime.load_inference_model`.
    """
    model = formats.load_inference_model(path_prefix, model_filename=model_filename, params_filename=params_filename)
    program = Program()
    clone_program(model.program, program)
    scope = global_scope() if scope is None else scope
    for name, value in model.params.items():
        scope.var(name).value = value
    block = program.global_block()
    return [program, model.feed_names, [Tensor.wrap(block.var(name)) for name in model.fetch_names]]


def _resolve(feed_vars: Any, fetch_vars: Any, program: Program | None) -> tuple[Program, list[str], list[str]]:
    feeds, fetches = (list(v) if isinstance(v, (list, tuple)) else [v] for v in (feed_vars, fetch_vars))
    if program is None:
        owners = [t._value.block.program for t in fetches if isinstance(t, Tensor) and isinstance(t._value, ir.Variable)]
        program = owners[0] if owners and isinstance(owners[0], Program) else default_main_program()
    return program, _names(feeds, "feed"), _names(fetches, "fetch")


def _names(values: Sequence[Any], what: str) -> list[str]:
    names = []
    for value in values:
        v = value._value if isinstance(value, Tensor) else value
        if not isinstance(v, (str, ir.Variable)):
            raise FetchError(f"{type(value).__name__} is nothing to {what}", hint="give variables of a program, or names")
        names.append(v if isinstance(v, str) else v.name)
    return names


def _values(program: Program) -> dict[str, np.ndarray]:
    """The values of the persistable variables that have one; saving complains about those that it misses."""
    scope, values = global_scope(), {}
    for v in program.list_vars():
        if v.persistable:
            found = scope.find_var(v.name)
            if (found is not None and found.value is not None) or v.name in program.captured:
                values[v.name] = program.value_of(v, scope)
    return values
