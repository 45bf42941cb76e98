"""Files that are saved together: what a reader has while they are, and after the process was killed at any point."""

import json
import os
import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from dy2st_runtime.errors import FormatError
from dy2st_runtime.formats import load_inference_model, save_inference_folder, save_inference_model
from dy2st_runtime.formats.inference_model import load_inference_models, save_inference_models
from dy2st_runtime.formats.replacing import JOURNAL, replacing
from dy2st_runtime.formats.settled import settled
from hand_built import Made


class KilledError(BaseException):
    """Stands for the end of the process."""


def save_all(folder, names, value):
    with replacing(*(str(folder / name) for name in names)) as files:
        for name, file in zip(names, files, strict=True):
            file.write(f"{name} {value}".encode())


def read_all(folder, names):
    def read(files):
        found = []
        for name in names:
            with open(files.at(str(folder / name))) as file:
                found.append(file.read())
        return found

    return settled(str(folder), read)


def killed_at(monkeypatch, count, save):
    """Runs `save` to its `count`th change of the disk; whether there was one. Nothing is cleaned up behind it, as in a process that was
    killed, but for the locks, which the system gives back."""
    calls = iter(range(count))
    killed = False

    def counted(real):
        def call(*args, **kwargs):
            nonlocal killed
            if killed or next(calls, None) is None:
                killed = True
                raise KilledError
            return real(*args, **kwargs)

        return call

    with monkeypatch.context() as patch:
        for name in ("fsync", "replace", "unlink"):
            patch.setattr(os, name, counted(getattr(os, name)))
        try:
            save()
        except KilledError:
            return True
    return killed


NAMES = ["a", "b", "c"]


def test_a_process_that_is_killed_leaves_the_old_files_or_the_new_ones(tmp_path, monkeypatch):
    outcomes = set()
    for count in range(100):
        folder = tmp_path / str(count)
        folder.mkdir()
        save_all(folder, NAMES, "old")
        if not killed_at(monkeypatch, count, lambda folder=folder: save_all(folder, NAMES, "new")):
            break
        found = read_all(folder, NAMES)
        assert found in ([f"{n} old" for n in NAMES], [f"{n} new" for n in NAMES]), count
        moved = sum((folder / n).read_text().endswith("new") for n in NAMES)
        outcomes.add((found[0].split()[1], moved))
        # the next one who saves anything there ends it, and nothing of it stays
        save_all(folder, ["other"], "x")
        assert read_all(folder, NAMES) == found
        assert [(folder / n).read_text() for n in NAMES] == found
        assert sorted(os.listdir(folder)) == [*NAMES, "other"]
    assert outcomes >= {("old", 0), ("new", 0), ("new", 1), ("new", 2), ("new", 3)}


def test_a_first_save_that_is_killed_while_it_moves_is_complete(tmp_path, monkeypatch):
    found = []
    for count in range(100):
        folder = tmp_path / str(count)
        folder.mkdir()
        if not killed_at(monkeypatch, count, lambda folder=folder: save_all(folder, NAMES, "new")):
            break
        try:
            found.append(len(read_all(folder, NAMES)))
        except FileNotFoundError:
            found.append(0)
    assert sorted(found) == found
    assert {0, 3} == set(found)


def test_what_others_have_written_since_is_not_replaced(tmp_path, monkeypatch):
    save_all(tmp_path, NAMES, "old")
    moved = False
    real = os.replace

    def replace(source, target):
        nonlocal moved
        if moved:
            raise KilledError
        moved = os.path.basename(target) == JOURNAL
        return real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(KilledError):
        save_all(tmp_path, NAMES, "new")
    monkeypatch.undo()
    (tmp_path / "b").write_text("of somebody else")
    assert read_all(tmp_path, NAMES) == ["a new", "of somebody else", "c new"]
    save_all(tmp_path, ["other"], "x")
    assert read_all(tmp_path, NAMES) == ["a new", "of somebody else", "c new"]
    assert sorted(os.listdir(tmp_path)) == [*NAMES, "other"]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"a": 1}', b'{"a": ["../../b", null]}', b'{"../a": [".0123456789abcdef.tmp", null]}']
)
def test_a_journal_that_is_none_moves_nothing(tmp_path, content):
    folder = tmp_path / "folder"
    folder.mkdir()
    save_all(folder, NAMES, "old")
    (folder / ".0123456789abcdef.tmp").write_text("evil")
    (folder / JOURNAL).write_bytes(content)
    assert read_all(folder, NAMES) == [f"{n} old" for n in NAMES]
    save_all(folder, ["other"], "x")
    assert read_all(folder, NAMES) == [f"{n} old" for n in NAMES]
    assert sorted(os.listdir(folder)) == [*NAMES, "other"]
    assert os.listdir(tmp_path) == ["folder"]


def test_a_journal_does_not_follow_links(tmp_path):
    save_all(tmp_path, NAMES, "old")
    (tmp_path / "secret").write_text("secret")
    os.symlink(tmp_path / "secret", tmp_path / ".0123456789abcdef.tmp")
    status = os.stat(tmp_path / "a")
    (tmp_path / JOURNAL).write_text(json.dumps({"a": [".0123456789abcdef.tmp", [status.st_size, status.st_mtime_ns]]}))
    assert read_all(tmp_path, ["a"]) == ["a old"]


