"""Devices: which there are, and which is used."""

from __future__ import annotations

from .framework.place import get_device as get_device
from .framework.place import is_compiled_with_cuda as is_compiled_with_cuda
from .framework.place import set_device as set_device
from .missing_names import explain_missing as _explain_missing

_explain_missing(__name__)
