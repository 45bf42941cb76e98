"""`save` and `load` of state dicts, in PaddlePaddle's form: a pickle of plain containers and arrays.

A pickle is a program for the unpickler. `load` therefore admits no classes or functions but stand-ins of its own for what
an array is written as, checks the opcodes before it starts, and builds the arrays itself from checked data.
"""

from __future__ import annotations

import io
import math
import os
import pickle
import pickletools
from collections import OrderedDict
from typing import Any, BinaryIO

import numpy as np
from dy2st_runtime.formats.opening import open_regular
from dy2st_runtime.formats.replacing import replacing

from ..errors import DTypeError, FormatError
from ..tensor import Tensor

NAME_TABLE = "StructuredToParameterName@@"
_MAX_DEPTH = 100
_MAX_KEY = 100
_KINDS = {f"{kind}{size}" for kind, sizes in (("f", "248"), ("i", "1248"), ("u", "1248"), ("b", "1")) for size in sizes}


# ---- writing ----
def save(obj: Any, path: str | os.PathLike | BinaryIO, protocol: int = 4, **configs: Any) -> None:
    """Writes a state dict, or any nesting of dicts, lists, tuples, tensors, arrays, numbers and texts.

    Args:
        obj: what to write; tensors are written as arrays.
        path: a file (".pdparams" and ".pdopt" are usual), written atomically, its folder made if needed; or an open binary file.
        protocol: of the pickle: 2, 3 or 4.

    Raises:
        DTypeError: obj holds something else.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "a.pdparams")
    ...     save({"w": Tensor([1.0, 2.0])}, path)
    ...     load(path)["w"].numpy()
    array([1., 2.], dtype=float32)
    """
    if protocol not in (2, 3, 4):
        raise ValueError(f"protocol must be 2, 3 or 4, got {protocol!r}")
    plain = _plain(obj, "object", 0)
    if isinstance(obj, dict) and obj and all(isinstance(k, str) for k in obj):
        table = {k: t.name for k, t in obj.items() if isinstance(t, Tensor)}
        if table:
            plain[NAME_TABLE] = table
    data = pickle.dumps(plain, protocol)
    if hasattr(path, "write"):
        path.write(data)  # type: ignore[union-attr]
        return
    target = os.fspath(path)  # type: ignore[arg-type]
    folder = os.path.dirname(target)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with replacing(target) as (file,):
        file.write(data)


def _plain(obj: Any, where: str, depth: int) -> Any:
    """The object with tensors as arrays; only what `load` reads back is admitted."""
    if depth > _MAX_DEPTH:
        raise DTypeError(f"{where}: nested too deeply to be saved")
    if isinstance(obj, Tensor):
        return obj.numpy()
    if isinstance(obj, np.ndarray):
        if obj.dtype.kind + str(obj.dtype.itemsize) not in _KINDS:
            raise DTypeError(f"{where}: an array of dtype {obj.dtype} cannot be saved")
        return obj.copy()  # C order
    if isinstance(obj, np.generic):
        return obj.item()
    if obj is None or isinstance(obj, (bool, int, float, str, bytes)):
        return obj
    if isinstance(obj, dict):
        return {_plain(k, where, depth + 1): _plain(v, f"{where}[{k!r}]", depth + 1) for k, v in obj.items()}
    if isinstance(obj, (list, tuple, set)):
        return type(obj)(_plain(v, f"{where}[{i}]", depth + 1) for i, v in enumerate(obj))
    raise DTypeError(f"{where}: {type(obj).__name__} cannot be saved", hint="save state dicts: layer.state_dict()")


# ---- reading ----
def load(path: str | os.PathLike | BinaryIO, return_numpy: bool = False, **configs: Any) -> Any:
    """Reads what `save` (or PaddlePaddle's `save`) wrote, or the parameters of a model that `jit.save` wrote, under the names of its state
    dict. Nothing in the file is executed.

    Args:
        path: the file; without its ending, ".pdparams" is tried. Or the path that was given to `jit.save`.
        return_numpy: arrays instead of Tensors.

    Raises:
        FileNotFoundError: there is no such file.
        FormatError: it is truncated, malformed, or holds something else than containers, arrays, numbers and texts.
    """
    if hasattr(path, "read"):
        data, where = path.read(), "the file"  # type: ignore[union-attr]
    else:
        where = os.fspath(path)  # type: ignore[arg-type]
        if not os.path.isfile(where) and os.path.isfile(where + ".pdparams"):
            where += ".pdparams"
        of_model = not os.path.isfile(where) or (where.endswith(".pdmodel") and not _is_pickle(where))
        if of_model and (found := _of_model(where)) is not None:
            values, names = found
            return values if return_numpy else _tensors(values, names, {})
        with open_regular(where) as file:
            data = file.read()
    found = _plain_of(data, where)
    names = found.pop(NAME_TABLE, {}) if isinstance(found, dict) else {}
    if return_numpy:
        return found
    return _tensors(found, names if isinstance(names, dict) else {}, {})


