"""What the trace cannot follow: what Python's own objects keep to themselves, and draw or give to the world outside.

A trace runs such a method once. What it does would be missing at each later call, and what it gives would stay the same.
"""

from __future__ import annotations

import contextvars
import datetime
import decimal
import functools
import gc
import hashlib
import io
import logging
import os
import queue
import secrets
import sys
import threading
import time
import uuid
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import StagedValueError
from ...tensor.location import user_location
from .. import roles
from ..hub import current_tracer

ROLE = roles.BOOKKEEPING

FILES = (io.StringIO, io.BytesIO)  # whose contents are followed
_OF_POSITION = {"read", "read1", "readall", "readinto", "readline", "readlines", "peek", "seek", "tell", "__next__"}
# what of them is not followed: all methods, or these
_KINDS: list[tuple[Any, set[str] | None]] = [
    (queue.SimpleQueue, None),
    (contextvars.ContextVar, None),
    (io.IOBase, {"write", "writelines", "truncate"}),
    ((type(hashlib.md5()), type(hashlib.blake2b())), {"update"}),
    (type(os.environ), {"clear", "pop", "popitem", "setdefault", "update"}),
    # `with lock:` is not among these: what it guards is done while tracing
    ((type(threading.Lock()), type(threading.RLock()), threading.Semaphore), {"acquire", "release", "locked"}),
    (threading.Condition, {"acquire", "release", "wait", "wait_for", "notify", "notify_all"}),
    (threading.Event, {"set", "clear", "wait"}),
    (threading.Barrier, {"wait", "reset", "abort"}),
    (threading.Thread, {"start", "run", "join"}),
    (logging.Filterer, {"setLevel", "addHandler", "removeHandler", "addFilter", "removeFilter", "setFormatter"}),
    (np.ndarray, {"resize", "setflags"}),
]
# likewise, of modules that are not imported for this
_NAMED: dict[str, set[str] | None] = {
    "concurrent.futures._base.Executor": {"submit", "map", "shutdown"},
    "multiprocessing.pool.Pool": None,
    "configparser.RawConfigParser": {
        "add_section", "clear", "pop", "popitem", "read", "read_dict", "read_file", "read_string", "remove_option", "remove_section", "set",
        "setdefault", "update", "__setitem__", "__delitem__",
    },
    "configparser.SectionProxy": {"clear", "pop", "popitem", "setdefault", "update", "__setitem__", "__delitem__"},
    "xml.etree.ElementTree.Element": {"set", "append", "extend", "insert", "remove", "clear", "__setitem__", "__delitem__"},
    "sqlite3.Connection": None,
    "sqlite3.Cursor": None,
    "socket.socket": None,
    "mmap.mmap": None,
    "argparse._ActionsContainer": {"add_argument", "add_argument_group", "add_mutually_exclusive_group", "set_defaults", "register"},
}  # fmt: skip


# what gives another value each time, or something that keeps its state to itself
_OF_THE_MOMENT: list[Callable] = [
    time.time, time.time_ns, time.perf_counter, time.perf_counter_ns, time.monotonic, time.monotonic_ns, time.process_time,
    time.process_time_ns, datetime.datetime.now, datetime.datetime.today, datetime.datetime.utcnow, datetime.date.today,
    input, uuid.uuid1, uuid.uuid4, os.urandom, secrets.token_bytes, secrets.token_hex, secrets.token_urlsafe, secrets.randbelow,
    decimal.getcontext, gc.isenabled,
]  # fmt: skip


def _of_the_moment(f: Callable, /, *args: Any, **kwargs: Any) -> Any:
    """A call of such a function.

    Raises:
        StagedValueError: a function is traced.
    """
    if current_tracer() is None:
        return f(*args, **kwargs)
    of = getattr(f, "__self__", None)
    owner = of.__name__ if isinstance(of, type) else f.__module__
    raise StagedValueError(
        f"{owner}.{f.__name__}() would be called once, while tracing, and give the same at each call", location=user_location(),
        hint="call it outside of the static function; dy2st.profiler says how long its lines take",
    )  # fmt: skip


OF_THE_MOMENT: dict[Any, Callable] = {f: functools.partial(_of_the_moment, f) for f in _OF_THE_MOMENT}


def require_traceable_method(owner: Any, name: str) -> None:
    """StagedValueError if a method of an object would do something once, while tracing, that each call should do."""
    if name in _OF_POSITION:
        require_fresh_file(owner, name)
    if not isinstance(owner, FILES) and is_done_once(owner, name):
        raise _once(owner, f"{name}() of")


def is_done_once(owner: Any, name: str) -> bool:
    """Whether what a method of an object does would be done once, while tracing."""
    if any(isinstance(owner, kind) and (names is None or name in names) for kind, names in _KINDS):
        return True
    cls = type(owner)
    if cls not in _not_followed:  # by the names of the class and its bases
        found = [_NAMED[key] for c in cls.__mro__ if (key := f"{c.__module__}.{c.__qualname__}") in _NAMED]
        _not_followed[cls] = None if None in found else set().union(*filter(None, found))
    names = _not_followed[cls]
    return names is None or name in names


# the same for each class that was met; which may be one that a call has made, and ends with it
_not_followed: weakref.WeakKeyDictionary[type, set[str] | None] = weakref.WeakKeyDictionary()


def require_fresh_file(file: Any, name: str) -> None:
    """StagedValueError if a file is read that was open before: where it is then is where the next call goes on."""
    tracer = current_tracer()
    if tracer is None or not isinstance(file, io.IOBase) or isinstance(file, FILES) or file in tracer.opened:
        return
    hint = "open it in the function, which then sees what becomes of it; or read it outside, and pass what it says"
    raise done_once(f"{name}() of a file that is open already", hint)


def require_traceable_items(a: Any) -> None:
    """StagedValueError if entries of such an object are assigned or deleted."""
    kept = isinstance(a, (memoryview, type(os.environ))) or a is sys.modules or is_done_once(a, "__setitem__")
    if kept and current_tracer() is not None:
        raise _once(a, "a change of the entries of")


def _once(owner: Any, what: str) -> StagedValueError:
    hint = "do it outside of the static function, or keep what it is about in an attribute, a list, a dict or a tensor"
    return done_once(f"{what} a {type(owner).__name__.lstrip('_')}", hint)


def done_once(what: str, hint: str) -> StagedValueError:
    """The error for what each call should do."""
    return StagedValueError(f"{what} would be done once, while tracing, and not at each call", location=user_location(), hint=hint)
