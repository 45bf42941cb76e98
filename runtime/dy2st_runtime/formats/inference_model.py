"""Inference models on disk: a program and its parameters, as PaddlePaddle 1.x and 2.x lay them out."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import dtype
from ..errors import FetchError, FormatError
from ..ir import Program, Variable
from ..ir.prune import prune
from . import paddle_params
from .opening import open_regular
from .paddle_program import MAX_BYTES, program_from_bytes, program_to_bytes

PROGRAM_SUFFIX, PARAMS_SUFFIX = ".pdmodel", ".pdiparams"
FOLDER_PROGRAM = "__model__"


@dataclass
class InferenceModel:
    """A loaded model.

    Attributes:
        program: verified; its data variables are those of `feed_names`.
        feed_names: what to feed, in order.
        fetch_names: what to fetch, in order.
        params: the value of every persistable variable.
    """

    program: Program
    feed_names: list[str]
    fetch_names: list[str]
    params: dict[str, np.ndarray]


def save_inference_model(path_prefix: str | os.PathLike[str], program: Program, feed_names: Sequence[str],
                         fetch_names: Sequence[str], params: Mapping[str, Any], draws: bool = False) -> None:  # fmt: skip
    """Writes `path_prefix.pdmodel` and `path_prefix.pdiparams`.

    Only what the fetches need is written: no gradients, no updates, no parameters that are not read. The files replace
    older ones only when both are complete on disk; the program holds a digest of its parameters, so that a reader never
    mixes two models.

    Args:
        path_prefix: path without suffix; its folder is created.
        program: is not changed.
        feed_names: names of data variables, in the order in which they are to be fed.
        fetch_names: names of variables of the global block.
        params: values of the persistable variables, by name; others in it are left out.
        draws: whether random draws stay whose results no fetch needs: then later ones, also of the next runs, are the same as
            in the program.

    Raises:
        FetchError: a feed or a fetch is no variable of the program, or a fetch needs a data variable that is not fed.
        FormatError: the path ends in a slash, the program cannot be expressed in PaddlePaddle's format, or a parameter is
        missing or does not fit.

    Example:
        >>> save_inference_model("model/net", program, ["x"], ["softmax_0.tmp_0"], params)  # doctest: +SKIP
    """
    prefix = os.fspath(path_prefix)
    if not os.path.basename(prefix):
        raise FormatError(f"{prefix!r} is a folder, not the path of files without suffix", hint=f"add a name: {prefix + 'model'!r}, say")
    os.makedirs(os.path.dirname(prefix) or ".", exist_ok=True)
    pruned = _pruned(program, feed_names, fetch_names, draws)
    values = _values(pruned, params)
    digest = _Digest()
    with paddle_params.replacing(prefix + PARAMS_SUFFIX, prefix + PROGRAM_SUFFIX) as (params_file, program_file):
        paddle_params.write_params(digest.of(params_file), values)
        program_file.write(program_to_bytes(pruned, feed_names, fetch_names, digest.text()))


def save_inference_folder(folder: str | os.PathLike[str], program: Program, feed_names: Sequence[str],
                          fetch_names: Sequence[str], params: Mapping[str, Any], *, model_filename: str | None = None,
                          params_filename: str | None = None, draws: bool = False) -> None:  # fmt: skip
    """Writes the 1.x form: a folder with the program (`__model__`) and one file for each parameter, or one for all.

    Args, errors: see `save_inference_model`.
        model_filename: instead of `__model__`.
        params_filename: name of the combined file; None: a file for each parameter, named as the parameter.
    """
    root = os.fspath(folder)
    os.makedirs(root, exist_ok=True)
    pruned = _pruned(program, feed_names, fetch_names, draws)
    values = _values(pruned, params)
    names = sorted(values) if params_filename is None else [params_filename]
    paths = [paddle_params.inside(root, name) for name in [*names, model_filename or FOLDER_PROGRAM]]
    for path in paths:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    digest = _Digest()
    with paddle_params.replacing(*paths) as files:
        if params_filename is None:
            for name, file in zip(names, files[:-1], strict=True):
                paddle_params.write_tensor(digest.of(file), values[name])
        else:
            paddle_params.write_params(digest.of(files[0]), values)
        files[-1].write(program_to_bytes(pruned, feed_names, fetch_names, digest.text()))


def load_inference_model(path: str | os.PathLike[str], *, model_filename: str | None = None,
                         params_filename: str | None = None) -> InferenceModel:  # fmt: skip
    """Reads an inference model.

    Args:
        path: a prefix (`model/net` for `net.pdmodel` and `net.pdiparams`), the `.pdmodel` file itself, or a folder in
        the
            1.x form.
        model_filename: the program's file in a folder, if not `__model__`.
        params_filename: the combined parameter file; None: beside a `.pdmodel` the `.pdiparams`, in a folder one
            file for each parameter.

    Raises:
        FileNotFoundError: there is no such model.
        FormatError: a file is truncated or malformed, the two do not belong together, or ops are not supported; or there are
            both files with this prefix and a model in a folder of this name.

    Example:
        >>> model = load_inference_model("model/net")  # doctest: +SKIP
        >>> model.feed_names, model.fetch_names  # doctest: +SKIP
        (['x'], ['softmax_0.tmp_0'])
    """
    program_path, params_path = _locate(os.fspath(path), model_filename, params_filename)
    with open_regular(program_path) as file:
        if os.fstat(file.fileno()).st_size > MAX_BYTES:
            raise FormatError(f"{program_path} is larger than {MAX_BYTES} bytes: not a program")
        data = file.read()
    try:
        loaded = program_from_bytes(data)
    except FormatError as error:
        raise FormatError(f"{program_path}: {error.message}", hint=error.hint) from error
    wanted = [v for v in loaded.program.global_block().vars.values() if v.persistable and v.name != "@RNG@"]
    digest = _Digest()
    if params_path is not None:
        params = paddle_params.read_params(params_path, [v.name for v in wanted], digest.of) if wanted else {}
    else:
        params = {}
        for v in sorted(wanted, key=lambda v: v.name):
            params.update(
                paddle_params.read_params(paddle_params.inside(os.path.dirname(program_path), v.name), [v.name], digest.of)
            )
    if loaded.digest is not None and wanted and loaded.digest != digest.text():
        raise FormatError(f"{program_path} was saved with other parameters than those beside it",
                          hint="save the model again, or load it again if it is being saved right now")  # fmt: skip
    for v in wanted:
        _check_param(v, params[v.name])
    return InferenceModel(loaded.program, loaded.feed_names, loaded.fetch_names, params)


def methods_beside(path: str | os.PathLike[str]) -> dict[str, str]:
    """The models of other methods, which PaddlePaddle's `jit.save` writes beside that of `forward` as `path.METHOD.pdmodel`: by the names
    of the methods, their paths without suffix."""
    prefix = os.fspath(path).removesuffix(PROGRAM_SUFFIX)
    if _is_folder(os.fspath(path), None):
        return {}
    folder, base = os.path.split(prefix)
    files = [name.removesuffix(PROGRAM_SUFFIX) for name in sorted(os.listdir(folder or ".")) if name.endswith(PROGRAM_SUFFIX)]
    names = [name[len(base) + 1 :] for name in files if name.startswith(base + ".")]
    return {name: f"{prefix}.{name}" for name in names if name.isidentifier()}


def _locate(path: str, model_filename: str | None, params_filename: str | None) -> tuple[str, str | None]:
    """The program's file and the combined parameter file, if there is to be one."""
    if _is_folder(path, model_filename):
        program = paddle_params.inside(path, model_filename or FOLDER_PROGRAM)
        if model_filename is None and not os.path.exists(program):
            found = sorted(name for name in os.listdir(path) if name.endswith(PROGRAM_SUFFIX))
            raise FileNotFoundError(
                f"{path} holds no {FOLDER_PROGRAM}" + (f", but {', '.join(found)}" if found else "")
            )
        return program, None if params_filename is None else paddle_params.inside(path, params_filename)
    prefix = path.removesuffix(PROGRAM_SUFFIX)
    program = prefix + PROGRAM_SUFFIX
    if not os.path.exists(program):
        raise FileNotFoundError(f"no model at {path}: neither {program} nor a folder of this name")
    params = prefix + PARAMS_SUFFIX
    return program, params if params_filename is None else os.path.join(os.path.dirname(program), params_filename)


