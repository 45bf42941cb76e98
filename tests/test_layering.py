"""The import graph, as drawn in docs/explanation/architecture.md: who may import whom, and which packages each part may use."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent

# part -> the parts of its package that it may import (itself always)
RUNTIME = {
    "errors": set(),
    "warning": set(),
    "config": {"warning"},
    "cachefiles": {"config", "warning"},
    "garbage": set(),
    "threads": {"config", "forks", "warning"},
    "signals": {"forks"},
    "forks": set(),
    "dtype": {"errors"},
    "dims": {"errors", "loopir"},
    "quiet": set(),
    "loopir": set(),
    "ops": {"errors", "dtype", "dims", "quiet", "loopir"},
    "ir": {"errors", "dims", "ops"},
    "nonfinite": {"errors", "config", "dims"},
    "reference": {"errors", "config", "nonfinite", "ir", "ops"},
    "backward": {"errors", "config", "dtype", "dims", "ir", "ops", "passes"},
    "passes": {"errors", "garbage", "config", "dtype", "dims", "ir", "ops", "loopir", "reference"},
    "lowering": {"errors", "dtype", "dims", "ir", "ops", "loopir"},
    "codegen": {"errors", "dtype", "loopir"},
    "feeds": {"errors", "dtype", "dims", "ir"},
    "scope": {"errors", "forks"},
    "executor": {
        "errors", "garbage", "config", "cachefiles", "dtype", "dims", "ir", "ops", "loopir", "reference", "passes", "lowering", "codegen",
        "feeds", "nonfinite", "threads", "signals", "forks",
    },
    "formats": {"errors", "config", "dtype", "dims", "ir", "ops", "passes"},
    "custom": {"errors", "dims", "ops", "executor"},
    "predictor": {"errors", "config", "forks", "dims", "ir", "ops", "feeds", "formats", "executor", "reference"},
    "cli": {"errors", "config", "dims", "ir", "formats", "predictor"},
    "__main__": {"cli"},
}  # fmt: skip
RUNTIME_PACKAGES = {
    "numba": {"executor"},
    "llvmlite": {"executor"},
    "scipy": {"executor", "ops"},
    "google": {"formats"},
    "numpy": set(RUNTIME),
}

FRONT = {
    "config": set(),
    "paddle_names": set(),
    "missing_names": {"paddle_names"},
    "errors": set(),
    "cli": {"unmodified"},
    "unmodified": {"alias"},
    "__main__": {"cli"},
    "unique_name": set(),
    "transpiler": set(),
    "framework": {"errors", "tensor"},  # save and load know tensors; dtypes and places, which tensors need, do not
    "tensor": {"errors", "framework", "transpiler", "unique_name"},
    "regularizer": {"tensor"},
    "linalg": {"tensor"},
    "io": {"errors", "tensor"},
    "metric": {"errors", "tensor"},
    "hapi": {"errors", "framework", "io", "jit", "metric", "optimizer", "tensor", "utils"},
    "callbacks": {"hapi"},
    "profiler": {"errors"},
    "autograd": {"errors", "tensor"},
    "device": {"errors", "framework"},
    "utils": {"errors", "jit", "nn", "optimizer", "tensor", "unique_name", "version"},
    "version": {"__version__", "tensor"},
    "sysconfig": {"errors"},
    "distributed": {"errors", "framework", "jit", "nn", "tensor", "unique_name", "unmodified"},
    "distribution": {"errors", "tensor"},
    "incubate": {"errors", "nn", "tensor"},
    "inference": {"errors", "framework", "tensor", "version"},
    "nn": {"errors", "framework", "regularizer", "tensor", "unique_name"},
    "vision": {"errors", "nn", "tensor"},
    "optimizer": {"errors", "nn", "regularizer", "static", "tensor", "unique_name"},
    "static": {"errors", "framework", "nn", "tensor", "unique_name"},
    "custom": {"errors", "static", "tensor"},
    "testing": {"jit", "static", "tensor"},
    "library": set(),
    "convert": {"errors", "framework", "library", "static", "tensor", "transpiler"},
    "jit": {"convert", "errors", "framework", "library", "nn", "static", "tensor", "transpiler", "unique_name"},
    "legacy": {"errors", "framework", "nn", "optimizer", "regularizer", "static", "tensor", "unique_name"},
    "fluid": {"device", "distributed", "framework", "jit", "legacy", "nn", "static", "tensor", "unique_name"},
}
EVERYWHERE = {"missing_names"}  # each namespace explains what it lacks
# the parts of `convert`, from the ground up: each imports those before it only
CONVERT = [
    "hub", "roles", "pyfacts", "values", "effects", "guards", "purity", "training", "iteration", "regions", "alias", "trace", "control",
    "contexts", "builtins", "calls", "__init__",
]  # fmt: skip
TRANSPILER_PACKAGES = {"gast", "astor", "dy2st_runtime"}


def imports(path: Path, package: str) -> list[str]:
    """The absolute names that a file imports, but for those under TYPE_CHECKING."""
    found = []
    module = path.relative_to(ROOT / "runtime" if package == "dy2st_runtime" else ROOT).with_suffix("")
    parts = list(module.parts)
    if parts[-1] == "__init__":
        parts = [*parts[:-1], ""]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                base = parts[: -node.level]
                name = ".".join([*base, *([node.module] if node.module else [])])
                found += [f"{name}.{alias.name}" for alias in node.names]
            else:
                found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


def part_of(name: str, package: str) -> str | None:
    pieces = name.split(".")
    return pieces[1] if pieces[0] == package and len(pieces) > 1 else None


def files(package: str) -> list[Path]:
    base = ROOT / "runtime" / package if package == "dy2st_runtime" else ROOT / package
    return sorted(base.rglob("*.py"))


def test_the_runtime_imports_downwards_only() -> None:
    wrong = []
    for path in files("dy2st_runtime"):
        part = path.relative_to(ROOT / "runtime" / "dy2st_runtime").parts[0].removesuffix(".py")
        if part == "__init__":
            continue
        for name in imports(path, "dy2st_runtime"):
            top, target = name.split(".")[0], part_of(name, "dy2st_runtime")
            if top in ("dy2st", "gast", "astor"):
                wrong.append(f"{path.name}: the runtime must not import {name}")
            elif (target is not None and target != part and target not in RUNTIME[part]) or (
                top in RUNTIME_PACKAGES and part not in RUNTIME_PACKAGES[top]
            ):
                wrong.append(f"{part}/{path.name} imports {name}")
            elif target is None and top not in RUNTIME_PACKAGES and top not in sys.stdlib_module_names:
                wrong.append(f"{part}/{path.name} imports the package {top}")
    assert not wrong, "\n".join(wrong)


def test_the_front_end_imports_downwards_only() -> None:
    wrong = []
    for path in files("dy2st"):
        inside = path.relative_to(ROOT / "dy2st")
        part = inside.parts[0].removesuffix(".py")
        for name in imports(path, "dy2st"):
            target = part_of(name, "dy2st")
            if part in ("__init__", "alias") or target in (None, part) or target in FRONT[part] | EVERYWHERE:
                continue
            wrong.append(f"{inside} imports {name}")
    assert not wrong, "\n".join(wrong)


def test_convert_imports_downwards_only() -> None:
    base, wrong = ROOT / "dy2st" / "convert", []
    for path in sorted(base.rglob("*.py")):
        part = path.relative_to(base).parts[0].removesuffix(".py")
        below = {"dy2st.convert." + p for p in CONVERT[: CONVERT.index(part) + 1]}
        for name in imports(path, "dy2st"):
            if name.startswith("dy2st.convert.") and not any(name == p or name.startswith(f"{p}.") for p in below):
                wrong.append(f"{path.relative_to(base)} imports {name}")
    assert not wrong, "\n".join(wrong)


def test_the_map_of_convert_is_in_this_order() -> None:
    text = (ROOT / "docs" / "explanation" / "architecture.md").read_text()
    rows = re.findall(r"^\| `(\w+)(?:\.py)?` \|", text.partition("## The packages of `convert`")[2].partition("## ")[0], re.M)
    assert rows == CONVERT[:-1]


def test_the_transpiler_knows_nothing_of_tensors() -> None:
    wrong = []
    for path in files("dy2st"):
        if path.relative_to(ROOT / "dy2st").parts[0] != "transpiler":
            continue
        for name in imports(path, "dy2st"):
            top = name.split(".")[0]
            if part_of(name, "dy2st") not in (None, "transpiler"):
                wrong.append(f"{path.name} imports {name}")
            if top == "dy2st_runtime" and part_of(name, "dy2st_runtime") not in ("errors", "config", "cachefiles", "garbage", "forks"):
                wrong.append(f"{path.name} imports {name}")
            if top not in TRANSPILER_PACKAGES | {"dy2st"} and top not in sys.stdlib_module_names:
                wrong.append(f"{path.name} imports the package {top}")
    assert not wrong, "\n".join(wrong)


def test_fluid_has_no_logic() -> None:
    """`fluid` holds names and thin wrappers: no loops, no arithmetic, no access to the IR."""
    wrong = []
    for path in files("dy2st"):
        if path.relative_to(ROOT / "dy2st").parts[0] != "fluid":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, (ast.For, ast.While)):
                wrong.append(f"{path.name}:{node.lineno} has a loop")
        for name in imports(path, "dy2st"):
            if name.startswith("dy2st_runtime."):
                wrong.append(f"{path.name} imports {name}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("package", ["gast", "astor", "dy2st"])
def test_the_runtime_is_imported_without_the_compiler(package: str) -> None:
    import subprocess

    code = f"import sys, dy2st_runtime; assert {package!r} not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_no_module_hides_what_transformed_code_calls() -> None:
    """`convert.name` is looked up where the code runs: a module of that name that is imported later would take its place."""
    import dy2st.jit  # noqa: F401
    from dy2st import convert

    tree = ast.parse((ROOT / "dy2st" / "convert" / "__init__.py").read_text())
    exported = [alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert len(exported) > 40
    assert [name for name in exported if isinstance(getattr(convert, name, None), ModuleType)] == []


def test_there_is_no_circle_of_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """And no import inside a function of `convert`."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import imports as tool

    found = tool.imports(tool.modules())
    assert tool.circles([(i.importer, i.imported) for i in found]) == []
    assert [i for i in found if i.function is not None and i.importer.startswith("dy2st.convert")] == []
