"""`static.amp`: where ops of a Program may compute in float16. Each tensor keeps its dtype here."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..missing_names import explain_missing as _explain_missing


@contextlib.contextmanager
def fp16_guard() -> Iterator[None]:
    """Marks ops that may compute in float16, if an optimizer asks for it, which none does here: nothing changes in the block."""
    yield


_explain_missing(__name__)