def _is_folder(path: str, model_filename: str | None) -> bool:
    """Whether a model is in a folder of this name, and not in files with this prefix beside it.

    Raises:
        FormatError: it is in both.
    """
    if not os.path.isdir(path) or model_filename is not None or not os.path.exists(path + PROGRAM_SUFFIX):
        return os.path.isdir(path)
    if os.path.exists(os.path.join(path, FOLDER_PROGRAM)):
        raise FormatError(f"there are both {path + PROGRAM_SUFFIX} and a model in the folder {path}",
                          hint=f"name the file ({path + PROGRAM_SUFFIX}), or move one of the two")  # fmt: skip
    return False


def _pruned(program: Program, feed_names: Sequence[str], fetch_names: Sequence[str], draws: bool = False) -> Program:
    block = program.global_block()
    for name in feed_names:
        if name not in block.vars or block.vars[name].persistable:
            raise FetchError(f"{name!r} cannot be fed: the program has no such data variable")
    return prune(program, feed_names, fetch_names, draws)


def _values(program: Program, params: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The persistable variables of a program with their values, checked."""
    values = {}
    for v in program.global_block().vars.values():
        if not v.persistable or v.name == "@RNG@":
            continue
        if v.name not in params:
            raise FormatError(f"parameter {v.name!r} has no value to save", hint="run the startup program first")
        values[v.name] = np.asarray(params[v.name])
        _check_param(v, values[v.name])
    return values


def _check_param(v: Variable, array: np.ndarray) -> None:
    fits = len(v.shape) == array.ndim and all(a in (-1, b) for a, b in zip(v.shape, array.shape, strict=True))
    if v.kind != "dense" or dtype.canonical(array.dtype) != v.dtype or not fits:
        raise FormatError(f"parameter {v.name!r} is {array.dtype}{list(array.shape)}, the program declares {v.type}",
                          hint="the parameters belong to another program")  # fmt: skip


class _Digest:
    """Sums up the bytes of parameter files as they are read or written."""

    def __init__(self) -> None:
        self.hash = hashlib.blake2b(digest_size=16)

    def text(self) -> str:
        return self.hash.hexdigest()

    def of(self, file: Any) -> Any:
        """The file, with `read` and `write` that also feed the digest."""
        return _Summed(file, self.hash)


class _Summed:
    def __init__(self, file: Any, total: Any):
        self.file, self.hash = file, total

    def write(self, data: Any) -> None:
        self.hash.update(data)
        self.file.write(data)

    def read(self, count: int) -> bytes:
        data = self.file.read(count)
        self.hash.update(data)
        return data
