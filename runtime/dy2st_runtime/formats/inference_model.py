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
from ..ir.prune import RNG, prune
from . import paddle_params
from .opening import open_regular
from .paddle_program import MAX_BYTES, program_from_bytes, program_to_bytes
from .replacing import replacing
from .settled import Files, settled

SavedModel = tuple[Program, Sequence[str], Sequence[str], Mapping[str, Any]]
"""Program, feeds, fetches and parameters."""

PROGRAM_SUFFIX, PARAMS_SUFFIX = ".pdmodel", ".pdiparams"
FOLDER_PROGRAM = "__model__"
PARAMS_INFO = PARAMS_SUFFIX + ".info"
"""Beside a model: the names of its parameters in the state dict, as a pickle of dicts."""


@dataclass
class InferenceModel:
    """A loaded model.

    Attributes:
        program: verified; its data variables are those of `feed_names`.
        feed_names: what to feed, in order.
        fetch_names: what to fetch, in order.
        params: the value of every persistable variable.

    A pickle holds the bytes that a model file has, and the parameters; they are checked as those of a file are.
    """

    program: Program
    feed_names: list[str]
    fetch_names: list[str]
    params: dict[str, np.ndarray]

    def __reduce__(self) -> tuple[Any, ...]:
        return model_from_bytes, (program_to_bytes(self.program, self.feed_names, self.fetch_names), self.params)


def model_from_bytes(data: bytes, params: Mapping[str, np.ndarray]) -> InferenceModel:
    """A model from the bytes of a program, as `program_to_bytes` gives them, and its parameters.

    Raises:
        FormatError: the bytes are malformed, or a parameter is missing or does not fit.
    """
    loaded = program_from_bytes(data)
    return InferenceModel(loaded.program, loaded.feed_names, loaded.fetch_names, _values(loaded.program, params))


