"""Exception handlers on the Python stack that are not converted: they would see an exception that is raised while tracing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dy2st_runtime.errors import Location

from ...errors import StructureError


@dataclass(eq=False)
class EnclosingHandler:
    """An unconverted handler. A data-dependent exception cannot be shown to it.

    Attributes:
        takes: whether it matters to it that an exception of this class is raised; None if its end tells.
        what, hint: name it in errors, and say what to do.
        depth: how many `try`s are around it.
        sizes: whether it matters that a dim has fewer rows than are asked for with a number, as `x[0]` does.
        passed: the first exception of which its end tells, and where it is raised.
    """

    takes: Callable[[type[BaseException]], bool | None]
    what: str
    hint: str
    depth: int
    sizes: bool = True
    passed: tuple[type[BaseException], Location | None] | None = None

    def refusal(self, kind: type[BaseException], location: Location | None) -> StructureError:
        message = f"that {kind.__name__} is raised here, which only the run knows, would be seen by {self.what}"
        return StructureError(message, location=location, hint=self.hint)
