"""The transformed function is the original in all but its code, and its file is real and private."""

# ruff: noqa: F821

import functools
import inspect
import linecache
import os
import stat
import threading

import pytest
from dy2st_runtime import config
from equivalence import assert_same
from pyruntime import PyRuntime

from dy2st.transpiler import conversion, convert, loader

SCALE = 2


def with_everything(a, /, b, c=3, *args, d, e=SCALE, **kwargs) -> int:
    """The docstring."""
    if a > b:
        return a, args
    return b, c, d, e, kwargs


with_everything.note = "kept"


def test_metadata_is_kept():
    fn = convert(with_everything, PyRuntime()).fn
    assert inspect.signature(fn) == inspect.signature(with_everything)
    for name in ("__name__", "__qualname__", "__doc__", "__module__", "__defaults__", "__kwdefaults__", "__annotations__"):
        assert getattr(fn, name) == getattr(with_everything, name)
    assert fn.note == "kept"
    assert fn.__globals__ is with_everything.__globals__
    assert fn.__code__.co_name == "with_everything"
    assert fn(2, 1, d=0) == (2, ())
    assert fn(1, 2, 4, 5, d=6, f=7) == (2, 4, 6, 2, {"f": 7})


def test_globals_are_live_and_not_polluted(monkeypatch):
    def scaled(x):
        return x * SCALE if x else helper(x)

    before = set(globals())
    fn = convert(scaled, PyRuntime()).fn
    monkeypatch.setitem(globals(), "SCALE", 10)
    assert fn(3) == 30
    with pytest.raises(NameError, match="helper"):
        fn(0)
    monkeypatch.setitem(globals(), "helper", lambda x: "late")
    assert fn(0) == "late"
    assert set(globals()) - {"helper"} == before


def test_cells_are_shared():
    count, _dy = 0, "not ours"

    def up(by):
        nonlocal count
        if by:
            count += by
        return count

    fn = convert(up, PyRuntime()).fn
    assert (fn(2), up(3), fn(4), count) == (2, 5, 9, 9)
    assert _dy == "not ours"


def make(n):
    def add(x):
        if x:
            return x + n
        return n

    return add


def test_closures_share_one_compilation():
    one, two = convert(make(1), PyRuntime()), convert(make(2), PyRuntime())
    assert (one.fn(1), two.fn(1)) == (2, 3)
    assert one.fn.__code__ is two.fn.__code__
    assert one.filename == two.filename


def test_runtimes_are_separate():
    first, second = PyRuntime(), PyRuntime()
    f, g = convert(make(1), first).fn, convert(make(1), second).fn
    f(1)
    assert first.states
    assert not second.states
    g(1)
    assert second.states


class Base:
    def __init__(self):
        self.__w = 1

    def step(self, x):
        return x + 1

    @property
    def w(self):
        return self.__w

    @classmethod
    def build(cls, n):
        if n:
            return cls()
        return None


class Derived(Base):
    def __init__(self):
        super().__init__()
        self.__w = 10

    def step(self, x, __private=5):
        if x > 0:
            self.__w += 1
            y = super().step(x)
        else:
            y = [super(Derived, self).step(v) for v in (x, __private)]
        return y, self.__w, __class__.__name__, self.__hidden(x) if x else Derived

    def __hidden(self, x):
        def inner():
            if x:
                return super(Derived, self).step(x), self.__w
            return None

        return inner()

    @staticmethod
    def fixed(x):
        if x:
            return -x
        return 0


class Grand(Derived):
    pass


@pytest.mark.parametrize("x", [3, -1, 0])
@pytest.mark.parametrize("kind", [Derived, Grand])
def test_methods_with_super_and_private_names(kind, x):
    expected, got = kind(), kind()
    result = convert(Derived.step, PyRuntime()).fn(got, x)
    assert result == expected.step(x)
    assert vars(got) == vars(expected)


def test_bound_class_and_static_methods():
    thing = Derived()
    bound = convert(thing.step, PyRuntime()).fn
    assert bound.__self__ is thing
    assert bound(1) == (2, 11, "Derived", ((2), 11))
    assert type(convert(Grand.build, PyRuntime()).fn(1)) is Grand
    assert convert(Derived.fixed, PyRuntime()).fn(2) == -2
    assert convert(Base.w.fget, PyRuntime()).fn(thing) == 1


def twice(function):
    @functools.wraps(function)
    def wrapper(*args):
        if args:
            return function(*args) * 2
        return None

    return wrapper


@twice
@functools.lru_cache
def decorated(x):
    return x if x > 1 else -x


