"""`install_as_paddle`: lets unchanged code `import paddle`."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from types import ModuleType

from .missing_names import remark

_ALIAS = "paddle"
_REAL = __name__.rpartition(".")[0]


class _AliasLoader(importlib.abc.Loader):
    def __init__(self, real: str):
        self.real = real

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.real)
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # the import system has just put the alias there; relative imports inside the module need the real one
        module.__spec__ = self.spec


class _AliasFinder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
                  ) -> importlib.machinery.ModuleSpec | None:  # fmt: skip
        if fullname != _ALIAS and not fullname.startswith(_ALIAS + "."):
            return None
        inside = fullname.removeprefix(_ALIAS)
        if inside == ".base" or inside.startswith(".base."):  # what PaddlePaddle calls `fluid` since 2.6
            inside = ".fluid" + inside.removeprefix(".base")
        real = _REAL + inside
        found = importlib.util.find_spec(real)
        if found is None:
            if (said := remark(fullname)) is not None:
                raise ModuleNotFoundError(f"No module named {fullname!r}: {said}", name=fullname)
            return None
        package = found.submodule_search_locations is not None
        return importlib.machinery.ModuleSpec(fullname, _AliasLoader(real), is_package=package)


def install_as_paddle() -> None:
    """Makes `import paddle`, `import paddle.nn.functional as F` and so on give the modules of dy2st, in this process.

    Raises:
        ImportError: PaddlePaddle itself is imported already.

    >>> install_as_paddle()
    >>> import paddle.nn.functional as F
    >>> F.__name__
    'dy2st.nn.functional'
    """
    loaded = sys.modules.get(_ALIAS)
    if loaded is not None and loaded is not sys.modules[_REAL]:
        raise ImportError("paddle is imported already", name=_ALIAS)
    if not any(isinstance(finder, _AliasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AliasFinder())
