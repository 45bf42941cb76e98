"""Sharded training, in one process: model and optimizer as they are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..errors import AttributeValueError
from ..framework.io import save
from ..missing_names import explain_missing as _explain_missing
from .environment import require_one_process


def group_sharded_parallel(model: Any, optimizer: Any, level: str, scaler: Any = None, **options: Any) -> tuple[Any, Any, Any]:
    """A model and its optimizer, whose states are divided among processes: in one process, as they are.

    Args:
        model, optimizer, scaler: what is given back.
        level: "os", "os_g" or "p_g_os".
        options: accepted as PaddlePaddle has them.

    Raises:
        AttributeValueError: there is no such level.
        WorldError: the environment says that there are several processes.
    """
    require_one_process()
    if level not in ("os", "os_g", "p_g_os"):
        raise AttributeValueError(f"level must be 'os', 'os_g' or 'p_g_os', got {level!r}")
    return model, optimizer, scaler


def save_group_sharded_model(model: Any, output: str | os.PathLike[str], optimizer: Any = None) -> None:
    """Writes `model.pdmodel` into a folder, and with an optimizer `model.pdopt`: state dicts, under the names that PaddlePaddle gives them.

    Args:
        model: a Layer.
        output: the folder, which is made if needed.
        optimizer: whose state is written, or None.
    """
    require_one_process()
    save(model.state_dict(), Path(output) / "model.pdmodel")
    if optimizer is not None:
        save(optimizer.state_dict(), Path(output) / "model.pdopt")


_explain_missing(__name__)