def test_decorated():
    wrapper = convert(decorated, PyRuntime())
    assert (wrapper.fn(3), wrapper.fn(0), wrapper.fn()) == (6, 0, None)
    assert not hasattr(wrapper.fn, "__wrapped__")
    assert "def wrapper(*args)" in wrapper.code
    inner = convert(decorated.__wrapped__.__wrapped__, PyRuntime())
    assert inner.fn(0) == 0
    assert "@" not in inner.code


def test_file_is_private_and_real(tmp_path):
    with config.CACHE_DIR.override(str(tmp_path / "new")):
        conversion._cache.clear()
        converted = convert(with_everything, PyRuntime())
        folder = os.path.dirname(converted.filename)
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
        with open(converted.filename, encoding="utf-8") as file:
            assert file.read() == converted.code
        left = [f for _, _, files in os.walk(folder) for f in files]
        assert left == [os.path.basename(converted.filename)]  # no temporary file
        assert linecache.getline(converted.filename, 2).startswith("def _dy_factory")


def test_foreign_content_is_replaced(tmp_path):
    with config.CACHE_DIR.override(str(tmp_path)):
        conversion._cache.clear()
        converted = convert(with_everything, PyRuntime())
        with open(converted.filename, "w") as file:
            file.write("raise SystemExit\n")
        conversion._cache.clear()
        again = convert(with_everything, PyRuntime())
        assert again.filename == converted.filename
        with open(again.filename, encoding="utf-8") as file:
            assert file.read() == again.code


def test_unwritable_cache_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with config.CACHE_DIR.override(str(tmp_path / "file")):
        conversion._cache.clear()
        converted = convert(with_everything, PyRuntime())
        assert os.path.exists(converted.filename)
        assert str(tmp_path) not in converted.filename
        assert loader.folder() == loader.folder()


def test_a_link_in_the_place_of_the_folder(tmp_path):
    """What it leads to, which may be anything of the user's, is left alone."""
    target = tmp_path / "photos"
    target.mkdir()
    target.chmod(0o755)
    (tmp_path / "transformed").symlink_to(target)
    with config.CACHE_DIR.override(str(tmp_path)):
        conversion._cache.clear()
        assert os.path.exists(convert(with_everything, PyRuntime()).filename)
    assert stat.S_IMODE(target.stat().st_mode) == 0o755
    assert os.listdir(target) == []


def test_user_without_a_home_folder(monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setattr(loader.Path, "home", no_home)
    with config.CACHE_DIR.override(""):
        conversion._cache.clear()
        assert os.path.exists(convert(with_everything, PyRuntime()).filename)


def test_full_disk(tmp_path, monkeypatch):
    real, full = os.replace, [True]

    def replace(source, target, **at):
        if full:  # the first one goes to the cache
            full.clear()
            raise OSError(28, "No space left on device")
        real(source, target, **at)

    monkeypatch.setattr(os, "replace", replace)
    with config.CACHE_DIR.override(str(tmp_path)):
        conversion._cache.clear()
        converted = convert(with_everything, PyRuntime())
        assert os.path.exists(converted.filename)
        assert not converted.filename.startswith(str(tmp_path))
        assert [f for _, _, files in os.walk(tmp_path) for f in files] == []


def test_threads():
    conversion._cache.clear()
    results = []
    threads = [threading.Thread(target=lambda: results.append(convert(make(1), PyRuntime()).fn(1))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [2] * 8


def test_stages():
    converted = convert(make(1), PyRuntime(), keep_stages=True)
    names = list(converted.stages)
    assert names[0] == "ast"
    assert names.index("early_return") < names.index("if_stmt") < names.index("calls")
    assert "return x + n" in converted.stages["ast"]
    assert "retval_ = x + n" in converted.stages["early_return"]
    assert convert(make(1), PyRuntime()).stages == {}


def test_dump(capsys):
    with config.DUMP.override(frozenset({"early_return", "code"})):
        convert(make(1), PyRuntime())
    text = capsys.readouterr().err
    assert text.startswith("# --- early_return\ndef add(x):\n    if x:\n        retval_ = x + n")
    assert "# --- code\n# Generated by dy2st from add in" in text
    assert "if_stmt\n" not in text.partition("# --- code")[0]


def shadows(slice, xs):
    for i in range(slice):
        xs[i:] = [i]
    return xs


def class_name_as_variable(Derived):
    if Derived:
        return Derived
    return 0


def test_shadowed_names():
    assert_same(shadows, (2, [1, 2, 3]))
    assert_same(class_name_as_variable, (2,), (0,))
