"""A Sphinx extension: writes a page of the reference for each public namespace, for autodoc to fill from the docstrings.

A name is public in a namespace if its file defines it without a leading underscore, exports it as `X as X`, or lists it in `__all__`.
Each object is described once, in the first namespace of `NAMESPACES` that has it. Other namespaces say where.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from sphinx.application import Sphinx

NAMESPACES = (
    "dy2st.jit", "dy2st.nn", "dy2st.nn.functional", "dy2st.nn.initializer", "dy2st.nn.utils", "dy2st.optimizer", "dy2st.optimizer.lr",
    "dy2st.regularizer", "dy2st", "dy2st.linalg", "dy2st.autograd", "dy2st.static", "dy2st.static.nn", "dy2st.io", "dy2st.metric",
    "dy2st.vision.models", "dy2st.vision.transforms", "dy2st.distribution", "dy2st.hapi", "dy2st.callbacks",
    "dy2st.profiler", "dy2st.testing", "dy2st.errors", "dy2st.device", "dy2st.device.cuda",
    "dy2st.utils", "dy2st.utils.dlpack", "dy2st.utils.download", "dy2st.version", "dy2st.distributed", "dy2st.distributed.fleet",
    "dy2st.distributed.fleet.meta_parallel", "dy2st.distributed.sharding",
    "dy2st.distributed.communication.stream", "dy2st.inference", "dy2st.incubate", "dy2st.incubate.nn",
    "dy2st.incubate.nn.functional",
    "dy2st.fluid", "dy2st.fluid.layers", "dy2st.fluid.dygraph", "dy2st_runtime",
)  # fmt: skip
FOLDER = "reference/api"


class Entry(NamedTuple):
    """A public name of a namespace. `home`: the name under which the object is described."""

    name: str
    value: Any
    home: str


def public_names(module: ModuleType) -> Iterator[str]:
    """The public names of a namespace, in the order of its file."""
    if hasattr(module, "__all__"):
        yield from module.__all__
        return
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names = [node.name]
        elif isinstance(node, ast.ImportFrom):
            names = [a.name for a in node.names if a.asname == a.name]
        elif isinstance(node, ast.Assign):
            names = [t.id for t in node.targets if isinstance(t, ast.Name)]
        else:
            continue
        yield from (name for name in names if not name.startswith("_"))


def entries() -> dict[str, list[Entry]]:
    """The classes and functions of all namespaces."""
    homes: dict[int, str] = {}
    found: dict[str, list[Entry]] = {}
    for namespace in NAMESPACES:
        module = importlib.import_module(namespace)
        found[namespace] = []
        for name in dict.fromkeys(public_names(module)):
            value = getattr(module, name)
            if (inspect.isclass(value) or inspect.isroutine(value)) and value.__doc__:
                home = homes.setdefault(id(value), f"{namespace}.{name}")
                found[namespace].append(Entry(name, value, home))
    return found


def _is_another(namespace: str, name: str) -> bool:
    """Whether the package has something else by this name, which is what annotations mean: `inference.Tensor` is no `Tensor`."""
    package, module = importlib.import_module("dy2st"), importlib.import_module(namespace)
    return hasattr(package, name) and getattr(package, name) is not getattr(module, name)


def page(namespace: str, names: list[Entry]) -> str:
    """The source of a page."""
    lines = [namespace, "=" * len(namespace), "", f".. automodule:: {namespace}", "   :no-members:", ""]
    own = [e for e in names if e.home == f"{namespace}.{e.name}"]
    classes = sorted(e.name for e in own if inspect.isclass(e.value))
    functions = sorted(e.name for e in own if not inspect.isclass(e.value))
    others = sorted((e.name, e.home) for e in names if e not in own)
    for title, directive, group in (("Functions", "autofunction", functions), ("Classes", "autoclass", classes)):
        if group:
            lines += [title, "-" * len(title), "", f".. currentmodule:: {namespace}", "", ".. autosummary::", "   :nosignatures:", ""]
            lines += [*(f"   {name}" for name in group), ""]
            for name in group:
                lines += [f".. {directive}:: {namespace}.{name}", *(["   :members:"] if directive == "autoclass" else [])]
                lines += [*(["   :no-index:"] if _is_another(namespace, name) else []), ""]
    if others:
        lines += ["Described elsewhere", "-------------------", "", ".. list-table::", ""]
        for name, home in others:
            lines += [f"   * - `{name}`", f"     - :py:obj:`{home}`"]
    return "\n".join(lines) + "\n"


def write(app: Sphinx) -> None:
    """Writes all pages; a page that stays as it was keeps its time, so that Sphinx does not read it again."""
    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(exist_ok=True)
    found = entries()
    wanted = {f"{namespace}.rst": page(namespace, names) for namespace, names in found.items()}
    listed = "\n".join(f"   {name}" for name in NAMESPACES)
    wanted["index.rst"] = f"The API\n=======\n\nFrom the docstrings, a page for each namespace.\n\n.. toctree::\n\n{listed}\n"
    for old in folder.glob("*.rst"):
        if old.name not in wanted:
            old.unlink()
    for name, text in wanted.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
