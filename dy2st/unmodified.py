"""`python -m dy2st run`: a script that imports `paddle` runs as it is, on dy2st."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Sequence

from .alias import install_as_paddle


def run_script(path: str, arguments: Sequence[str]) -> None:
    """Runs a file as `python path arguments` does, with `import paddle` giving dy2st.

    Raises:
        OSError: the file cannot be read.
        Exception: what the script raises, SystemExit among them.
    """
    install_as_paddle()
    run_as_main(path, arguments)


def run_as_main(path: str, arguments: Sequence[str]) -> None:
    """Runs a file as `__main__`, with its arguments in `sys.argv`, and the modules beside it to be found first."""
    sys.argv[:] = [path, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    runpy.run_path(path, run_name="__main__")


def run_module(name: str, arguments: Sequence[str]) -> None:
    """Runs a module as `python -m name arguments` does, with `import paddle` giving dy2st.

    Raises:
        ImportError: there is no such module.
        Exception: what the module raises, SystemExit among them.
    """
    install_as_paddle()
    sys.argv[:] = [name, *arguments]  # Python puts the module's file in place of its name
    runpy.run_module(name, run_name="__main__", alter_sys=True)
