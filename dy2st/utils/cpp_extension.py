"""Operators in C++ and CUDA, which are written in Python here: by `dy2st.custom_op`."""

from __future__ import annotations

from typing import Any, NoReturn

from ..errors import CustomOpError
from ..missing_names import explain_missing as _explain_missing


def _refuse(name: str) -> NoReturn:
    raise CustomOpError(f"{name}: operators in C++ cannot be compiled for dy2st",
                        hint="write the kernel in Python by dy2st.custom_op: docs/howto/custom-op.md")  # fmt: skip


def CppExtension(sources: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises a CustomOpError that names `dy2st.custom_op`."""
    _refuse("CppExtension")


def CUDAExtension(sources: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises a CustomOpError that names `dy2st.custom_op`."""
    _refuse("CUDAExtension")


def setup(**attr: Any) -> NoReturn:
    """Raises a CustomOpError that names `dy2st.custom_op`."""
    _refuse("setup")


def load(name: str, sources: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises a CustomOpError that names `dy2st.custom_op`."""
    _refuse("load")


def get_build_directory(verbose: bool = False) -> NoReturn:
    """Raises a CustomOpError that names `dy2st.custom_op`."""
    _refuse("get_build_directory")


_explain_missing(__name__)
