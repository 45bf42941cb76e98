"""Models on disk, in PaddlePaddle's formats. A model file is data: reading one never executes anything."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .inference_model import InferenceModel as InferenceModel
    from .inference_model import load_inference_model as load_inference_model
    from .inference_model import save_inference_folder as save_inference_folder
    from .inference_model import save_inference_model as save_inference_model
    from .paddle_program import program_from_bytes as program_from_bytes
    from .paddle_program import program_to_bytes as program_to_bytes
    from .paddle_program import program_to_text as program_to_text
    from .paddle_program import variable_to_text as variable_to_text

# imported when they are asked for: protobuf takes a while
_HOMES = {
    "InferenceModel": "inference_model",
    "load_inference_model": "inference_model",
    "save_inference_folder": "inference_model",
    "save_inference_model": "inference_model",
    "program_from_bytes": "paddle_program",
    "program_to_bytes": "paddle_program",
    "program_to_text": "paddle_program",
    "variable_to_text": "paddle_program",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value
