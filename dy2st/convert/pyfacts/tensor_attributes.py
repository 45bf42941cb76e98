"""Attributes that users give tensors, beside those that every tensor has."""

from __future__ import annotations

from typing import Any

from ...errors import StructureError
from ...tensor import Tensor
from ...tensor.location import user_location

# what a tensor itself is made of; other attributes are of whoever has set them
OF_TENSORS = {n for n in vars(Tensor) if n.startswith("_")} | Tensor.__annotations__.keys()
# those, and what layers set of their buffers
_OWN = OF_TENSORS | {"persistable"}


def attributes_of_tensor(t: Tensor) -> dict[str, Any]:
    """Those that users have given a tensor. (Our own subclasses have others.)"""
    if type(t) is not Tensor or vars(t).keys() <= _OWN:
        return {}
    return {n: x for n, x in vars(t).items() if n not in _OWN}


def require_bare(t: Tensor) -> None:
    """StructureError if a tensor of the trace that becomes one of several, as only the run knows, has such attributes: what it
    becomes has none."""
    if t.is_symbolic and (found := attributes_of_tensor(t)):
        raise StructureError(
            f"a tensor with the attribute {next(iter(found))!r} is one of several, as only the run knows",
            location=user_location(), hint="keep what the attribute says in a variable",
        )  # fmt: skip