def _is_pickle(path: str) -> bool:
    """Whether a file begins as a pickle does: state dicts of sharded models have the ending of programs."""
    with open_regular(path) as file:
        return file.read(1) == pickle.PROTO


def _plain_of(data: bytes, where: str) -> Any:
    """Containers, arrays, numbers and texts from a pickle of them."""
    try:
        _check_opcodes(data)
        found = _Unpickler(io.BytesIO(data), encoding="latin1").load()  # texts of Python 2
        return _built(found, 0, {})
    except FormatError as error:
        raise FormatError(f"{where}: {error.message}") from None
    except Exception as error:  # a malformed pickle raises whatever it stumbles over
        raise FormatError(f"{where}: malformed or truncated: {type(error).__name__}: {error}") from None


def _of_model(path: str) -> tuple[dict[str, np.ndarray], dict[str, str]] | None:
    """The parameters of a saved model by their names in the state dict, and for these names those in the program; None if there is none.
    Names that no file says are those in the program."""
    from dy2st_runtime.formats.inference_model import PARAMS_INFO, load_inference_models  # protobuf takes a while

    try:
        models, noted = load_inference_models(path, PARAMS_INFO)
    except FileNotFoundError:
        return None
    notes = {} if noted is None else _plain_of(noted, path + PARAMS_INFO)
    if not isinstance(notes, dict) or not all(isinstance(note, dict) for note in notes.values()):
        raise FormatError(f"{path}{PARAMS_INFO}: malformed: it has no names of parameters")
    params = {name: value for model in models.values() for name, value in model.params.items()}
    names = {str(notes.get(name, {}).get("structured_name", name)): name for name in params}
    return {structured: params[name] for structured, name in names.items()}, names


def _check_opcodes(data: bytes) -> None:
    """Memo places must be small: a huge one would make the unpickler allocate memory for all below it."""
    for count, (opcode, argument, _) in enumerate(pickletools.genops(data)):
        if opcode.name in ("PUT", "BINPUT", "LONG_BINPUT") and int(argument or 0) > count:
            raise FormatError("malformed: a place beyond the number of objects")
        if opcode.name in ("PERSID", "BINPERSID", "EXT1", "EXT2", "EXT4", "INST", "OBJ"):
            raise FormatError(f"it holds objects ({opcode.name}), not only arrays and containers")


class _ArrayType:
    """Stands for the class numpy.ndarray in a pickle."""


class _DType:
    """Stands for a NumPy dtype in a pickle: kind and size, and the byte order in the state."""

    def __init__(self, text: Any, *_: Any):
        name = text if isinstance(text, str) else ""
        self.kind, self.order = name.lstrip("<>|="), name[0] if name[:1] in ("<", ">") else "<"
        if self.kind not in _KINDS:
            raise FormatError(f"an array of dtype {text!r} is not supported")

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, tuple) and len(state) > 1 and state[1] in ("<", ">"):
            self.order = state[1]

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(self.order + self.kind)


class _Array:
    """Stands for an array in a pickle, with its data as bytes."""

    value: np.ndarray | None = None

    def __setstate__(self, state: Any) -> None:
        if not isinstance(state, tuple) or len(state) not in (4, 5):
            raise FormatError("malformed array")
        shape, dtype, fortran, raw = state[-4:]
        self.value = _array(shape, dtype, "F" if fortran else "C", raw)


def _array(shape: Any, dtype: Any, order: Any, raw: Any) -> np.ndarray:
    """An array of checked data."""
    if isinstance(raw, str):
        raw = raw.encode("latin1")
    good = isinstance(shape, tuple) and all(type(d) is int and d >= 0 for d in shape) and isinstance(dtype, _DType)
    if not good or not isinstance(raw, (bytes, bytearray)) or math.prod(shape) * dtype.dtype.itemsize != len(raw):
        raise FormatError("malformed array: the data do not fit the shape and dtype")
    array = np.frombuffer(bytes(raw), dtype.dtype).reshape(shape, order="F" if order == "F" else "C")
    return array.astype(dtype.dtype.newbyteorder("="), order="C")


def _reconstruct(kind: Any, *_: Any) -> _Array:
    if kind is not _ArrayType:
        raise FormatError("malformed array")
    return _Array()


def _from_buffer(raw: Any, dtype: Any, shape: Any, order: Any) -> _Array:
    result = _Array()
    result.value = _array(shape, dtype, order, raw)
    return result


def _scalar(dtype: Any, raw: Any) -> _Array:
    return _from_buffer(raw, dtype, (), "C")


def _encode(text: Any, encoding: Any = "latin1") -> bytes:
    if not isinstance(text, str) or encoding != "latin1":
        raise FormatError("malformed bytes")
    return text.encode("latin1")


def _no_bytes(*content: Any) -> bytes:
    if content:
        raise FormatError("malformed bytes")
    return b""


