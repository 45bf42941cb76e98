"""The processes of a job, of which there is one: ranks, the environment that a launcher sets, and groups."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Any

from ..errors import AttributeValueError, WorldError

# what PaddlePaddle's launcher tells a process
_COUNT, _DEVICES = "PADDLE_TRAINERS_NUM", "FLAGS_selected_gpus"


def require_one_process() -> None:
    """Nothing, in a job of one process.

    Raises:
        WorldError: `PADDLE_TRAINERS_NUM` says that there are more.
    """
    count = os.environ.get(_COUNT) or "1"
    if count != "1":
        raise WorldError(f"the job has {count} processes ({_COUNT}), dy2st trains in one",
                         hint=f"start the script by itself, with {_COUNT} unset")  # fmt: skip


def check_world(count: int, what: str) -> None:
    """Nothing, if `what` is content with one process.

    Raises:
        WorldError: it asks for another number of them.
    """
    if count != 1:
        raise WorldError(f"{what} asks for {count} processes, dy2st trains in one", hint="ask for 1")


def check_peer(rank: int, what: str) -> None:
    """Nothing, if a rank is that of the one process.

    Raises:
        WorldError: there is no such process.
    """
    if rank != 0:
        raise WorldError(f"{what} is the process {rank!r}, and the only one is 0")


class Group:
    """Processes that compute together; here always the one.

    Attributes:
        id: the number of the group; `get_group` finds it by that.
        ranks: of its processes in the job.
        rank, nranks, world_size: of this process in the group, and the number of processes.
    """

    def __init__(self, id: int, ranks: Sequence[int], name: str | None = None):
        self.id, self.ranks = id, list(ranks)
        self._name = name or f"_default_pg{id}"

    @property
    def name(self) -> str:
        return self._name

    @property
    def rank(self) -> int:
        return 0

    @property
    def nranks(self) -> int:
        return 1

    world_size = nranks

    @property
    def process_ids(self) -> list[int]:
        return self.ranks

    def is_member(self) -> bool:
        """Whether this process is in the group."""
        return True

    def get_group_rank(self, rank: int) -> int:
        """The rank in the group of a process of the job; -1 if it is not in it."""
        return self.ranks.index(rank) if rank in self.ranks else -1

    def __repr__(self) -> str:
        return f"rank: {self.rank}, nranks: {self.nranks}, id: {self.id}, ranks: {', '.join(map(str, self.ranks))}; name: {self.name}"


_FIRST = 10  # PaddlePaddle counts its users' groups from here
_groups: dict[int, Group] = {0: Group(0, [0])}


def new_group(ranks: Sequence[int] | None = None, backend: str | None = None, timeout: Any = None, **options: Any) -> Group:
    """A group of processes.

    Args:
        ranks: None or [0].
        backend, timeout, options: accepted as PaddlePaddle has them; one process exchanges nothing.

    Raises:
        WorldError: there is another rank among them.

    >>> new_group([0]).nranks
    1
    """
    require_one_process()
    for rank in ranks or ():
        check_peer(rank, "a member of the group")
    number = max(_FIRST, *(n + 1 for n in _groups))
    _groups[number] = Group(number, [0])
    return _groups[number]


def get_group(id: int = 0) -> Group:
    """The group of a number; 0 is that of all processes.

    Raises:
        AttributeValueError: there is none.
    """
    require_one_process()
    if id not in _groups:
        raise AttributeValueError(f"there is no group {id!r}")
    return _groups[id]


def destroy_process_group(group: Group | None = None) -> None:
    """Forgets a group; without one, or with that of all processes, all that `new_group` has made."""
    require_one_process()
    if group is None or group.id == 0:
        _groups.clear()
        _groups[0] = Group(0, [0])
    else:
        _groups.pop(group.id, None)


def get_rank(group: Group | None = None) -> int:
    """The number of this process: 0.

    Raises:
        WorldError: the environment says that there are several processes.
    """
    require_one_process()
    return 0


def get_world_size(group: Group | None = None) -> int:
    """The number of processes: 1.

    Raises:
        WorldError: the environment says that there are several processes.
    """
    require_one_process()
    return 1


def get_backend(group: Group | None = None) -> str:
    """What moves data between processes: "GLOO", as on any CPU in PaddlePaddle. One process moves none."""
    require_one_process()
    return "GLOO"


def init_parallel_env(nccl_config: Any = None) -> Group:
    """Does nothing in a job of one process, and gives the group of it.

    Raises:
        WorldError: the environment says that there are several processes.
    """
    return get_group()


def is_initialized() -> bool:
    """Whether processes are connected: False, as in PaddlePaddle when there is one."""
    require_one_process()
    return False


def is_available() -> bool:
    """Whether this package is usable: True."""
    return True


class ParallelEnv:
    """What a process knows of its job.

    Attributes:
        rank, local_rank: its number: 0.
        world_size, nranks: the number of processes: 1.
        device_id, dev_id: the number of its device: the first of `FLAGS_selected_gpus`, or 0.
        device_type: "" on the CPU, as in PaddlePaddle.
        current_endpoint, trainer_endpoints: addresses that the launcher has given, for other processes.
        nrings: 1. `pg_timeout`: milliseconds, which nobody waits.

    Raises:
        WorldError: the environment says that there are several processes.

    >>> env = ParallelEnv()
    >>> env.rank, env.world_size
    (0, 1)
    """

    def __init__(self) -> None:
        require_one_process()
        self.rank = self.local_rank = 0
        self.world_size = self.nranks = self.nrings = 1
        chosen = os.environ.get(_DEVICES, "").split(",")[0]
        self.device_id = self.dev_id = int(chosen) if chosen.isdecimal() else 0
        self.device_type = ""
        self.current_endpoint = os.environ.get("PADDLE_CURRENT_ENDPOINT", "")
        self.trainer_endpoints = os.environ.get("PADDLE_TRAINER_ENDPOINTS", "").split(",")
        self.pg_timeout = 1_800_000


class ParallelMode:
    """How the work of a model is divided; here it never is."""

    DATA_PARALLEL = 0
    TENSOR_PARALLEL = 1
    PIPELINE_PARALLEL = 2
    SHARDING_PARALLEL = 3
    SEGMENT_PARALLEL = 4


@contextlib.contextmanager
def nothing_to_exchange() -> Iterator[None]:
    """What surrounds code whose gradients are not exchanged: in one process, nothing."""
    yield
