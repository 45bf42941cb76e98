"""Unique names of parameters, layers and variables: `linear_0`, `linear_0.w_0`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from .missing_names import explain_missing as _explain_missing


class UniqueNameGenerator:
    """Counts how often each stem was asked for; `prefix` comes before every name."""

    def __init__(self, prefix: str = ""):
        self.prefix = prefix
        self._counts: dict[str, int] = {}

    def __call__(self, key: str) -> str:
        count = self._counts.get(key, 0)
        self._counts[key] = count + 1
        return f"{self.prefix}{key}_{count}"


_current = UniqueNameGenerator()


def generate(key: str) -> str:
    """A new name from a stem.

    >>> with guard():
    ...     generate("fc"), generate("fc"), generate("conv")
    ('fc_0', 'fc_1', 'conv_0')
    """
    return _current(key)


def switch(generator: UniqueNameGenerator | None = None) -> UniqueNameGenerator:
    """Makes a generator (default: a new one) the current one; returns the one before."""
    global _current
    before = _current
    _current = UniqueNameGenerator() if generator is None else generator
    return before


@contextlib.contextmanager
def guard(new_generator: str | UniqueNameGenerator | None = None) -> Iterator[None]:
    """Counts anew until the end of the block. A text is the prefix of all names.

    Args:
        new_generator: a prefix, a generator, or None for a new one without a prefix.
    """
    if isinstance(new_generator, str):
        new_generator = UniqueNameGenerator(new_generator)
    before = switch(new_generator)
    try:
        yield
    finally:
        switch(before)


_explain_missing(__name__)
