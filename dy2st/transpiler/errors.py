"""The one error of conversion: what cannot be converted, where, and what to write instead."""

from __future__ import annotations

from dy2st_runtime.errors import Dy2stError, Location


class ConversionError(Dy2stError, SyntaxError):
    """A function cannot be converted: its syntax is not supported, or its source cannot be had."""

    code = "D2S020"

    def __init__(self, message: str, *, location: Location | None = None, hint: str | None = None):
        super().__init__(message, location=location, hint=hint)
        # Tracebacks print ``msg`` of a SyntaxError, not ``str()``. The location is part of our text,
        # so lineno and filename stay empty: otherwise the line would be shown twice.
        self.msg = str(self)

    def at(self, location: Location | None) -> ConversionError:
        """Adds the location unless one is already known; returns self."""
        super().at(location)
        self.msg = str(self)
        return self

    __str__ = Dy2stError.__str__
