"""`paddle.inference`: saved models, run by way of handles. `dy2st_runtime.Predictor` runs them."""

from __future__ import annotations

from ..missing_names import explain_missing as _explain_missing
from .config import Config as Config
from .kinds import DataType as DataType
from .kinds import PlaceType as PlaceType
from .kinds import PrecisionType as PrecisionType
from .kinds import get_num_bytes_of_data_type as get_num_bytes_of_data_type
from .predictor import Predictor as Predictor
from .predictor import PredictorPool as PredictorPool
from .predictor import Tensor as Tensor
from .predictor import create_predictor as create_predictor


def get_version() -> str:
    """The versions as text, in PaddlePaddle's form.

    >>> print(get_version().splitlines()[0])
    version: 2.6.2
    """
    from ..version import commit, full_version

    return f"version: {full_version}\ncommit: {commit}\nbranch: HEAD\n"


def get_trt_compile_version() -> tuple[int, int, int]:
    """The TensorRT that this is compiled with: (0, 0, 0), as there is none."""
    return 0, 0, 0


def get_trt_runtime_version() -> tuple[int, int, int]:
    """The TensorRT that is used: (0, 0, 0), as none is."""
    return 0, 0, 0


_explain_missing(__name__)
