"""Conversions on disk, beside the compile cache: a second process does not convert again what one has converted.

An entry depends on the code of the function, the file that it stands in, the text of this package, and the versions of Python and of the
libraries that parse and print.
"""

from __future__ import annotations

import functools
import hashlib
import marshal
import os
import sys
import types
from collections.abc import Iterator
from importlib.metadata import version
from typing import TYPE_CHECKING

from dy2st_runtime import cachefiles
from dy2st_runtime.errors import Location

if TYPE_CHECKING:
    from dy2st.transpiler.loader import Printed

_MAGIC = b"dy2st-conversion-3\n"


def symbol(code: types.CodeType, text: str, debugged: bool) -> str:
    """The name of the conversion of a function of this code, in a file with this text, for a debugger or not."""
    digest = hashlib.sha256(f"{_environment()} {debugged}".encode())
    for part in (code.co_filename, text, *_parts(code)):
        digest.update(f"{len(part)} ".encode())
        digest.update(part.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def get(name: str) -> Printed | None:
    """The entry of this name, if there is one that can be trusted."""
    data = _store().get(name)
    if data is None:
        return None
    from dy2st.transpiler.loader import Printed

    text, filename, depth, compiled, places, spans, *others = marshal.loads(data)
    located = [Location(*place) for place in places]
    origins = [(line, col, end, end_col, located[n]) for line, col, end, end_col, n in spans]
    return Printed(text, filename, depth, compiled, origins, *others)


def put(name: str, printed: Printed) -> None:
    """Keeps an entry."""
    places = {id(span[4]): span[4] for span in printed.spans}  # nodes that come from one place share it
    numbers = {key: number for number, key in enumerate(places)}
    spans = [(line, col, end, end_col, numbers[id(place)]) for line, col, end, end_col, place in printed.spans]
    entry = (printed.text, printed.filename, printed.depth, printed.compiled, [tuple(p) for p in places.values()], spans,
             printed.generated, printed.accessors, printed.debugged)  # fmt: skip
    _store().put(name, marshal.dumps(entry))


def _store() -> cachefiles.Store:
    return cachefiles.Store("conversions", ".conversion", _MAGIC)


@functools.cache
def _environment() -> str:
    digest = hashlib.sha256(f"{sys.version}\0{sys.flags.optimize}\0{version('gast')}\0{version('astor')}".encode())
    for folder, folders, files in os.walk(os.path.dirname(__file__)):
        folders.sort()
        for name in sorted(files):
            if name.endswith(".py"):
                with open(os.path.join(folder, name), "rb") as f:
                    digest.update(f.read())
    return digest.hexdigest()


def _parts(code: types.CodeType) -> Iterator[str]:
    """All that tells code objects apart, the same in each process."""
    yield repr((code.co_name, getattr(code, "co_qualname", ""), code.co_flags, code.co_firstlineno, code.co_argcount,
                code.co_posonlyargcount, code.co_kwonlyargcount, code.co_names, code.co_varnames, code.co_freevars,
                code.co_cellvars, code.co_code))  # fmt: skip
    yield repr(code.co_linetable)
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            yield from _parts(value)
        else:
            # the order of a set is another one in each process
            yield repr(sorted(map(repr, value)) if isinstance(value, frozenset) else value)
