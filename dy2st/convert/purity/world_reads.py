"""What a function reads of the world outside of Python while it is traced: files, and the environment.

Eager mode reads it at each call. Where a trace has read it, each call asks whether it is still the same, and traces again where it is not.
What a function writes there, or reads from a file that is open already, would be done once, while tracing: that is an error.
"""

from __future__ import annotations

import abc
import atexit
import decimal
import functools
import gc
import glob
import hashlib
import importlib
import inspect
import locale
import logging
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import types
import typing
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from dy2st_runtime.threads import get_num_threads

from ...framework import io as framework_io
from ...framework.dtype import get_default_dtype
from ...framework.place import get_device
from ...tensor import Tensor
from .. import roles
from ..guards.reach import Reach
from ..hub import current_tracer
from ..values.one_of import OneOf, choose
from .untraceable import done_once, require_fresh_file

if TYPE_CHECKING:
    from ..trace.tracer import Tracer

ROLE = roles.ACTING

Question = tuple[Callable[[Any], Any], Any]
"""What is asked of the world, and about what."""


class World:
    """Where readings are found, as the entries of a dict are, by their questions. Answers that are equal are the same."""

    def get(self, question: Question, default: Any = None) -> Any:
        ask, of = question
        return ask(of)


# ---- questions ----
def _again(call: tuple[Callable, tuple, tuple]) -> Any:
    """What a call gives now, as a value that can be compared."""
    f, args, kwargs = call
    try:
        found = f(*args, **dict(kwargs))
        if isinstance(found, dict):
            return sorted(found.items())
        return found if found is None or isinstance(found, (bool, int, float, str, bytes, os.PathLike)) else sorted(found)
    except OSError as error:
        return error.errno


def _registered(_: None) -> Any:
    """What is another value once a class was registered as a subclass of some abstract one."""
    return abc.get_cache_token()


def _signature(f: Any) -> str:
    return str(inspect.signature(f))


def _subclasses(cls: type) -> list[type]:
    return type.__subclasses__(cls)


def _status(path: Any) -> tuple[int, ...] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mode, found.st_size, found.st_mtime_ns


def _contents(path: Any) -> bytes | None:
    """What stands for the contents of a file; None where there are none."""
    if not os.path.isfile(path):  # a pipe would wait
        return None
    found = hashlib.blake2b()
    try:
        with open(path, "rb") as file:
            while part := file.read(1 << 20):
                found.update(part)
    except OSError:
        return None
    return found.digest()


def environment(_: None) -> dict[Any, Any]:
    """All variables of the environment, as they are kept: that is ten times as fast as their texts."""
    return dict(vars(os.environ)["_data"])


def described(question: Question) -> str:
    """What a question is about, for `explain()`; what is read there may be a secret."""
    ask, of = question
    if ask is environment:
        return "the environment"
    if ask is _registered:
        return "what is registered with abstract classes"
    if ask is _subclasses:
        return f"the subclasses of {of.__name__}"
    if ask is _signature:
        return f"the signature of {getattr(of, '__name__', of)}"
    if ask is not _again:
        return f"the file {of!r}"
    f, args, _ = of
    return f"what {f.__name__}({', '.join(map(repr, args))}) gives"


def reads_environment(reach: Reach) -> bool:
    """Whether code that a trace reaches may read `os.environ`, by this name or another one."""
    return not reach.read.isdisjoint(("environ", "environb")) or id(os.environ) in reach.objects


# ---- what asks them ----
def _asking(f: Callable, /, *args: Any, **kwargs: Any) -> Any:
    """A function that asks something of the world, which can be asked again."""
    tracer = current_tracer()
    if tracer is not None:
        _note(tracer, _again, (f, args, tuple(kwargs.items())))
    return f(*args, **kwargs)


def note_classes(cls: type, kinds: Any, x: Any = None) -> None:
    """It counts whether a class is a subclass of others, of which some may be abstract: classes can be registered with these. A protocol
    asks an object of it, `x`, for attributes."""
    tracer = current_tracer()
    if tracer is None:
        return
    found = [kinds]
    while found:
        kind = found.pop()
        found += kind if isinstance(kind, tuple) else getattr(kind, "__args__", ()) if isinstance(kind, types.UnionType) else ()
        if isinstance(x, Tensor) and isinstance(kind, type) and issubclass(kind, Tensor) and kind is not Tensor:
            tracer.note_class(x)
        if isinstance(kind, abc.ABCMeta) and kind not in cls.__mro__:
            _note(tracer, _registered, None)
            for name in typing._get_protocol_attrs(kind) if x is not None and getattr(kind, "_is_protocol", False) else ():  # type: ignore[attr-defined]
                tracer.ask(x, name)


def subclasses(cls: type) -> list[type]:
    """`cls.__subclasses__()`."""
    tracer = current_tracer()
    if tracer is not None:
        _note(tracer, _subclasses, cls)
    return _subclasses(cls)


def _signature_of(f: Any, *args: Any, **kwargs: Any) -> inspect.Signature:
    """`inspect.signature`."""
    tracer = current_tracer()
    found = inspect.signature(f, *args, **kwargs)
    if tracer is not None:
        _note(tracer, _signature, f)
    return found


