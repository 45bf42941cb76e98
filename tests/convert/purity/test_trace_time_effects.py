"""What a trace does to the process and to objects of libraries is done by the calls that get there, or refused; nothing of it stays."""

import argparse
import collections
import configparser
import copy
import functools
import io
import itertools
import linecache
import logging
import string
import sys
import textwrap
import threading
import types
import warnings
import xml.etree.ElementTree

import numpy as np
import pytest
from dy2st_runtime import config

from dy2st import jit, to_tensor
from dy2st.errors import StagedValueError, StructureError
from dy2st.tensor import Tensor

# what is done as eagerly, by the runs that get there
FOLLOWED = """
[o.thread][0].name = "q"
[o.thread][0].daemon = True
[o.element][0].text = "q"
(lambda: o.error)().args = (2,)
o.error.args = (2,)
(lambda: o.namespace)().a = 6
logging.getLogger("dy2st.once").propagate = False
logging.getLogger("dy2st.once").level = 20
threading.current_thread().daemon_of_tests = 1
sys.path.append("once")
sys.path += ["once"]
sys.path.insert(0, "once")
sys.path[0:0] = ["once"]
string.of_tests.append(3)
string.table_of_tests["a"] = 3
exec("LOG.append(2)", {"LOG": LOG})
exec("LOG.append(2)", globals())
eval("LOG.append(2)", {"LOG": LOG})
o.without_source.log()
copy.copy(o.without_source)
with o.lock: LOG.append(3)
with warnings.catch_warnings(): warnings.simplefilter("error"); LOG.append(4)
with np.errstate(all="ignore"): LOG.append(5)
LOG.extend([*o.items])
max(*o.items)
""".strip().splitlines()

# what is refused in these words
REFUSED = {
    'o.thread.name = "q"': "one of several objects",
    'o.event.set()': r"set\(\) of a Event would be done once",
    'o.event.clear()': r"clear\(\) of a Event would be done once",
    'o.lock.acquire(False)': r"acquire\(\) of a lock would be done once",
    'o.semaphore.release()': r"release\(\) of a Semaphore would be done once",
    'o.thread.start()': r"start\(\) of a Thread would be done once",
    'logging.getLogger("dy2st.once").setLevel(10)': r"setLevel\(\) of a Logger would be done once",
    'logging.disable(5)': r"logging.disable\(\) would be done once",
    'warnings.simplefilter("error")': r"warnings.simplefilter\(\) would be done once",
    'np.seterr(all="ignore")': r"numpy.seterr\(\) would be done once",
    'np.set_printoptions(precision=3)': r"numpy.set_printoptions\(\) would be done once",
    'sys.setrecursionlimit(sys.getrecursionlimit() + 1)': r"sys.setrecursionlimit\(\) would be done once",
    'sys.modules["once"] = o.module': r"a change of the entries of a dict would be done once",
    'o.config["s"]["q"] = "1"': r"a change of the entries of a SectionProxy would be done once",
    'o.config.set("s", "q", "1")': r"set\(\) of a ConfigParser would be done once",
    'o.parser.add_argument("--zz")': r"add_argument\(\) of a ArgumentParser would be done once",
    'o.element.set("a", "1")': r"set\(\) of a Element would be done once",
    'o.array.setflags(write=False)': r"setflags\(\) of a ndarray would be done once",
    'o.array.resize(2, refcheck=False)': r"resize\(\) of a ndarray would be done once",
    '3 in o.iterator': "iterator",
    'o.found.update(o.iterator)': "iterator",
    'o.table.update(zip(o.iterator, o.items))': "iterator",
    'print(*o.iterator)': "iterator",
}
LOG = []


