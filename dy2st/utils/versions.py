"""`require_version`: is this PaddlePaddle new enough?"""

from __future__ import annotations

import re

_FORM = re.compile(r"\d+(\.\d+){0,3}")


def require_version(min_version: str, max_version: str | None = None) -> None:
    """Nothing, if the version of PaddlePaddle whose names are here (`version.full_version`) is between two.

    Args:
        min_version, max_version: of one to four numbers, such as "2.4"; no upper one by default.

    Raises:
        TypeError: a version is no text.
        ValueError: it has another form.
        RuntimeError: this version is not between them.

    >>> require_version("2.0")
    """
    from ..version import full_version

    for name, version in (("min_version", min_version), ("max_version", max_version)):
        if not isinstance(version, str) and (name == "min_version" or version is not None):
            raise TypeError(f"{name} must be a str, got {version!r}")
        if version is not None and not _FORM.fullmatch(version):
            raise ValueError(f"{name} must have one to four numbers, like '2.4.0', got {version!r}")
    here = _numbers(full_version)
    if here < _numbers(min_version) or (max_version is not None and here > _numbers(max_version)):
        wanted = f"{min_version} or higher" if max_version is None else f"from {min_version} to {max_version}"
        raise RuntimeError(f"PaddlePaddle {wanted} is required; dy2st has the names of {full_version}")


def _numbers(version: str) -> tuple[int, ...]:
    """The four numbers of a version; those that it leaves out are 0."""
    found = [int(number) for number in version.split(".")]
    return *found, *([0] * (4 - len(found)))
