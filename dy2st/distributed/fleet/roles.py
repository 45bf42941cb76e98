"""What a process of a job does: it trains, as the only one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import WorldError
from ..environment import check_world, require_one_process


class Role:
    """The kinds of processes."""

    WORKER = 1
    SERVER = 2
    HETER_WORKER = 3
    ALL = 4
    COORDINATOR = 5


class PaddleCloudRoleMaker:
    """The role that the environment gives to a process: the only worker.

    Args:
        is_collective: whether there are no parameter servers; there are none in any case.
        options: accepted as PaddlePaddle has them.

    Raises:
        WorldError: the environment says that there are several processes.
    """

    def __init__(self, is_collective: bool = False, **options: Any):
        require_one_process()
        self._is_collective = is_collective

    def worker_index(self) -> int:
        return 0

    role_id = worker_index

    def worker_num(self) -> int:
        return 1

    def is_worker(self) -> bool:
        return True

    def is_first_worker(self) -> bool:
        return True

    def is_server(self) -> bool:
        return False

    def server_num(self) -> int:
        return 0


class UserDefinedRoleMaker(PaddleCloudRoleMaker):
    """The role that the user gives to a process, which can only be that of the only worker.

    Args:
        is_collective: see `PaddleCloudRoleMaker`.
        init_gloo: accepted as PaddlePaddle has it.
        current_id: 0.
        role: `Role.WORKER`.
        worker_num: 1; or `worker_endpoints`, with one address.
        server_endpoints: none.

    Raises:
        WorldError: there are more processes.
    """

    def __init__(self, is_collective: bool = False, init_gloo: bool = False, *, current_id: int = 0, role: int = Role.WORKER,
                 worker_num: int | None = None, worker_endpoints: Sequence[str] = (), server_endpoints: Sequence[str] = (),
                 **options: Any):  # fmt: skip
        super().__init__(is_collective, **options)
        check_world(max(1, len(worker_endpoints)) if worker_num is None else worker_num, "the role")
        if current_id != 0 or role != Role.WORKER or server_endpoints:
            raise WorldError("the role is that of another process than the only worker", hint="leave the parameter servers out")