def test_an_error_changes_nothing(tmp_path):
    save_all(tmp_path, NAMES, "old")
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        save_all(tmp_path, ["a", "folder", "b"], "new")
    with pytest.raises(UnicodeEncodeError):
        save_all(tmp_path, ["a", "b"], "\udc80")
    assert read_all(tmp_path, NAMES) == [f"{n} old" for n in NAMES]
    assert sorted(os.listdir(tmp_path)) == [*NAMES, "folder"]


@pytest.mark.skipif(os.name != "posix", reason="elsewhere files of others are removed by age")
def test_temporary_files_of_dead_processes_are_removed(tmp_path):
    script = f"""
import os
from dy2st_runtime.formats.replacing import replacing
with replacing({str(tmp_path / "a")!r}, {str(tmp_path / "b")!r}):
    print("there", flush=True)
    input()
"""
    left = [tmp_path / name for name in (".keep.tmp", ".0123456789abcdeg.tmp", "0123456789abcdef.tmp")]
    for path in left:
        path.write_text("of somebody else")
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"there\n"
        save_all(tmp_path, ["c"], "x")
        assert len(os.listdir(tmp_path)) == len(left) + 3, "those of a process that lives stay"
        process.kill()
    save_all(tmp_path, ["c"], "x")
    assert sorted(os.listdir(tmp_path)) == sorted(["c", *(path.name for path in left)])


def test_threads_that_save_the_same_files(tmp_path):
    save_all(tmp_path, NAMES, "-")
    failures = []

    def work(value):
        try:
            for i in range(10):
                save_all(tmp_path, NAMES, f"{value}{i}")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(value,)) for value in "xyz"]
    for t in threads:
        t.start()
    while any(t.is_alive() for t in threads):
        assert len({text.split()[1] for text in read_all(tmp_path, NAMES)}) == 1
    for t in threads:
        t.join()
    assert not failures
    assert sorted(os.listdir(tmp_path)) == NAMES


# ---- models ----
def model(value):
    m = Made()
    w, b = (m.program.global_block().create_var(n, "float32", [2], persistable=True, is_parameter=True) for n in "wb")
    y = m.b.elementwise_add(m.b.elementwise_mul(m.data("x", [2]), w), b)
    return m.program, ["x"], [y.name], {"w": np.full(2, value, "float32"), "b": np.full(2, value, "float32")}


def save_prefix(path, value):
    save_inference_models(path, {"": model(value), ".other": model(value)}, beside={".pdiparams.info": pickle.dumps(value)})


def load_prefix(path):
    models, noted = load_inference_models(path, ".pdiparams.info")
    return {float(v) for m in models.values() for a in m.params.values() for v in a} | {float(pickle.loads(noted))}


def save_folder(path, value):
    save_inference_folder(path, *model(value))


def save_folder_combined(path, value):
    save_inference_folder(path, *model(value), params_filename="all")


def load_folder(path):
    return {float(v) for a in load_inference_model(path).params.values() for v in a}


def load_folder_combined(path):
    return {float(v) for a in load_inference_model(path, params_filename="all").params.values() for v in a}


WAYS = {
    "prefix": (save_prefix, load_prefix),
    "folder": (save_folder, load_folder),
    "folder, combined": (save_folder_combined, load_folder_combined),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_model_is_the_old_or_the_new_one_whenever_the_process_is_killed(tmp_path, monkeypatch, way):
    save, load = WAYS[way]
    values = set()
    for count in range(100):
        path = tmp_path / f"{count}" / "m"
        save(path, 1)
        if not killed_at(monkeypatch, count, lambda path=path: save(path, 2)):
            break
        (value,) = load(path)
        values.add(value)
        save(path, 3)
        assert load(path) == {3.0}
        folder = path if way != "prefix" else path.parent
        assert not [name for name in os.listdir(folder) if name.endswith("tmp") or name == JOURNAL]
    assert values == {1.0, 2.0}


SAVER = """
import itertools, sys
from importlib.util import module_from_spec, spec_from_file_location
sys.path[:0] = {paths!r}
spec = spec_from_file_location("test_replacing", {file!r})
tests = module_from_spec(spec)
spec.loader.exec_module(tests)
for value in itertools.count(1):
    tests.WAYS[{way!r}][0]({path!r}, value % 1000)
    print("saved", flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_readers_while_a_process_saves_and_is_killed(tmp_path, way):
    save, load = WAYS[way]
    save(tmp_path / "m", 0)
    script = SAVER.format(paths=sys.path, file=__file__, way=way, path=str(tmp_path / "m"))
    for _ in range(4):
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"saved\n"
            end = time.monotonic() + 1.0
            while time.monotonic() < end:
                assert len(load(tmp_path / "m")) == 1
            process.kill()
        assert len(load(tmp_path / "m")) == 1


def test_the_very_path_that_was_given(tmp_path):
    save_inference_model(tmp_path / "x.pdmodel", *model(1))
    assert sorted(os.listdir(tmp_path)) == ["x.pdmodel.pdiparams", "x.pdmodel.pdmodel"]
    for path in ("x.pdmodel", "x.pdmodel.pdmodel"):
        assert load_folder(tmp_path / path) == {1.0}
    save_inference_model(tmp_path / "x", *model(2))
    assert load_folder(tmp_path / "x") == {2.0}
    assert list(load_inference_models(tmp_path / "x")[0]) == [""], "the other one is no method of it"
    assert load_folder(tmp_path / "x.pdmodel.pdmodel") == {1.0}
    with pytest.raises(FormatError, match="the path without suffix of another one"):
        load_inference_model(tmp_path / "x.pdmodel")
