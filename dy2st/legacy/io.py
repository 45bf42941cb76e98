"""Saving and loading with the names of 1.x."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from dy2st_runtime.formats.replacing import replacing
from dy2st_runtime.formats.settled import Files, settled

from ..errors import ScopeError
from ..framework import io
from ..static.executor import Executor
from ..static.io import save_inference_folder
from ..static.program import Program, default_main_program
from ..tensor import Parameter

PARAMS, OPTIMIZER = ".pdparams", ".pdopt"


def save_dygraph(state_dict: Mapping[str, Any], model_path: str) -> None:
    """Writes a state dict: of a Layer to `model_path.pdparams`, of an optimizer to `model_path.pdopt`.

    Args:
        state_dict: of a Layer or an optimizer; it is that of a Layer if it holds a parameter.
        model_path: without ending.
    """
    is_layer = not state_dict or any(isinstance(value, Parameter) for value in state_dict.values())
    io.save(dict(state_dict), model_path + (PARAMS if is_layer else OPTIMIZER))


def load_dygraph(model_path: str, **options: Any) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Reads what `save_dygraph` wrote: the state dicts of a Layer and of an optimizer, None where there is no file.

    Raises:
        FileNotFoundError: there is neither.
        FormatError: a file is malformed.
    """
    base = model_path.removesuffix(PARAMS).removesuffix(OPTIMIZER)
    found = [io.load(base + suffix, return_numpy=True) if os.path.isfile(base + suffix) else None
             for suffix in (PARAMS, OPTIMIZER)]  # fmt: skip
    if found == [None, None]:
        raise FileNotFoundError(f"there is neither {base + PARAMS} nor {base + OPTIMIZER}")
    return found[0], found[1]


def save_inference_model(dirname: str, feeded_var_names: Sequence[str], target_vars: Sequence[Any], executor: Executor,
                         main_program: Program | None = None, model_filename: str | None = None,
                         params_filename: str | None = None, export_for_deployment: bool = True,
                         program_only: bool = False) -> list[str]:  # fmt: skip
    """Writes an inference model as a folder; see `static.io.save_inference_folder`. Returns the names of the targets."""
    return save_inference_folder(dirname, feeded_var_names, target_vars, executor, main_program, model_filename,
                                 params_filename)  # fmt: skip


def save_persistables(executor: Executor, dirname: str, main_program: Program | None = None,
                      filename: str | None = None) -> None:  # fmt: skip
    """Writes all persistable variables: a file for each, or one for all.

    Args:
        dirname: the folder; it is made.
        main_program: default: the default main program.
        filename: of the file for all.

    Raises:
        ScopeError: a variable has no value.
    """
    _save(dirname, (main_program or default_main_program()).state_dict("all"), filename)


def save_params(executor: Executor, dirname: str, main_program: Program | None = None,
                filename: str | None = None) -> None:  # fmt: skip
    """Like `save_persistables`, but only the parameters."""
    _save(dirname, (main_program or default_main_program()).state_dict("param"), filename)


def load_persistables(executor: Executor, dirname: str, main_program: Program | None = None,
                      filename: str | None = None) -> None:  # fmt: skip
    """Reads what `save_persistables` wrote to the global scope.

    Raises:
        FormatError, FileNotFoundError: a file is malformed or missing.
        ScopeError: a value does not fit its variable.
    """
    _load(dirname, main_program or default_main_program(), filename, "all")


def load_params(executor: Executor, dirname: str, main_program: Program | None = None,
                filename: str | None = None) -> None:  # fmt: skip
    """Reads what `save_params` wrote to the global scope."""
    _load(dirname, main_program or default_main_program(), filename, "param")


def _save(dirname: str, values: dict[str, np.ndarray], filename: str | None) -> None:
    from dy2st_runtime.formats import paddle_params  # protobuf takes a while

    os.makedirs(dirname, exist_ok=True)
    names = sorted(values) if filename is None else [filename]
    paths = [paddle_params.inside(dirname, name) for name in names]
    with replacing(*paths, root=dirname) as files:
        if filename is not None:
            paddle_params.write_params(files[0], values)
            return
        for name, file in zip(names, files, strict=True):
            paddle_params.write_tensor(file, values[name])


def _load(dirname: str, program: Program, filename: str | None, mode: str) -> None:
    from dy2st_runtime.formats import paddle_params

    names = [v.name for v in program.list_vars() if v.persistable and (mode == "all" or v.is_parameter)]
    of_file = {filename: names} if filename is not None else {name: [name] for name in names}

    def read(files: Files) -> dict[str, np.ndarray]:
        values = {}
        for file, held in of_file.items():
            values.update(paddle_params.read_params(paddle_params.inside(dirname, file), held, at=files.at))
        return values

    values = settled(dirname, read)
    if not names:
        raise ScopeError("the program has no variables to load")
    program.set_state_dict(values)
