"""`convert`: a function in, the transformed function out. `locate`: back to the user's lines."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field

import gast
from dy2st_runtime import config, forks
from dy2st_runtime.errors import Location
from dy2st_runtime.garbage import no_search_for_garbage

from dy2st.transpiler import cache, loader, nodes, origin, positions, visible
from dy2st.transpiler.errors import ConversionError
from dy2st.transpiler.manager import Context, PassManager
from dy2st.transpiler.pipeline import PIPELINE
from dy2st.transpiler.source import file_text, get_source


@dataclass(frozen=True)
class Converted:
    """A transformed function and all there is to see of it.

    Attributes:
        fn: the transformed function.
        original: the user's function.
        code: the transformed source, as it stands in the file.
        filename: the file.
        stages: pass -> the source after it (with `keep_stages` only).
    """

    fn: Callable
    original: Callable
    code: str
    filename: str
    stages: dict[str, str] = field(default_factory=dict)

    def side_by_side(self) -> str:
        """The transformed source with the user's lines to its left."""
        return _side_by_side(self.code, self.filename)


_cache: dict[tuple, tuple[loader.Loaded, dict[str, str]]] = {}
_lock = forks.reentrant_lock()


def convert(fn: Callable, runtime: object, *, keep_stages: bool = False) -> Converted:
    """Transforms a Python function so that its control flow goes through `runtime`.

    The same code is transformed once, however many functions share it; each gets its own cells.

    Args:
        fn: a function or a bound method (then the result is bound to the same object).
        runtime: what the transformed code calls `_dy`.
        keep_stages: keep the source after each pass.

    Raises:
        ConversionError: the source cannot be had, or it has syntax that is not supported.
    """
    if isinstance(fn, types.MethodType):
        converted = convert(fn.__func__, runtime, keep_stages=keep_stages)
        bound = types.MethodType(converted.fn, fn.__self__)
        return Converted(bound, fn, converted.code, converted.filename, converted.stages)
    if not isinstance(fn, types.FunctionType):
        raise ConversionError(
            f"{type(fn).__name__} {getattr(fn, '__name__', repr(fn))!r} is not a Python function",
            hint="convert the function or method that it calls",
        )
    if loader.is_generated(fn.__code__):
        raise ConversionError(
            f"'{fn.__qualname__}' is converted already",
            location=place_of(fn.__code__, -1, fn.__code__.co_firstlineno),
            hint="convert the function that it comes from",
        )
    with _lock, no_search_for_garbage():
        loaded, stages = _transform(fn, keep_stages)
    return Converted(loader.bind(loaded, fn, runtime), fn, loaded.text, loaded.filename, dict(stages))


def _transform(fn: types.FunctionType, keep_stages: bool) -> tuple[loader.Loaded, dict[str, str]]:
    code = fn.__code__
    text = file_text(fn)
    debugged = visible.is_wanted(code)
    symbol = f"code {id(code)} {debugged}" if text is None else cache.symbol(code, text, debugged)
    key = symbol, keep_stages
    # A dump that is asked for is printed, also for code that is known.
    if key in _cache and not config.DUMP.get():
        return _cache[key]
    lasting = text is not None and not (keep_stages or config.DUMP.get() or config.NO_CACHE.get()) and loader.keeps()
    found = cache.get(symbol) if lasting else None
    if found is not None and loader.write(code, found.text) == found.filename:
        _cache[key] = loader.load(found, code), {}
        return _cache[key]
    source = get_source(fn)
    tree = source.tree
    tree.entry = True
    # What has run already, or runs never in generated code, would only stand in the way.
    tree.decorator_list, tree.returns, tree.type_params = [], None, []
    for parameter in nodes.parameters(tree.args):
        parameter.annotation = None
    manager = PassManager(tree, Context(tree, code.co_freevars), keep_stages=keep_stages)
    transformed = manager.run(PIPELINE)
    manager.release()
    printed = loader.printed(transformed, source, code, tuple(manager.context.namer.generated), debugged)
    loaded = loader.load(printed, code)
    if lasting and loader.keeps(printed.filename):
        cache.put(symbol, printed)
    manager.dump("code", loaded.text)
    _cache[key] = loaded, manager.stages
    return _cache[key]


def first_yield(fn: types.FunctionType) -> Location | None:
    """Where a generator function suspends itself first, as its source has it.

    Raises:
        ConversionError: the source cannot be had.
    """
    body = get_source(fn).tree.body
    return origin.of(next(n for n in nodes.walk_scope(body) if isinstance(n, (gast.Yield, gast.YieldFrom))))


def locate(where: types.FrameType | types.TracebackType) -> Location | None:
    """The user's place for a frame (where it is now), or a traceback entry.

    Returns:
        None if it is not generated code.
    """
    if isinstance(where, types.TracebackType):
        code, instruction, line = where.tb_frame.f_code, where.tb_lasti, where.tb_lineno
    else:
        code, instruction, line = where.f_code, where.f_lasti, where.f_lineno
    return place_of(code, instruction, line)


def place_of(code: types.CodeType, instruction: int, line: int) -> Location | None:
    """The same for the instruction at this offset of a code object, which is on this line."""
    found = loader.map_of(code)
    if found is None:
        return None
    position = positions.position(code, instruction)
    in_text = code.co_filename == found.filename
    if position is None:
        return found.line(line) if in_text else found.place(line)
    if in_text or sys.version_info < (3, 11):  # where the positions are those of a twin, which is compiled from the text
        return found.span(*position)
    return found.place(position[0], position[1], position[3])


def _side_by_side(code: str, filename: str) -> str:
    known, rows = loader.text_map(filename).lines, []
    shown: tuple[str, int] | None = None
    for number, line in enumerate(code.splitlines(), start=1):
        place = known.get(number)
        left = ""
        if place is not None and (place.file, place.line) != shown:
            shown = place.file, place.line
            left = f"{place.line:4} {place.text}"
        rows.append((left.rstrip(), line))
    width = max(len(left) for left, _ in rows)
    return "\n".join(f"{left:{width}} | {line}".rstrip() for left, line in rows)
