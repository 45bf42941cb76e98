"""What the rest of the front end stands on: places, default dtype, names on disk."""

import importlib as _importlib
from typing import Any as _Any

from ..missing_names import missing as _missing

# PaddlePaddle has these here too; they stand on this package, so they are imported when they are asked for
_ELSEWHERE = {
    "ParamAttr": "nn.param_attr",
    "no_grad": "tensor.autograd",
    "in_dynamic_mode": "tensor.dispatch",
    "seed": "tensor.random",
    "load": "framework.io",
    "save": "framework.io",
    "get_default_dtype": "framework.dtype",
    "set_default_dtype": "framework.dtype",
    "CPUPlace": "framework.place",
    "CUDAPlace": "framework.place",
}


def __getattr__(name: str) -> _Any:
    if name not in _ELSEWHERE:
        raise _missing(__name__, name)
    return getattr(_importlib.import_module(f"{__name__.rpartition('.')[0]}.{_ELSEWHERE[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_ELSEWHERE})
