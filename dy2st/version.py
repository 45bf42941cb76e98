"""Which version of PaddlePaddle this package stands for, for code that asks before it calls. That of dy2st is `dy2st.__version__`."""

from __future__ import annotations

from . import __version__ as _of_dy2st
from .missing_names import explain_missing as _explain_missing

full_version = "2.6.2"
"""The version whose names are here (docs/reference/paddle-api.md)."""
major, minor, patch = full_version.split(".")
rc = "0"
commit = f"dy2st {_of_dy2st}"
cuda_version = cudnn_version = xpu_version = xpu_xccl_version = "False"
with_mkl = "OFF"


def cuda() -> str:
    """The CUDA that kernels are compiled with ahead of time: "False", as there are none."""
    return cuda_version


def cudnn() -> str:
    """The cuDNN that is used: "False", as none is."""
    return cudnn_version


def nccl() -> str:
    """The NCCL that is used: "0", as none is."""
    return "0"


def xpu() -> str:
    """The XPU library that is used: "False", as none is."""
    return xpu_version


def xpu_xccl() -> str:
    """The XCCL that is used: "False", as none is."""
    return xpu_xccl_version


def mkl() -> str:
    """Whether Intel's MKL is used: "OFF"."""
    return with_mkl


def show() -> None:
    """Prints the versions, as PaddlePaddle does.

    >>> show()
    full_version: 2.6.2
    major: 2
    minor: 6
    patch: 2
    rc: 0
    cuda: False
    cudnn: False
    xpu: False
    xpu_xccl: False
    """
    for name in ("full_version", "major", "minor", "patch", "rc"):
        print(f"{name}: {globals()[name]}")
    for name in ("cuda", "cudnn", "xpu", "xpu_xccl"):
        print(f"{name}: {globals()[name]()}")


_explain_missing(__name__)