def save_inference_model(path_prefix: str | os.PathLike[str], program: Program, feed_names: Sequence[str],
                         fetch_names: Sequence[str], params: Mapping[str, Any], draws: bool = False) -> None:  # fmt: skip
    """Writes `path_prefix.pdmodel` and `path_prefix.pdiparams`.

    Only what the fetches need is written: no gradients, no updates, no parameters that are not read. The files replace
    older ones in one step, when both are complete on disk: who loads the model meanwhile, or after the process was killed, has
    the old one or the new one. The program holds a digest of its parameters, so that a reader never mixes two models.

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
    save_inference_models(path_prefix, {"": (program, feed_names, fetch_names, params)}, draws)


def save_inference_models(path_prefix: str | os.PathLike[str], models: Mapping[str, SavedModel], draws: bool = False,
                          beside: Mapping[str, bytes] | None = None) -> None:  # fmt: skip
    """Writes several models in one step: those of the methods of a layer.

    Args:
        models: program, feeds, fetches and parameters, by what comes between the prefix and the suffixes.
        beside: other files that belong to them: their bytes, by what comes after the prefix.
        path_prefix, draws: see `save_inference_model`, also for the errors.
    """
    prefix = os.fspath(path_prefix)
    if not os.path.basename(prefix):
        raise FormatError(f"{prefix!r} is a folder, not the path of files without suffix", hint=f"add a name: {prefix + 'model'!r}, say")
    os.makedirs(os.path.dirname(prefix) or ".", exist_ok=True)
    pruned = {name: _pruned(program, feeds, fetches, draws) for name, (program, feeds, fetches, _) in models.items()}
    values = {name: _values(pruned[name], params) for name, (_, _, _, params) in models.items()}
    beside = beside or {}
    paths = [prefix + name + suffix for name in models for suffix in (PARAMS_SUFFIX, PROGRAM_SUFFIX)]
    with replacing(*paths, *(prefix + suffix for suffix in beside)) as files:
        for i, (name, (_, feeds, fetches, _)) in enumerate(models.items()):
            digest = _Digest()
            paddle_params.write_params(digest.of(files[2 * i]), values[name])
            files[2 * i + 1].write(program_to_bytes(pruned[name], feeds, fetches, digest.text()))
        for file, data in zip(files[2 * len(models) :], beside.values(), strict=True):
            file.write(data)


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
    with replacing(*paths, root=root) as files:
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
        path: a prefix (`model/net` for `net.pdmodel` and `net.pdiparams`), the `.pdmodel` file itself, or a folder in the
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
    name = os.fspath(path)
    return settled(_root(name, model_filename), lambda files: _load(files, name, model_filename, params_filename))


def load_inference_models(path: str | os.PathLike[str], beside: str | None = None) -> tuple[dict[str, InferenceModel], bytes | None]:
    """The model at a path, under the name "", and those of other methods, under their names: PaddlePaddle's `jit.save` writes them
    beside it, as `path.METHOD.pdmodel`.

    Args:
        path: see `load_inference_model`, also for the errors.
        beside: what comes after the prefix in the name of another file (see `save_inference_models`).

    Returns:
        the models, and the bytes of that file; None if there is none.
    """

    def load(files: Files) -> tuple[dict[str, InferenceModel], bytes | None]:
        models = {"": _load(files, base, None, None)}
        if _is_folder(files, base, None):
            return models, None
        prefix = _prefix(files, base)
        models |= {name: _load(files, f"{prefix}.{name}", None, None) for name in _methods_beside(files, prefix)}
        if beside is None or not files.exists(prefix + beside):
            return models, None
        with open_regular(files.at(prefix + beside)) as file:
            return models, file.read()

    base = os.fspath(path)
    return settled(_root(base), load)


def _load(files: Files, path: str, model_filename: str | None, params_filename: str | None) -> InferenceModel:
    program_path, params_path = _locate(files, path, model_filename, params_filename)
    with open_regular(files.at(program_path)) as file:
        if os.fstat(file.fileno()).st_size > MAX_BYTES:
            raise FormatError(f"{program_path} is larger than {MAX_BYTES} bytes: not a program")
        data = file.read()
    try:
        loaded = program_from_bytes(data)
    except FormatError as error:
        raise FormatError(f"{program_path}: {error.message}", hint=error.hint) from error
    wanted = [v for v in loaded.program.global_block().vars.values() if v.persistable and v.name != RNG]
    digest = _Digest()
    if params_path is not None:
        params = paddle_params.read_params(params_path, [v.name for v in wanted], digest.of, files.at) if wanted else {}
    else:
        params = {}
        for v in sorted(wanted, key=lambda v: v.name):
            name = paddle_params.inside(os.path.dirname(program_path), v.name)
            params.update(paddle_params.read_params(name, [v.name], digest.of, files.at))
    if loaded.digest is not None and wanted and loaded.digest != digest.text():
        raise FormatError(f"{program_path} was saved with other parameters than those beside it",
                          hint="save the model again, or copy both of its files")  # fmt: skip
    for v in wanted:
        _check_param(v, params[v.name])
    return InferenceModel(loaded.program, loaded.feed_names, loaded.fetch_names, params)


def _root(path: str, model_filename: str | None = None) -> str:
    """The folder that a model is in."""
    is_folder = os.path.isdir(path) and (model_filename is not None or not os.path.exists(path + PROGRAM_SUFFIX))
    return path if is_folder else os.path.dirname(path)


def _methods_beside(files: Files, prefix: str) -> list[str]:
    """The methods of which there are models beside that of a prefix."""
    folder, base = os.path.split(prefix)
    found = [name.removesuffix(PROGRAM_SUFFIX) for name in files.names(folder) if name.endswith(PROGRAM_SUFFIX)]
    names = [name[len(base) + 1 :] for name in found if name.startswith(base + ".")]
    return [name for name in names if name.isidentifier() and f".{name}" != PROGRAM_SUFFIX]


def _locate(files: Files, path: str, model_filename: str | None, params_filename: str | None) -> tuple[str, str | None]:
    """The program's file and the combined parameter file, if there is to be one."""
    if _is_folder(files, path, model_filename):
        program = paddle_params.inside(path, model_filename or FOLDER_PROGRAM)
        if model_filename is None and not files.exists(program):
            found = sorted(name for name in os.listdir(path) if name.endswith(PROGRAM_SUFFIX))
            raise FileNotFoundError(
                f"{path} holds no {FOLDER_PROGRAM}" + (f", but {', '.join(found)}" if found else "")
            )
        return program, None if params_filename is None else paddle_params.inside(path, params_filename)
    prefix = _prefix(files, path)
    program, params = prefix + PROGRAM_SUFFIX, prefix + PARAMS_SUFFIX
    return program, params if params_filename is None else os.path.join(os.path.dirname(program), params_filename)


def _prefix(files: Files, path: str) -> str:
    """The path without suffix of the files for a path: that which was given when they were saved, or that of the program's file.

    Raises:
        FileNotFoundError: there are none.
        FormatError: the path could be either.
    """
    is_prefix, is_file = files.exists(path + PROGRAM_SUFFIX), path.endswith(PROGRAM_SUFFIX) and files.exists(path)
    if is_prefix and is_file:
        raise FormatError(f"{path} is a model, and the path without suffix of another one, {path + PROGRAM_SUFFIX}",
                          hint=f"say {path.removesuffix(PROGRAM_SUFFIX)!r} or {path + PROGRAM_SUFFIX!r}")  # fmt: skip
    if is_prefix:
        return path
    prefix = path.removesuffix(PROGRAM_SUFFIX)
    if not files.exists(prefix + PROGRAM_SUFFIX):
        raise FileNotFoundError(f"no model at {path}: neither {prefix + PROGRAM_SUFFIX} nor a folder of this name")
    return prefix


def _is_folder(files: Files, path: str, model_filename: str | None) -> bool:
    """Whether a model is in a folder of this name, and not in files with this prefix beside it.

    Raises:
        FormatError: it is in both.
    """
    if not os.path.isdir(path) or model_filename is not None or not files.exists(path + PROGRAM_SUFFIX):
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
        if not v.persistable or v.name == RNG:
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
