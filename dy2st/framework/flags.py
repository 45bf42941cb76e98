"""`set_flags` and `get_flags`: the switches of PaddlePaddle's that there are here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from dy2st_runtime import config

from ..errors import AttributeValueError
from ..tensor import nonfinite


class _Known(NamedTuple):
    """A flag: what it is now, what it can be, and what sets it."""

    now: Callable[[], Any]
    values: tuple[Any, ...]
    set: Callable[[Any], None]


_FLAGS = {
    "FLAGS_check_nan_inf": _Known(config.CHECK_NAN_INF.get, (False, True), lambda value: nonfinite.watch(bool(value))),
    "FLAGS_check_nan_inf_level": _Known(config.CHECK_NAN_INF_LEVEL.get, (0, 1), lambda value: config.CHECK_NAN_INF_LEVEL.set(int(value))),
}


def set_flags(flags: Mapping[str, Any]) -> None:
    """Sets switches for the whole process.

    Args:
        flags: `FLAGS_check_nan_inf`: True or 1 looks at what each op makes, forward and backward, in eager mode and in static calls, which
            then run op by op. The first op that makes a NaN or an infinity is a NonFiniteError at the user's line. Switched off it costs
            nothing. `FLAGS_check_nan_inf_level`: 0 (the error), or 1 (a warning for each line). The environment variables of these names
            set them too.

    Raises:
        AttributeValueError: there is no such flag, or it has no such value; then none is set.

    >>> import dy2st as paddle
    >>> paddle.set_flags({"FLAGS_check_nan_inf": True})
    >>> try:
    ...     paddle.to_tensor([1.0, 0.0]).log()
    ... except FloatingPointError as error:
    ...     print(str(error).splitlines()[0])
    [D2S018] log makes 1 infinite of 2 values, in its output Out (float32[2])
    >>> paddle.set_flags({"FLAGS_check_nan_inf": False})
    """
    if not isinstance(flags, Mapping):
        raise AttributeValueError(f"set_flags takes a dict, not a {type(flags).__name__}", hint='set_flags({"FLAGS_check_nan_inf": True})')
    for name, value in flags.items():
        if value not in _known(name).values:
            values = " or ".join(map(repr, _known(name).values))
            raise AttributeValueError(f"{name} cannot be {value!r}", hint=f"give it {values}")
    for name, value in flags.items():
        _known(name).set(value)


def get_flags(flags: str | Sequence[str]) -> dict[str, Any]:
    """The values of switches.

    Args:
        flags: a name, or several.

    Raises:
        AttributeValueError: there is no such flag.

    >>> get_flags("FLAGS_check_nan_inf_level")
    {'FLAGS_check_nan_inf_level': 0}
    """
    return {name: _known(name).now() for name in ([flags] if isinstance(flags, str) else flags)}


def _known(name: str) -> _Known:
    found = _FLAGS.get(name)
    if found is None:
        raise AttributeValueError(f"there is no flag {name!r} here", hint=f"the flags are {', '.join(_FLAGS)}")
    return found


if config.CHECK_NAN_INF.get():  # by the environment
    nonfinite.watch(True)
