"""`tools/replay.py`: equal programs leave equal files, a changed one is named and shown."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

PROGRAMS = '''
import numpy as np


def scaled(x):
    if x.sum() > 0:
        return x * 2.0
    return x


def cut(x):
    return x[:2]


CASES = [(scaled, [([1.0, 2.0],), ([-1.0, 0.5],)], 1), (cut, [([1.0, 2.0, 3.0],)], 1)]
'''


def replay(*arguments):
    command = [sys.executable, str(ROOT / "tools" / "replay.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def checkout(folder, text):
    """A checkout of these packages with a corpus of one module."""
    (folder / "tests" / "programs").mkdir(parents=True)
    (folder / "tests" / "programs" / "one.py").write_text(text)
    for name in ("dy2st", "runtime", "tests/helpers"):
        (folder / name).symlink_to(ROOT / name)
    return folder


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """What was written of two checkouts that are the same but for their place, and of one with a changed program."""
    place = tmp_path_factory.mktemp("replay")
    texts = {"before": PROGRAMS, "same": PROGRAMS, "changed": PROGRAMS.replace("x * 2.0", "x * 3.0")}
    for name, text in texts.items():
        done = replay("write", place / name, "--root", checkout(place / f"of_{name}", text))
        assert done.returncode == 0, done.stderr
    return place


def test_each_program_has_a_file_of_its_stages(written):
    assert sorted(p.name for p in (written / "before").iterdir()) == ["one.cut.txt", "one.scaled.txt"]
    text = (written / "before" / "one.scaled.txt").read_text()
    assert "cond" in text
    assert "def kernel(" in text
    assert "_dy." in text


def test_equal_programs_are_the_same_wherever_they_lie(written):
    done = replay("compare", written / "before", written / "same")
    assert (done.returncode, done.stdout) == (0, "2 of 2 programs are the same\n")


def test_a_changed_program_is_named_and_its_first_difference_shown(written):
    done = replay("compare", written / "before", written / "changed")
    assert done.returncode == 1
    assert "different: 1: one.scaled.txt\n--- before/one.scaled.txt\n+++ after/one.scaled.txt\n" in done.stdout
    assert "1 of 2 programs are the same" in done.stdout


def test_programs_that_are_gone_or_new_are_a_difference(written, tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "one.cut.txt").write_bytes((written / "before" / "one.cut.txt").read_bytes())
    assert replay("compare", written / "before", kept).stdout.startswith("gone: 1: one.scaled.txt\n")
    done = replay("compare", kept, written / "before")
    assert done.returncode == 1
    assert done.stdout.startswith("new: 1: one.scaled.txt\n")


def test_what_cannot_be_compared_is_said(written, tmp_path):
    assert "has no files of `replay.py write`" in replay("compare", written / "before", tmp_path).stderr
    assert "is not empty" in replay("write", written / "before").stderr
    assert "has no programs in tests/programs" in replay("write", tmp_path / "new", "--root", tmp_path).stderr
    broken = replay("write", tmp_path / "broken", "--root", checkout(tmp_path / "of_broken", "CASES = 1 / 0\n"))
    assert broken.returncode == 1
    assert "the programs of one did not run" in broken.stderr
