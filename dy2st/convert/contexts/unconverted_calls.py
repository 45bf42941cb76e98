"""Calls of code of the user's that runs as it is: without source, or marked `not_to_static`.

What it asks of values is looked at before (`unseen`). What it draws, reads of the world and does to it would be that of the first call for
ever, and a handler of its own could catch an error of tracing: so it is watched while it runs.
"""

from __future__ import annotations

import functools
import inspect
import pickle
import random
import sys
import types
from collections.abc import Callable, Generator, Iterable
from typing import Any

import numpy as np
from dy2st_runtime.errors import recorded_errors

from ...errors import StagedValueError
from ...tensor.location import is_own_code, user_location
from .. import roles
from ..purity.unconverted_code import require_plain
from ..purity.untraceable import FILES, OF_THE_MOMENT, done_once, is_done_once
from ..purity.world_reads import OF_THE_WORLD
from ..pyfacts.foreign import is_library
from ..trace.raising import is_of_tracing
from .printing import LOGGING, SHOWING, WARNINGS

ROLE = roles.ACTING

# what these tell is the same at each call, but for what nearly no program does
_TOLD = {issubclass, inspect.signature}
_ONCE = {f for f in (*OF_THE_MOMENT, *OF_THE_WORLD, *LOGGING, *SHOWING, *WARNINGS) if f not in _TOLD}
_CODES = {f.__code__: f for f in _ONCE if isinstance(f, types.FunctionType)}
_GENERATORS = (random._inst, np.random.mtrand._rand)  # type: ignore[attr-defined]  # of the functions of both modules


def call_as_it_is(f: types.FunctionType, reason: str, /, *args: Any, **kwargs: Any) -> Any:
    """Calls a function of the user's that is not converted.

    Args:
        reason: why it is not.

    Raises:
        StagedValueError: it asks, reads or does something that only the run can.
    """
    generators = require_plain(f, reason, args, kwargs)
    result = _watched(f, reason, generators, functools.partial(f, *args, **kwargs))
    return driven(f, reason, result) if isinstance(result, types.GeneratorType) and result.gi_code is f.__code__ else result


def driven(f: types.FunctionType, reason: str, items: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """The items of a generator, which is looked at each time that it is resumed."""
    resume: Callable[[Any], Any] = items.send
    given: Any = None
    while True:
        generators = require_plain(f, reason, (items, given), {})
        try:
            item = _watched(f, reason, generators, functools.partial(resume, given))
        except StopIteration as end:
            return end.value
        try:
            given = yield item
            resume = items.send
        except GeneratorExit:
            items.close()
            raise
        except BaseException as error:
            given, resume = error, items.throw


def code_of(items: Any) -> types.CodeType:
    """The code of a generator, behind what drives it."""
    if items.gi_code is driven.__code__ and items.gi_frame is not None:
        return items.gi_frame.f_locals["items"].gi_code  # type: ignore[no-any-return]
    return items.gi_code  # type: ignore[no-any-return]


def _watched(f: types.FunctionType, reason: str, generators: Iterable[Any], run: Callable[[], Any]) -> Any:
    """Runs code of a function that is not converted."""
    known = [*_GENERATORS, *generators]
    drawn, before = [*map(_state, known)], sys.getprofile()
    result: Any = None
    failed: Exception | None = None
    with recorded_errors() as made:
        if before is None:  # whoever looks at times does not look for what is found here
            sys.setprofile(_look)
        try:
            result = run()
        except Exception as raised:
            failed = raised
        finally:
            if before is None:
                sys.setprofile(None)
    for error in made:  # a handler of the user's is meant for none of these
        if is_of_tracing(error) and error.__traceback__ is not None and not is_own_code(error.__traceback__.tb_frame.f_code):
            raise error
    if drawn != [*map(_state, known)]:
        raise StagedValueError(
            f"{f.__name__!r} runs as it is, and draws random numbers, which would be the same at each call", location=user_location(3),
            hint=f"use dy2st.rand, randint, uniform or normal, or draw before the call; it is not converted, as {reason}",
        )  # fmt: skip
    if failed is None:
        return result
    try:
        raise failed
    finally:
        del failed  # which this frame would hold, and is held by


def _state(generator: Any) -> Any:
    """How far a random generator is; None for one of the system, which is nowhere."""
    if isinstance(generator, random.SystemRandom):
        return None
    if isinstance(generator, random.Random):
        return generator.getstate()
    return pickle.dumps(generator.get_state() if isinstance(generator, np.random.RandomState) else generator.bit_generator.state)


def _look(frame: types.FrameType, event: str, called: Any) -> None:
    """Is told of each call.

    Raises:
        StagedValueError: code of the user's calls what each run would have to call.
    """
    owner: Any = None
    if event == "c_call":
        caller: types.FrameType | None = frame
        owner = getattr(called, "__self__", None)
    elif event == "call":
        caller, called = frame.f_back, _CODES.get(frame.f_code)
    if event not in ("c_call", "call") or caller is None or is_library(caller.f_globals.get("__name__")):
        return
    name = frame.f_code.co_name if called is None else getattr(called, "__name__", "")
    if event == "call" and is_library(frame.f_globals.get("__name__")) and frame.f_code.co_argcount:
        owner = frame.f_locals.get(frame.f_code.co_varnames[0])
    if called is not None and called in _ONCE:
        raise done_once(f"{name}(), which code calls that runs as it is,", "call it outside of the static function, or in converted code")
    if isinstance(owner, FILES) and owner is not sys.stdout and owner is not sys.stderr:
        return  # whose contents are followed
    if owner is not None and not isinstance(owner, types.ModuleType) and is_done_once(owner, name):
        raise done_once(f"{name}() of a {type(owner).__name__}, which code calls that runs as it is,",
                        "call it outside of the static function")  # fmt: skip