def outside():
    """What the functions change: `now` says what it is."""
    LOG.clear()
    string.of_tests, string.table_of_tests = [1], {"a": 1}
    o = types.SimpleNamespace()
    o.thread, o.element, o.error = threading.Thread(name="a"), xml.etree.ElementTree.Element("r"), ValueError(1)
    o.namespace, o.lock, o.event, o.semaphore = types.SimpleNamespace(a=1), threading.Lock(), threading.Event(), threading.Semaphore(3)
    o.config, o.parser, o.array = configparser.ConfigParser(), argparse.ArgumentParser(), np.array([3, 1, 2])
    o.config.add_section("s")
    o.module, o.iterator, o.found, o.table, o.items = types.ModuleType("once"), iter([1, 2, 3]), {1}, {"a": 1}, [1, 2]
    scope = {"LOG": LOG}
    exec("class Without:\n    def log(self): LOG.append(7)\n    def __copy__(self): LOG.append(8); return self\n", scope)
    o.without_source = scope["Without"]()
    return o


def now(o):
    logger = logging.getLogger("dy2st.once")
    return {
        "thread": (o.thread.name, o.thread.daemon, o.thread.ident), "current": getattr(threading.current_thread(), "daemon_of_tests", None),
        "element": (o.element.text, dict(o.element.attrib)), "error": (o.error.args, sorted(vars(o.error))), "namespace": o.namespace.a,
        "lock": o.lock.locked(), "event": o.event.is_set(), "semaphore": o.semaphore._value, "log": list(LOG),
        "logger": (logger.level, logger.propagate, logger.manager.disable), "filters": list(warnings.filters), "errors": np.geterr(),
        "precision": np.get_printoptions()["precision"], "limit": sys.getrecursionlimit(), "path": list(sys.path),
        "module": "once" in sys.modules, "config": {k: dict(v) for k, v in o.config.items()}, "parser": o.parser.format_usage(),
        "array": (o.array.tolist(), o.array.flags.writeable),
        "iterator": list(copy.copy(o.iterator)), "found": set(o.found), "table": dict(o.table),
        "string": (list(string.of_tests), dict(string.table_of_tests)),
    }  # fmt: skip


@pytest.fixture(autouse=True)
def as_before():
    path, logger = list(sys.path), logging.getLogger("dy2st.once")
    with config.NO_JIT.override(True), warnings.catch_warnings():
        yield
    sys.path = path
    logger.level, logger.propagate = 0, True
    vars(threading.current_thread()).pop("daemon_of_tests", None)
    for name in ("of_tests", "table_of_tests"):
        vars(string).pop(name, None)


def function_of(statement):
    text = f"def f(o, x, n):\n    if n > 0:\n{textwrap.indent(statement, ' ' * 8)}\n        x = x + 1\n    return x * 2\n"
    name = f"<once: {statement}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope = {m.__name__: m for m in (collections, copy, functools, io, itertools, logging, string, sys, threading, warnings)}
    scope |= {"LOG": LOG, "np": np, "Tensor": Tensor}
    exec(compile(text, name, "exec"), scope)
    return scope["f"]


def observed(function, o):
    found = []
    for n in (0, 1, 1, 0, 1):
        with warnings.catch_warnings():
            result = function(o, to_tensor([1.0]), to_tensor(n)).tolist()
        found.append((result, now(o)))
    return found


@pytest.mark.parametrize("statement", FOLLOWED)
def test_it_is_done_by_the_calls_that_get_there(statement):
    f = function_of(statement)
    path = list(sys.path)
    eager = observed(f, outside())
    sys.path = list(path)
    logging.getLogger("dy2st.once").level, logging.getLogger("dy2st.once").propagate = 0, True
    vars(threading.current_thread()).pop("daemon_of_tests", None)
    assert observed(jit.to_static(f), outside()) == eager


@pytest.mark.parametrize("statement", REFUSED)
def test_it_is_refused_and_nothing_is_changed(statement):
    o = outside()
    before = now(o)
    with pytest.raises((StagedValueError, StructureError), match=REFUSED[statement]) as caught:
        jit.to_static(function_of(statement))(o, to_tensor([1.0]), to_tensor(0))
    assert caught.value.location.line == 3
    assert now(o) == before


def test_a_flag_of_another_thread_is_asked_at_each_call():
    event = threading.Event()

    def f(x):
        return x * 2 if event.is_set() else x

    static = jit.to_static(f)
    assert static(to_tensor(1.0)).item() == 1.0
    event.set()
    assert static(to_tensor(1.0)).item() == 2.0