def _issubclass(cls: Any, kinds: Any) -> Any:
    if isinstance(cls, OneOf):
        return choose(cls, lambda one: _issubclass(one, kinds))
    if isinstance(kinds, OneOf):
        return choose(kinds, lambda one: _issubclass(cls, one))
    if isinstance(cls, type):
        note_classes(cls, kinds)
    return issubclass(cls, kinds)


def _reading(f: Callable, ask: Callable[[Any], Any], path: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A function that reads what is under a path."""
    tracer = current_tracer()
    if tracer is not None and isinstance(path, (str, bytes, os.PathLike)):
        _note(tracer, ask, os.fspath(path))
    elif tracer is not None:
        require_fresh_file(path, f.__name__)
    return f(path, *args, **kwargs)


def _note(tracer: Tracer, ask: Callable[[Any], Any], of: Any) -> None:
    if (ask, of) not in tracer.readings:
        tracer.readings[ask, of] = ask(of)


_OUTSIDE = "do it outside of the static function, with what this returns"


def _writing(f: Callable, /, *args: Any, **kwargs: Any) -> Any:
    """A function that changes the world.

    Raises:
        StagedValueError: a function is traced.
    """
    if current_tracer() is not None:
        module = "os" if f.__module__ == os.name else f.__module__.partition("._")[0]  # pathlib has moved its classes into such a one
        raise done_once(f"{module}.{f.__qualname__}()", _OUTSIDE)
    return f(*args, **kwargs)


def _open(f: Callable, file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
    """`open`, and that of paths."""
    tracer = current_tracer()
    if tracer is not None and set(mode) & set("wax+"):
        raise done_once(f"{f.__name__}({str(file)!r}, {mode!r})", _OUTSIDE)
    opened = _reading(f, _contents, file, mode, *args, **kwargs)
    if tracer is not None:
        tracer.opened.add(opened)
    return opened


def _filtering(f: Callable, /, *args: Any, **kwargs: Any) -> Any:
    """What changes which warnings are shown.

    Raises:
        StagedValueError: it would stay changed; within `warnings.catch_warnings()` it does not.
    """
    tracer = current_tracer()
    if tracer is not None and warnings.filters is tracer.filters:
        hint = "use `with warnings.catch_warnings():` around it, or do it outside of the static function"
        raise done_once(f"warnings.{f.__name__}()", hint)
    return f(*args, **kwargs)


_ASKING = (
    sys.getrecursionlimit, threading.active_count, threading.Event.is_set, np.geterr, np.get_printoptions, signal.getsignal,
    get_num_threads, get_device, get_default_dtype,
    logging.Logger.isEnabledFor, logging.Logger.getEffectiveLevel,
    os.getenv, os.path.exists, os.path.isfile, os.path.isdir, os.path.getsize, os.path.getmtime, os.listdir, os.walk, os.getcwd,
    glob.glob, glob.iglob,
    pathlib.Path.exists, pathlib.Path.is_file, pathlib.Path.is_dir, pathlib.Path.iterdir, pathlib.Path.glob, pathlib.Path.rglob,
    pathlib.Path.cwd.__func__,  # type: ignore[attr-defined]
)  # fmt: skip
_READING: dict[Callable[[Any], Any], tuple[Callable, ...]] = {
    _status: (os.stat, pathlib.Path.stat),
    _contents: (pathlib.Path.read_text, pathlib.Path.read_bytes, np.load, np.loadtxt, np.genfromtxt, np.fromfile, framework_io.load),
}
_WRITING = (
    os.remove, os.unlink, os.rename, os.replace, os.mkdir, os.makedirs, os.rmdir, os.removedirs, os.chdir, os.system, os.popen, os.kill,
    pathlib.Path.write_text, pathlib.Path.write_bytes, pathlib.Path.touch, pathlib.Path.mkdir, pathlib.Path.rmdir, pathlib.Path.unlink,
    pathlib.Path.rename, pathlib.Path.replace, shutil.copy, shutil.copy2, shutil.copyfile, shutil.copytree, shutil.move, shutil.rmtree,
    tempfile.mkdtemp, tempfile.mkstemp, tempfile.TemporaryFile, tempfile.NamedTemporaryFile, tempfile.TemporaryDirectory,
    subprocess.run, subprocess.call, subprocess.check_call, subprocess.check_output, subprocess.Popen,
    np.save, np.savez, np.savez_compressed, np.savetxt, framework_io.save,
    np.seterr, np.seterrcall, np.set_printoptions, sys.setrecursionlimit, sys.setswitchinterval, gc.enable, gc.disable, gc.freeze,
    logging.disable, logging.basicConfig, logging.captureWarnings, decimal.setcontext, atexit.register, atexit.unregister, signal.signal,
    locale.setlocale, importlib.reload,
)  # fmt: skip
OF_THE_WORLD: dict[Any, Callable] = {
    issubclass: _issubclass, inspect.signature: _signature_of,
    **{f: functools.partial(_asking, f) for f in _ASKING},
    **{f: functools.partial(_reading, f, ask) for ask, functions in _READING.items() for f in functions},
    **{f: functools.partial(_writing, f) for f in _WRITING},
    **{f: functools.partial(_filtering, f) for f in (warnings.simplefilter, warnings.filterwarnings, warnings.resetwarnings)},
    **{f: functools.partial(_open, f) for f in (open, pathlib.Path.open)},
}
"""What is called in the place of functions that read or change files, and start processes."""