def _check_key(key: Any) -> Any:
    """What is to be a key, or in a set: Python hashes all that is in it, as often as it is there, which for tuples within each other is
    more than any file is long."""
    left, count = [key], 0
    while left:
        item = left.pop()
        if isinstance(item, (tuple, frozenset)):
            count += len(item)
            if count > _MAX_KEY:
                raise FormatError("malformed: a key that is a tree of tuples")
            left += item
    return key


def _ordered(pairs: Any = ()) -> OrderedDict:
    return OrderedDict([(_check_key(k), v) for k, v in (pairs.items() if isinstance(pairs, dict) else pairs)])


_ADMITTED: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): _ArrayType,
    ("numpy", "dtype"): _DType,
    ("_codecs", "encode"): _encode,
    # protocol 2 writes empty bytes as a call
    ("__builtin__", "bytes"): _no_bytes,
    ("builtins", "bytes"): _no_bytes,
    ("collections", "OrderedDict"): _ordered,
    **{
        (module, name): stand_in
        for module in ("numpy.core.multiarray", "numpy._core.multiarray", "numpy.core.numeric", "numpy._core.numeric")
        for name, stand_in in (("_reconstruct", _reconstruct), ("scalar", _scalar), ("_frombuffer", _from_buffer))
    },
}


class _Unpickler(pickle._Unpickler):
    """The one written in Python, which lets us look at keys before they are hashed; it takes less time than `_check_opcodes`."""

    dispatch = pickle._Unpickler.dispatch.copy()

    def find_class(self, module: str, name: str) -> Any:
        found = _ADMITTED.get((module, name))
        if found is None:
            raise FormatError(f"it holds {module}.{name}, not only arrays and containers")
        return found


def _with_keys(opcode: bytes, step: int, marked: bool) -> None:
    """Makes an opcode look at its keys: each `step`-th value that it takes, which are two, or all down to the mark."""
    plain = _Unpickler.dispatch[opcode[0]]

    def load(self: Any) -> None:
        for key in self.stack[::step] if marked else self.stack[-2:-1]:
            _check_key(key)
        plain(self)

    _Unpickler.dispatch[opcode[0]] = load


for _opcode, _step, _marked in ((pickle.SETITEM, 1, False), (pickle.SETITEMS, 2, True), (pickle.DICT, 2, True),
                                (pickle.ADDITEMS, 1, True), (pickle.FROZENSET, 1, True)):  # fmt: skip
    _with_keys(_opcode, _step, _marked)


def _built(obj: Any, depth: int, done: dict[int, Any]) -> Any:
    """The object with stand-ins replaced by arrays; `done`: containers by their ids, so that one that is there often is built once.

    Raises:
        FormatError: it holds something else, is nested too deeply, or holds itself.
    """
    if depth > _MAX_DEPTH:
        raise FormatError("nested too deeply")
    if isinstance(obj, _Array):
        if obj.value is None:
            raise FormatError("malformed array: no data")
        return obj.value
    if obj is None or isinstance(obj, (bool, int, float, str, bytes)):
        return obj
    if not isinstance(obj, (dict, list, tuple, set, frozenset)):
        raise FormatError(f"it holds a {type(obj).__name__}, not only arrays and containers")
    if id(obj) not in done:
        done[id(obj)] = _Array  # what comes back to it finds this
        if isinstance(obj, dict):
            made: Any = {_built(k, depth + 1, done): _built(v, depth + 1, done) for k, v in obj.items()}
        else:
            made = type(obj)([_built(v, depth + 1, done) for v in obj])
        done[id(obj)] = made
    if done[id(obj)] is _Array:
        raise FormatError("malformed: a container that holds itself")
    return done[id(obj)]


def _tensors(obj: Any, names: dict, done: dict[int, Any]) -> Any:
    """The object with arrays as Tensors; those of a state dict get the names of their parameters. `done`: see `_built`."""
    if isinstance(obj, np.ndarray):
        return Tensor.wrap(obj)
    if not isinstance(obj, (dict, tuple, list)):
        return obj
    if id(obj) not in done:
        done[id(obj)] = _of_tensors(obj, names, done)
    return done[id(obj)]


def _of_tensors(obj: Any, names: dict, done: dict[int, Any]) -> Any:
    if isinstance(obj, dict):
        found = {k: _tensors(v, {}, done) for k, v in obj.items()}
        for key, name in names.items():
            if isinstance(found.get(key), Tensor) and isinstance(name, str):
                found[key].name = name
        return found
    if isinstance(obj, tuple) and len(obj) == 2 and isinstance(obj[0], str) and isinstance(obj[1], np.ndarray):
        # how PaddlePaddle 2.1 and newer write a tensor that is in no state dict: its name and its value
        t = Tensor.wrap(obj[1])
        t.name = obj[0]
        return t
    return type(obj)([_tensors(v, {}, done) for v in obj])
