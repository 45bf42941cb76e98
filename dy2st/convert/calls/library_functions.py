"""Functions of NumPy and of modules of Python that look at values themselves, or call what they are given."""

from __future__ import annotations

import contextlib
import functools
import math
import struct
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import Dy2stError, StagedValueError
from ...tensor import Tensor
from ...tensor.location import user_location
from .. import hub, roles
from ..contexts.context_managers import follow
from ..hub import is_staged, need_tracer
from ..values.symbolic_texts import StagedText, require_known
from ..values.trees import flatten

ROLE = roles.ACTING

# what the functions of NumPy are called here, where that is another name
_NAMES = {"absolute": "abs", "fabs": "abs", "concatenate": "concat", "power": "pow", "array": "to_tensor", "asarray": "to_tensor"}


def of_numpy(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A function of NumPy, which wants values.

    Raises:
        StagedValueError: only the run knows them; the hint names the function for tensors.
    """
    if f in _OF_CLASSES:
        args = tuple(hub.type_(x)() if isinstance(x, Tensor) and x._weak else x for x in args)
    if f is np.prod and len(args) == 1 and not kwargs and _are_numbers(args[0]):
        return math.prod(args[0])
    for array in _written(f, args, kwargs):
        if isinstance(array, np.ndarray):
            need_tracer("a function of NumPy").about_to_be_called(array)
    try:
        return f(*args, **kwargs)
    except StagedValueError as error:
        name = f.__name__
        own = getattr(sys.modules["dy2st"], _NAMES.get(name, name), None)
        use = f"use paddle.{_NAMES.get(name, name)}" if callable(own) else "use the functions of paddle for tensors"
        number = f", or math.{name} for a number" if hasattr(math, name) else ""
        raise StagedValueError(
            error.message.replace("numpy.asarray()", f"np.{name}()"),
            location=error.location, hint=use + number,
        ) from None  # fmt: skip
    except (TypeError, ValueError) as error:
        if isinstance(error, Dy2stError) or not _any_staged(args, kwargs):
            raise
        raise _needs_numbers(f) from None


def _are_numbers(values: Any) -> bool:
    """Whether these are numbers of Python, of which only the run knows one: the sizes of a tensor, say."""
    return _any_staged((values,), {}) and isinstance(values, (list, tuple)) and all(
        type(v) in (int, float, bool) or (isinstance(v, Tensor) and v._weak and v._kinds is None) for v in values)  # fmt: skip


# what these say is the same for all numbers of a class
_OF_CLASSES = (np.isscalar, np.shape, np.ndim, np.size, np.iterable, np.isrealobj, np.iscomplexobj)

# of these the first argument changes
_IN_PLACE = {"fill_diagonal", "place", "put", "putmask", "copyto", "put_along_axis"}


def _written(f: Any, args: tuple, kwargs: dict[str, Any]) -> list[Any]:
    """What a function of NumPy writes its result to."""
    out = kwargs.get("out")
    found = list(out) if isinstance(out, tuple) else [out]
    if isinstance(f, np.ufunc):
        found += args[f.nin :]
    return found + list(args[:1]) if getattr(f, "__name__", "") in _IN_PLACE else found


# modules of Python that look at the characters of texts, or make texts of values, in code that runs as it is
OF_TEXTS = {"re", "string", "fnmatch", "glob", "pathlib", "posixpath", "ntpath", "pprint", "reprlib", "shlex", "difflib", "unicodedata"}


# those whose classes, and methods of these, look at the texts that they are given
READING = {"decimal", "fractions", "datetime", "uuid", "ipaddress", "numpy", "_io", "zoneinfo"}
# and those that write numbers in another form; the others may ask who calls them
OF_BYTES = {"json", "_struct", "base64", "binascii", "marshal", "_csv"}


def home_of(f: Any) -> str | None:
    """The module of a function, or of the class that a method is of."""
    found = getattr(f, "__module__", None)
    if found is not None or not isinstance(f, types.BuiltinMethodType):
        return found
    return (f.__self__ if isinstance(f.__self__, type) else type(f.__self__)).__module__


def of_texts(f: Any, found: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A function of such a module; `found` is called in its place.

    Raises:
        StagedValueError: it is given a number, a tensor, or a text with one in it, that only the run knows.
    """
    if any(isinstance(x, StagedText) or is_staged(x) for x in flatten((args, kwargs))[0]):
        raise StagedValueError(
            f"{home_of(f)}.{getattr(f, '__name__', f)}() looks at a number, a tensor or a text that is only known when the program runs",
            location=user_location(2), hint="compare the number itself, choose with if and elif, or do it outside with what is returned",
        )  # fmt: skip
    return found(*args, **kwargs)


def reading_texts(f: Any, found: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A function, method or class of one of `READING`; `found` is called in its place.

    Raises:
        StagedValueError: it is given a text or a number that only the run knows.
    """
    require_known(*flatten((args, kwargs))[0])
    return _needing_numbers(f, found, args, kwargs)


def of_library(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A function of a library of Python's that looks at numbers itself.

    Raises:
        StagedValueError: only the run knows them.
    """
    found = functools.partial(calling, f) if home_of(f) == "itertools" else f
    return _needing_numbers(f, found, args, kwargs)


def of_math(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A function of `math` that is not known for numbers of the run.

    Raises:
        StagedValueError: it is given one.
    """
    try:
        return f(*args, **kwargs)
    except (TypeError, ValueError):  # also what our own numbers say of `__float__` and `__index__`
        if not _any_staged(args, kwargs):
            raise
        raise _needs_numbers(f) from None


def _needing_numbers(f: Any, found: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Calls `found` for `f`; what it raises about tensors that only the run knows is told in words of ours."""
    try:
        return found(*args, **kwargs)
    except (TypeError, ValueError, struct.error) as error:
        if isinstance(error, Dy2stError) or not _any_staged(args, kwargs):
            raise
        raise _needs_numbers(f) from None


def _any_staged(*arguments: Any) -> bool:
    return any(is_staged(x) for x in flatten(arguments)[0])


def _needs_numbers(f: Any) -> StagedValueError:
    name = f"{(home_of(f) or '').removeprefix('_')}.{f.__name__}".removeprefix("builtins.")
    return StagedValueError(
        f"{name}() needs numbers of Python, and is given what is only known when the program runs",
        location=user_location(3), hint="write it as a loop, or use the functions of paddle for tensors (zeros, mean, std, ...)",
    )  # fmt: skip


_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.MethodDescriptorType, types.MethodWrapperType,
              types.WrapperDescriptorType, functools.partial)  # fmt: skip


def calling(f: Callable, /, *args: Any, **kwargs: Any) -> Any:
    """Calls what itself calls the functions that it is given, and enters the managers, so that these are the converted ones."""

    def of(x: Any) -> Any:
        if isinstance(x, contextlib._GeneratorContextManager):
            follow(x)
        return hub.call(x) if isinstance(x, _FUNCTIONS) else x

    return f(*map(of, args), **{name: of(x) for name, x in kwargs.items()})
