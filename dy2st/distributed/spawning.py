"""Starting a job: one process, the one that is there."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..unmodified import run_as_main
from .environment import check_world, require_one_process

_NO_NUMBER = -1


class FinishedContext:
    """What `spawn` gives: the handle of processes that are done."""

    processes: tuple[Any, ...] = ()

    def join(self, timeout: float | None = None) -> bool:
        """True: they are done."""
        return True


def spawn(func: Callable[..., Any], args: Iterable[Any] = (), nprocs: int = _NO_NUMBER, join: bool = True, daemon: bool = False,
          **options: Any) -> FinishedContext:  # fmt: skip
    """Calls a function in this process, where PaddlePaddle starts one process for each device.

    Args:
        func: what trains.
        args: its positional arguments.
        nprocs: 1, or -1 for the number of devices, which counts as 1.
        join, daemon, options: accepted as PaddlePaddle has them.

    Raises:
        WorldError: more than one process is asked for.

    >>> context = spawn(print, ("trained",), nprocs=1)
    trained
    """
    require_one_process()
    check_world(1 if nprocs == _NO_NUMBER else nprocs, "nprocs of spawn")
    func(*args)
    return FinishedContext()


def launch(argv: Sequence[str] | None = None) -> None:
    """What `python -m dy2st.distributed.launch` does: runs a script in this process, as `__main__`.

    Args:
        argv: the options of PaddlePaddle's launcher, the script and its arguments; default: those of the command line. Options for
            machines and devices have no effect, as long as they ask for one process.

    Raises:
        WorldError: more than one process is asked for.
    """
    parser = argparse.ArgumentParser("dy2st.distributed.launch", allow_abbrev=False)
    for name in _COUNTS:
        parser.add_argument(name, default="1")
    for name in _LISTS:
        parser.add_argument(name, default="")
    for name in _OTHERS:
        parser.add_argument(name)
    parser.add_argument("training_script")
    parser.add_argument("training_script_args", nargs=argparse.REMAINDER)
    given = parser.parse_args(None if argv is None else list(argv))
    require_one_process()
    for name in _COUNTS:
        least = str(getattr(given, name[2:])).partition(":")[0]
        check_world(int(least) if least.isdecimal() else 1, name)
    for name in _LISTS:
        check_world(max(1, len([d for d in getattr(given, name[2:]).split(",") if d])), name)
    run_as_main(given.training_script, given.training_script_args)


_COUNTS = ("--nnodes", "--nproc_per_node")
_LISTS = ("--gpus", "--devices", "--xpus", "--ips")
_OTHERS = ("--master", "--rank", "--log_level", "--run_mode", "--job_id", "--log_dir", "--host", "--backend")
