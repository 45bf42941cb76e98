"""`try_import`: a module that may not be installed."""

from __future__ import annotations

import importlib
from types import ModuleType


def try_import(module_name: str, err_msg: str | None = None) -> ModuleType:
    """Imports a module by its name.

    Args:
        module_name: dotted.
        err_msg: the text of the error.

    Raises:
        ImportError: it is not installed.

    >>> try_import("math").floor(1.5)
    1
    """
    try:
        return importlib.import_module(module_name)
    except ImportError as error:
        text = f"{module_name!r} cannot be imported; install it, by `pip install {module_name.partition('.')[0]}` as a rule"
        raise ImportError(err_msg or text, name=module_name) from error
