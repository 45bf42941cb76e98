"""What functions read of files, the environment and the module: a static call sees what becomes of it, as an eager one does."""

import contextlib
import glob
import io
import os
import pathlib
import pprint
import re
import string
from os import environ

import numpy as np
import pytest

import dy2st
from dy2st import Tensor, jit
from dy2st.errors import StagedValueError

NAME = "READ_BY_TESTS"
ALIAS = os.environ


# ---- the environment ----
def by_get(x, path):
    return x * float(os.environ.get(NAME, "0"))


def by_subscript(x, path):
    return x * float(os.environ["READ_BY_TESTS"])


def by_getenv(x, path):
    if x.sum() > 0:
        x = x * float(os.getenv(NAME))
    return x


def by_another_name(x, path):
    return x * float(ALIAS["READ_BY_TESTS"]) + len(environ[NAME])


def in_a_function_inside(x, path):
    import os as system

    def factor():
        return float(system.environ[NAME]) if NAME in system.environ else 0.0

    return x * factor()


# ---- files ----
def by_open(x, path):
    with open(path / "a") as file:
        return x * float(file.read())


def line_by_line(x, path):
    with open(path / "a") as file:
        for line in file:
            x = x * float(line)
    return x


def by_path(x, path):
    with (path / "a").open() as file:
        return x * float(file.readline()) * len((path / "a").read_bytes()) * float((path / "a").read_text())


def array(x, path):
    return x * np.load(path / "b.npy") + np.loadtxt(str(path / "a")) + dy2st.load(str(path / "state"))["a"]


def whether_there(x, path):
    return x * 2 if os.path.exists(path / "c") or (path / "d").is_file() else x


def names(x, path):
    return x * len(os.listdir(path)) + len([*path.iterdir()])


def matches(x, path):
    return x * len(glob.glob(str(path / "*.npy"))) + len([*path.glob("c*")]) + sum(len(files) for _, _, files in os.walk(path))


def folder(x, path):
    return x * len(os.getcwd()) + len(str(pathlib.Path.cwd()))


def size(x, path):
    return x * os.path.getsize(path / "a") + os.stat(path / "a").st_size


FUNCTIONS = [
    by_get, by_subscript, by_getenv, by_another_name, in_a_function_inside,
    by_open, line_by_line, by_path, array, whether_there, names, matches, folder, size,
]  # fmt: skip


def world(monkeypatch, path, step):
    """Lets the world be as it is at one step."""
    monkeypatch.setenv(NAME, str(step))
    (path / "a").write_text("7" * step)
    np.save(path / "b.npy", np.float32(step))
    dy2st.save({"a": np.float32([step])}, str(path / "state"))
    monkeypatch.chdir(path if step < 3 else path.parent)
    if step == 3:
        (path / "c").touch()


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_what_is_read_is_what_is_there(function, monkeypatch, tmp_path):
    static = jit.to_static(function)
    x = Tensor(np.float32([1.0, 2.0]))
    for step in (1, 1, 2, 2, 3, 3):
        world(monkeypatch, tmp_path, step)
        np.testing.assert_array_equal(static(x, tmp_path).numpy(), function(x, tmp_path).numpy())
    if function is not size:  # a file that is written again has another time
        assert len(static.concrete_programs) == (2 if function in (whether_there, names, matches, folder) else 3)


def test_a_file_that_is_not_there_is_looked_for_at_each_call(tmp_path):
    static = jit.to_static(by_open)
    with pytest.raises(FileNotFoundError):
        static(Tensor(1.0), tmp_path)
    (tmp_path / "a").write_text("2")
    assert static(Tensor(1.0), tmp_path).item() == 2


def test_a_file_is_no_longer_read_where_its_contents_are_kept(tmp_path):
    kept = {"w": None}

    @jit.to_static
    def loaded(x):
        if kept["w"] is None:
            kept["w"] = np.load(tmp_path / "w.npy")
        return x * kept["w"]

    np.save(tmp_path / "w.npy", np.float32([2.0]))
    assert loaded(Tensor([3.0])).item() == 6
    np.save(tmp_path / "w.npy", np.float32([5.0]))
    assert loaded(Tensor([3.0])).item() == 6


def test_explain_says_what_has_changed_and_no_values(monkeypatch, tmp_path):
    static = jit.to_static(by_get)
    for value in ("1", "2"):
        monkeypatch.setenv(NAME, value)
        monkeypatch.setenv("SECRET_OF_TESTS", "hidden")
        static(Tensor(1.0), tmp_path)
    text = static.explain()
    assert "the environment has changed" in text
    assert "hidden" not in text
    static = jit.to_static(by_open)
    for text in ("1", "2"):
        (tmp_path / "a").write_text(text)
        static(Tensor(1.0), tmp_path)
    assert f"the file {str(tmp_path / 'a')!r} has changed" in static.explain()
    static = jit.to_static(whether_there)
    for name in "bc":
        (tmp_path / name).touch()
        static(Tensor(1.0), tmp_path)
    assert f"what exists({tmp_path / 'c'!r}) gives has changed" in static.explain()


def test_what_a_user_says_is_asked_for_outside():
    def asked(x):
        return x + len(input())

    with pytest.raises(StagedValueError, match=r"builtins.input\(\) would be called once, while tracing"):
        jit.to_static(asked)(Tensor(1.0))


LOG = []


def test_variables_of_the_module_by_name():
    def noted(x):
        if x > 0:
            globals()["LOG"].append(x)
        return x + len(globals()["LOG"])

    static = jit.to_static(noted)
    found = []
    for function in (noted, static):
        LOG.clear()
        found.append([(function(Tensor(v)).item(), len(LOG)) for v in (1.0, 2.0, -1.0)])
    assert found[0] == found[1]


def test_what_is_printed_where_the_function_redirects_the_output(capsys):
    def shown(x):
        with contextlib.redirect_stdout(io.StringIO()) as text:
            print("hidden")
        print("seen")
        return x + len(text.getvalue())

    static = jit.to_static(shown)
    for _ in range(2):
        assert static(Tensor(1.0)).item() == 8
        assert capsys.readouterr().out == "seen\n"


def test_nothing_is_written_by_what_is_refused(tmp_path):
    def saved(x):
        pathlib.Path(tmp_path / "a").write_text("a")
        return x

    with pytest.raises(StagedValueError, match=r"pathlib.Path.write_text\(\) would be done once, while tracing"):
        jit.to_static(saved)(Tensor(1.0))
    assert not (tmp_path / "a").exists()


class Counter:
    step = 1


@pytest.mark.parametrize("look", [
    lambda n: bool(re.fullmatch("1|3", str(n))),  # one in a line: Python 3.10 does not know which of several it is
    lambda n: bool(re.compile("1|3").match(f"{n}")),
    lambda n: len(pathlib.Path(f"a/{n * 10}.b").stem),
    lambda n: {"k3": 4}.get(string.Template("k$a").substitute(a=n), 9),
    lambda n: len(pprint.pformat({"n": n * 50})),
    eval("lambda n: bool(re.fullmatch('1|3', str(n)))"), eval("lambda n: len('%s' % (n * 50))"),  # of which there is no source
])  # fmt: skip
def test_libraries_look_at_numbers_that_change(look):
    """Numbers of attributes become inputs where that works; a library would see the mark that stands in a text for one."""
    it = Counter()

    def f(x):
        return x * look(it.step)

    static, x = jit.to_static(f), Tensor([1.0])
    for it.step in (1, 2, 3):
        assert float(static(x)) == float(f(x))