def test_entries_of_arrays_of_objects():
    held = np.empty(2, object)
    held[:] = [[1], [2]]

    def f(x):
        held[0].append(len(held[0]))
        return x * len(held[0])

    static = jit.to_static(f)
    assert [static(to_tensor(1.0)).item() for _ in range(3)] == [2.0, 3.0, 4.0]
    assert held[0] == [1, 1, 2, 3]


READ = [
    ("o.error.args = (o.error.args[0] + 1,)", "o.error.args[0]"),
    ("o.element.text = (o.element.text or '') + 'q'", "o.element.text"),
    ("o.thread.name += 'q'", "o.thread.name"),
    ("o.thread.daemon = not o.thread.daemon", "o.thread.daemon"),
    ("threading.current_thread().daemon_of_tests = o.thread.name; o.thread.name += 'q'", "threading.current_thread().daemon_of_tests"),
    ("logging.getLogger('dy2st.once').setLevel(logging.getLogger('dy2st.once').level + 1)", "logging.getLogger('dy2st.once').level"),
    ("np.set_printoptions(precision=np.get_printoptions()['precision'] - 1)", "np.get_printoptions()['precision']"),
    ("string.table_of_tests['a'] += 1", "string.table_of_tests['a']"),
    ("string.of_tests.append(1)", "len(string.of_tests)"),
    ("o.array[0] += 1", "int(o.array.sum())"),
]


@pytest.mark.parametrize(("change", "read"), READ, ids=[read for _, read in READ])
def test_what_is_changed_between_calls_is_read_as_it_is(change, read):
    text = f"def f(o, x):\n    return x * 1, {read}\n"
    name = f"<read: {read}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope = {m.__name__: m for m in (logging, string, threading)} | {"np": np}
    exec(compile(text, name, "exec"), scope)
    found = []
    for call in (scope["f"], jit.to_static(scope["f"])):
        o = outside()
        logging.getLogger("dy2st.once").level = 0
        threading.current_thread().daemon_of_tests = "a"
        with np.printoptions():
            values = []
            for _ in range(3):
                values.append(call(o, to_tensor(1.0))[1])
                exec(change, {**scope, "o": o})
            found.append(values)
    assert len(set(found[0])) > 1
    assert found[1] == found[0]


class Slotted:
    __slots__ = ("a",)


TAKEN = [
    ("del o.a", lambda o: setattr(o, "a", 1), types.SimpleNamespace, AttributeError),
    ("del o.a", lambda o: setattr(o, "a", 1), Slotted, AttributeError),
    ("del o['k']", lambda o: o.update(k=1, other=2), dict, KeyError),
    ("o.pop('k')", lambda o: o.update(k=1, other=2), dict, KeyError),
    ("del o[1]", lambda o: o.extend([1, 2]), list, IndexError),
]


@pytest.mark.parametrize(("statement", "fill", "kind", "error"), TAKEN, ids=[f"{s} of {k.__name__}" for s, _, k, _ in TAKEN])
def test_what_a_call_has_taken_away_is_missing_at_the_next_one(statement, fill, kind, error):
    text = f"def f(x):\n    {statement}\n    return x * 2\n"
    name = f"<taken: {statement}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    o = kind()
    scope = {"o": o}
    exec(compile(text, name, "exec"), scope)
    fill(o)
    static = jit.to_static(scope["f"])
    static(to_tensor(1.0))
    with pytest.raises(error):
        static(to_tensor(1.0))
    fill(o)
    assert static(to_tensor(1.0)).item() == 2.0


def test_a_call_that_fails_leaves_the_flags_of_tensors_outside():
    held, event = to_tensor(1.0), threading.Event()

    def f(x):
        held.stop_gradient = False
        event.set()
        return x * held

    for _ in range(2):
        with pytest.raises(StagedValueError, match=r"set\(\) of a Event"):
            jit.to_static(f)(to_tensor(1.0))
        assert held.stop_gradient
