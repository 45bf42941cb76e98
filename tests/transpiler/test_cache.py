"""Conversions on disk: a second process loads what one has converted, and nothing that is not its own."""

import importlib.util
import itertools
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from dy2st_runtime import config
from pyruntime import PyRuntime

from dy2st.transpiler import cache, conversion, convert, loader

SOURCE = """
class Model:
    def forward(self, x, names=frozenset({"a", "b", "c"})):
        if x > 0 and "a" in {"a", "b", "c", "d"}:
            return x + self.__step()
        return [v * 2 for v in (x, -x)]

    def __step(self):
        return 1

pair = lambda x: x + 1 if x else 0, lambda x: x - 1 if x else 0
"""


@pytest.fixture
def model(tmp_path):
    """Loads the module of this source from a file, converts, and says whether that came from the cache."""

    times = itertools.count(1)

    def load(source=SOURCE, name="model"):
        path = tmp_path / f"{name}.py"
        path.write_text(source)
        os.utime(path, (0, next(times)))
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        exec(compile(source, str(path), "exec"), vars(module))
        return module

    with config.CACHE_DIR.override(str(tmp_path / "cache")):
        yield load


def converted(function, monkeypatch):
    """The conversion, as a new process would get it; and whether anything was converted."""
    conversion._cache.clear()
    ran = []
    with monkeypatch.context() as patch:
        patch.setattr(loader, "printed", lambda *args, real=loader.printed: ran.append(1) or real(*args))
        return convert(function, PyRuntime()), bool(ran)


def test_a_conversion_is_loaded(model, monkeypatch):
    forward = model().Model.forward
    first, ran = converted(forward, monkeypatch)
    assert ran
    second, ran = converted(forward, monkeypatch)
    assert not ran
    assert (second.code, second.filename, second.side_by_side()) == (first.code, first.filename, first.side_by_side())
    thing = model().Model()
    assert first.fn(thing, 2) == second.fn(thing, 2) == 3
    assert second.fn(thing, -1) == [-2, 2]
    with pytest.raises(TypeError) as caught:
        second.fn(thing, None)
    assert conversion.locate(caught.value.__traceback__.tb_next).line == 4


def test_lambdas_of_one_line_are_told_apart(model, monkeypatch):
    if sys.version_info < (3, 11):
        pytest.skip("Python 3.10 does not know which lambda of a line a function is")
    pair = model().pair
    for _ in range(2):
        assert [converted(f, monkeypatch)[0].fn(5) for f in pair] == [6, 4]


def test_another_process_finds_it(tmp_path):
    (tmp_path / "model.py").write_text(SOURCE)
    code = (
        "import model\nfrom dy2st.transpiler import loader, convert\nran = []\nreal = loader.printed\n"
        "loader.printed = lambda *args: ran.append(1) or real(*args)\n"
        "print(convert(model.Model.forward, None).filename, len(ran))"
    )
    found = []
    for seed in ("1", "2", "3"):
        env = {**os.environ, "DY2ST_CACHE_DIR": str(tmp_path / "cache"), "PYTHONHASHSEED": seed}
        env["PYTHONPATH"] = os.pathsep.join([str(tmp_path), *sys.path])
        out = subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True, text=True).stdout
        found.append(out.split())
    assert [n for _, n in found] == ["1", "0", "0"]
    assert len({name for name, _ in found}) == 1


def entries(tmp_path):
    return list((tmp_path / "cache" / "conversions").glob("*.conversion"))


def test_a_damaged_entry_is_made_anew(model, monkeypatch, tmp_path):
    forward = model().Model.forward
    converted(forward, monkeypatch)
    (path,) = entries(tmp_path)
    whole = path.read_bytes()
    other_layout = whole.replace(b"dy2st-conversion-", b"dy2st-conversion-0")
    for damaged in (whole[:-1], whole[:40], b"", other_layout, whole[:-9] + b"x" + whole[-8:]):
        path.write_bytes(damaged)
        found, ran = converted(forward, monkeypatch)
        assert ran
        assert found.fn(model().Model(), 2) == 3
        assert not converted(forward, monkeypatch)[1]


def test_the_entry_of_another_function_is_not_taken(model, monkeypatch, tmp_path):
    converted(model().Model.forward, monkeypatch)
    (first,) = entries(tmp_path)
    converted(model(SOURCE.replace("x + self", "x - self"), "other").Model.forward, monkeypatch)
    (second,) = set(entries(tmp_path)) - {first}
    second.write_bytes(first.read_bytes())  # its checksum is bound to its name
    _, ran = converted(model(SOURCE.replace("x + self", "x - self"), "other").Model.forward, monkeypatch)
    assert ran


def test_changed_source_file_or_transpiler_is_another_entry(model, monkeypatch, tmp_path):
    converted(model().Model.forward, monkeypatch)
    assert converted(model(SOURCE.replace("x * 2", "x * 3").replace("v * 2", "v * 3")).Model.forward, monkeypatch)[1]
    assert converted(model("# moved\n" + SOURCE).Model.forward, monkeypatch)[1]
    assert converted(model(SOURCE, "elsewhere").Model.forward, monkeypatch)[1]
    monkeypatch.setattr(cache, "_environment", lambda: "another text of the transpiler, another Python")
    assert converted(model().Model.forward, monkeypatch)[1]
    assert len(entries(tmp_path)) == 5


def test_the_environment_is_the_text_of_the_transpiler_and_python():
    text = Path(cache.__file__).read_text()
    assert "sys.version" in text
    assert re.fullmatch("[0-9a-f]{64}", cache._environment())


def test_the_folder_is_the_user_s_own(model, monkeypatch, tmp_path):
    forward = model().Model.forward
    converted(forward, monkeypatch)
    folder = tmp_path / "cache" / "conversions"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (path,) = entries(tmp_path)
    path.chmod(0o666)  # others could have written it
    assert converted(forward, monkeypatch)[1]


def test_without_a_cache(model, monkeypatch, tmp_path):
    with config.NO_CACHE.override(True):
        forward = model().Model.forward
        assert converted(forward, monkeypatch)[1]
        assert converted(forward, monkeypatch)[1]
    assert not (tmp_path / "cache" / "conversions").exists()


def test_stages_and_dumps_are_made(model, monkeypatch):
    forward = model().Model.forward
    converted(forward, monkeypatch)
    conversion._cache.clear()
    assert convert(forward, PyRuntime(), keep_stages=True).stages


def test_asserts_are_those_that_python_runs(tmp_path):
    (tmp_path / "model.py").write_text("def f(x):\n    assert x > 0, 'negative'\n    return x\n")
    code = (
        "import model, dy2st\nf = dy2st.jit.to_static(model.f)\n"
        "try:\n    print(float(f(dy2st.to_tensor(-1.0))), f(-2))\nexcept AssertionError as e:\n    print(e)"
    )
    env = {**os.environ, "DY2ST_CACHE_DIR": str(tmp_path / "cache"), "DY2ST_NO_JIT": "1"}
    env["PYTHONPATH"] = os.pathsep.join([str(tmp_path), *sys.path])
    for flags, expected in (([], "negative"), (["-O"], "-1.0 -2"), ([], "negative")):
        out = subprocess.run([sys.executable, *flags, "-c", code], env=env, check=True, capture_output=True, text=True).stdout
        assert out.strip() == expected
