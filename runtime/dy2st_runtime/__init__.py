"""dy2st's runtime: all that a deployed model needs. It never imports dy2st."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .custom import CustomOp as CustomOp
    from .custom import custom_op as custom_op
    from .executor.engines import get_engine as get_engine
    from .executor.engines import set_engine as set_engine
    from .formats import InferenceModel as InferenceModel
    from .formats import load_inference_model as load_inference_model
    from .formats import save_inference_model as save_inference_model
    from .predictor import Predictor as Predictor
    from .predictor import TensorInfo as TensorInfo
    from .threads import get_num_threads as get_num_threads
    from .threads import set_num_threads as set_num_threads

# imported when they are asked for: protobuf takes a while, and who trains does not need it
_HOMES = {
    "InferenceModel": "formats",
    "load_inference_model": "formats",
    "save_inference_model": "formats",
    "Predictor": "predictor",
    "TensorInfo": "predictor",
    "CustomOp": "custom",
    "custom_op": "custom",
    "get_engine": "executor.engines",
    "set_engine": "executor.engines",
    "get_num_threads": "threads",
    "set_num_threads": "threads",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *_HOMES]
