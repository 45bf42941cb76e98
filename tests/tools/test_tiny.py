"""`tests/tiny.py` has a test of each package."""

from pathlib import Path

from tests.tiny import ROOT, TESTS


def test_each_package_has_one():
    folders = [(ROOT / "dy2st"), ROOT / "runtime" / "dy2st_runtime"]
    packages = {p.parent.relative_to(top.parent).as_posix() for top in folders for p in top.rglob("__init__.py")}
    assert packages == set(TESTS)


def test_the_files_are_there():
    assert all((ROOT / "tests" / Path(test.partition("::")[0])).exists() for test in TESTS.values())
