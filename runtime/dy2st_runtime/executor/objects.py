"""One object file from the source of one kernel, or of a routine."""

from __future__ import annotations

from .. import config
from ..errors import CustomOpError
from . import machine
from .engines import ENGINES, Engine

OWN = ENGINES["llvm"]
"""Who compiles routines: their instructions write out what no other compiler has."""
ROUTINE = "routine "
"""Before the name of a routine, what stands for its source."""


def compile_object(source: str, symbol: str, engine: Engine) -> bytes:
    """An object file that defines `symbol` as the function `kernel` of the source, or as a routine.

    Raises:
        UncompiledKernel: it does not compile. The reason goes with it if `DY2ST_DUMP=source` or full tracebacks ask for it.
    """
    if source.startswith(ROUTINE):
        return compile_routine(source.removeprefix(ROUTINE), symbol)
    try:
        return engine.object_file(source, symbol)
    except Exception as error:
        asked = config.dumping("source") or config.FULL_TRACEBACK.get()
        raise UncompiledKernel(source, type(error).__name__) from (_Source(source, error) if asked else None)


class UncompiledKernel(Exception):
    """A generated kernel does not compile."""

    def __init__(self, source: str, reason: str):
        super().__init__(source, reason)
        self.source, self.reason = source, reason


class UncompiledCustom(Exception):
    """A kernel of the user's own does not compile. `name`: that of its native form; `error`: what to tell the user."""

    def __init__(self, name: str, error: CustomOpError):
        super().__init__(name, error)
        self.name, self.error = name, error


class _Source(Exception):
    """Carries the source that does not compile, below the clear error."""

    def __init__(self, source: str, cause: BaseException):
        super().__init__(f"{cause}\n{source}")


def compile_routine(name: str, symbol: str) -> bytes:
    """An object file that defines `symbol` as a routine of `routines`."""
    from . import routines, scalars

    module = scalars.module_of(routines.functions()[name], symbol)
    return machine.machine().emit_object(scalars.optimized(module, machine.machine()))
