"""Variables of a program that are fed or kept: `data`, `create_global_var`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import unique_name
from ..errors import ModeError
from ..framework.dtype import convert_dtype, get_default_dtype
from ..tensor import Tensor, creation
from ..tensor.location import user_location
from .input_spec import sizes
from .program import default_main_program, default_startup_program, program_guard
from .recorder import ProgramRecorder


def data(name: str, shape: Sequence[int | None], dtype: Any = None, lod_level: int = 0) -> Tensor:
    """A variable that is fed.

    Args:
        name: unique in the program.
        shape: sizes; None or -1: any size.
        dtype: default: the default dtype.
        lod_level: 0; other levels are not supported.

    Returns:
        a symbolic Tensor with `stop_gradient=True`.

    Raises:
        ModeError: the program already has another variable of this name.
        ShapeError: a size is neither None, -1 nor a positive number.

    Example:
        >>> from dy2st import static
        >>> with static.program_guard(static.Program()):
        ...     static.data("x", [None, 784], "float32").shape
        [-1, 784]
    """
    found = sizes(shape, f"data {name!r}")
    if lod_level:
        raise ModeError(f"data {name!r}: lod_level {lod_level} is not supported", location=user_location())
    wanted = get_default_dtype() if dtype is None else convert_dtype(dtype)
    block = default_main_program().global_block()
    v = block.vars.get(name)
    if v is None:
        v = block.create_var(name, wanted, found, is_data=True, stop_gradient=True)
        v.info["location"] = user_location()
    elif not v.is_data or (v.dtype, list(v.shape)) != (wanted, found):
        raise ModeError(f"the program already has a variable {name!r}: {v.type}", location=user_location(),
                        hint="give it another name, or build in a new Program")  # fmt: skip
    return Tensor.wrap(v)


def create_global_var(shape: Sequence[int], value: float, dtype: Any, persistable: bool = False,
                      force_cpu: bool = False, name: str | None = None) -> Tensor:  # fmt: skip
    """A variable of the global block that the startup program sets to a value.

    Args:
        shape: list of ints.
        value: of all elements.
        dtype: name of the dtype.
        persistable: kept for PaddlePaddle's signature: a variable that startup sets always lives between runs.
        name: default: a unique one.
    """
    wanted, name = convert_dtype(dtype), name or unique_name.generate("global_var")
    main, startup = default_main_program(), default_startup_program()
    v = main.global_block().create_var(name, wanted, list(shape), persistable=True, stop_gradient=True)
    target = startup.global_block().create_var(name, wanted, list(shape), persistable=True)
    state = Tensor.wrap(target)
    state.persistable = True
    with program_guard(startup):
        recorder = ProgramRecorder(lambda: startup.global_block())
        recorder.rebind(state, creation.full(list(shape), value, wanted))
    t = Tensor.wrap(v)
    t.persistable, t._name = True, name
    return t
