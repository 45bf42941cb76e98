"""The compilers of kernels. Each makes an object file of the same text, and the results are the same.

`llvm` is our own (`scalars`): its language has nothing to infer, so it takes a fifth of Numba's time. `numba` is Numba. Two compilers that
share no code but LLVM test each other: where they disagree on a kernel, one of them is wrong.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import config
from ..errors import CompileError, CustomOpError


@dataclass(frozen=True)
class Engine:
    """A compiler of kernels.

    Attributes:
        name: what the switch calls it.
        module: the file with its `object_file`; imported when there is something to compile.
        depends_on: what an object depends on besides its source, LLVM, and the text of what kernels inline. It does not import the
            compiler, which objects from the cache do not need.
        kernel_seconds: what a kernel takes to compile, roughly.
        start_seconds: what a process needs before it compiles.
    """

    name: str
    module: str
    depends_on: Callable[[], list[str]]
    kernel_seconds: float
    start_seconds: float

    def object_file(self, source: str, symbol: str) -> bytes:
        """An object file that defines `symbol` as the function `kernel` of the source."""
        compiler: Callable[[str, str], bytes] = self.load().object_file
        return compiler(source, symbol)

    def load(self) -> Any:
        """Imports it; gives its module."""
        return importlib.import_module(self.module, __package__)


def _numba_depends_on() -> list[str]:
    import importlib.metadata  # takes 10 ms, which only who uses Numba has to pay

    switches = [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith("NUMBA_")]
    return [importlib.metadata.version("numba"), *switches, Path(__file__).with_name("numba_engine.py").read_text(encoding="utf-8")]


ENGINES = {
    "llvm": Engine("llvm", ".llvm_engine", list, 0.03, 0.35),
    "numba": Engine("numba", ".numba_engine", _numba_depends_on, 0.15, 1.0),
}


def current() -> Engine:
    """The compiler that the switch names.

    Raises:
        CompileError: it is not installed, or switched off.
    """
    engine = ENGINES[config.ENGINE.get()]
    _require(engine)
    return engine


def get_engine() -> str:
    """The name of the compiler of kernels: "llvm" or "numba"."""
    return config.ENGINE.get()


def set_engine(name: str) -> None:
    """Sets what compiles the kernels of programs that are made from now on; those that are there keep their machine code.

    The environment variable `DY2ST_ENGINE` does so from the start of a process.

    Args:
        name: "llvm", our own compiler, or "numba".

    Raises:
        ValueError: there is no such compiler.
        CompileError: it is not installed, or switched off.

    >>> set_engine("numba")
    >>> get_engine()
    'numba'
    >>> set_engine("llvm")
    """
    if name not in ENGINES:
        raise ValueError(f"there is no compiler of kernels {name!r}, but {' and '.join(map(repr, ENGINES))}")
    _require(ENGINES[name])
    config.ENGINE.set(name)


def is_there() -> bool:
    """Whether Numba is installed. Each call of a custom op asks, so that no folder is searched once it is imported."""
    return "numba" in sys.modules or importlib.util.find_spec("numba") is not None


def require_for_custom(name: str) -> None:
    """CustomOpError if Numba is not installed, which compiles the kernels of custom ops."""
    if not is_there():
        raise CustomOpError(f"{name}: Numba compiles the kernels of custom ops, and it is not installed", hint="pip install numba")


def _require(engine: Engine) -> None:
    if engine.name != "numba":
        return
    if not is_there():
        raise CompileError("the compiler 'numba' is not installed", hint="pip install numba, or choose the compiler 'llvm'")
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        raise CompileError("the compiler 'numba' compiles nothing, as NUMBA_DISABLE_JIT is set",
                           hint="unset it, or choose the compiler 'llvm'")  # fmt: skip
