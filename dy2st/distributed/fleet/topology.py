"""How the processes of a job are arranged, and the groups that follow from it; here each has one process."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Sequence
from typing import Any

from ...errors import AttributeValueError
from ..environment import Group, ParallelMode, check_world

_NAMES = ("data", "pipe", "sharding", "sep", "model")


class CommunicateTopology:
    """A grid of ranks with named axes.

    Args:
        hybrid_group_names: of the axes.
        dims: their lengths.

    >>> grid = CommunicateTopology(["data", "model"], [2, 3])
    >>> grid.world_size(), grid.get_rank(data=1, model=0), grid.get_comm_list("data")
    (6, 3, [[0, 3], [1, 4], [2, 5]])
    """

    def __init__(self, hybrid_group_names: Sequence[str] = _NAMES, dims: Sequence[int] = (1, 1, 1, 1, 1)):
        if len(hybrid_group_names) != len(dims):
            raise AttributeValueError(f"{len(hybrid_group_names)} axes cannot have {len(dims)} lengths")
        self._names, self._dims = list(hybrid_group_names), list(dims)
        make: Any = collections.namedtuple  # its names are only known here
        self.coordinate = make("Coordinate", self._names)
        self._places: list[Any] = [self.coordinate(*at) for at in itertools.product(*map(range, self._dims))]

    def get_hybrid_group_names(self) -> list[str]:
        """The names of the axes."""
        return self._names

    def get_dim(self, axis_name: str) -> int:
        """The length of an axis."""
        return self._dims[self._names.index(axis_name)]

    get_dim_size = get_dim

    def world_size(self) -> int:
        """The number of processes."""
        return len(self._places)

    def get_rank(self, **args: int) -> int:
        """The rank at a place, which has a number for each axis."""
        return self._places.index(self.coordinate(**args))

    def get_coord(self, rank: int) -> Any:
        """The place of a rank, as a named tuple."""
        return self._places[rank]

    def get_axis_list(self, axis_name: str, index: int) -> list[int]:
        """The ranks whose place on an axis is `index`."""
        return [rank for rank, at in enumerate(self._places) if getattr(at, axis_name) == index]

    def get_comm_list(self, axis_name: str) -> list[list[int]]:
        """The groups of ranks that differ in one axis only."""
        return self._groups([axis_name])

    def get_fused_ranks(self, fused_axis: Sequence[str]) -> list[list[int]]:
        """The groups of ranks that differ in some axes only."""
        return self._groups(fused_axis)

    def get_rank_from_stage(self, global_rank: int, **kwargs: int) -> int:
        """The rank at the place of another one, but for the given axes."""
        return self.get_rank(**{**self.get_coord(global_rank)._asdict(), **kwargs})

    def _groups(self, axes: Sequence[str]) -> list[list[int]]:
        found: dict[tuple[int, ...], list[int]] = {}
        for rank, at in enumerate(self._places):
            found.setdefault(tuple(x for name, x in at._asdict().items() if name not in axes), []).append(rank)
        return list(found.values())


class HybridCommunicateGroup:
    """The groups of this process, one for each kind of parallelism; each has it alone.

    Args:
        topology: of one process.

    Raises:
        WorldError: the topology has more.
    """

    def __init__(self, topology: CommunicateTopology | None = None):
        self._topo = CommunicateTopology() if topology is None else topology
        check_world(self._topo.world_size(), "the topology")

    def topology(self) -> CommunicateTopology:
        """The grid of ranks."""
        return self._topo

    def get_parallel_mode(self) -> int:
        """`ParallelMode.DATA_PARALLEL`, as in PaddlePaddle when nothing is divided."""
        return ParallelMode.DATA_PARALLEL

    def get_global_rank(self) -> int:
        """0."""
        return 0

    def get_stage_id(self) -> int:
        """The part of a pipeline that this process has: 0, the only one."""
        return 0

    def get_rank_from_stage(self, stage_id: int, **kwargs: int) -> int:
        """The rank that has a part of the pipeline."""
        return self._topo.get_rank_from_stage(0, pipe=stage_id, **kwargs)

    def get_check_parallel_group(self, sharding: bool = False) -> Group:
        """The group that checks gradients for infinities."""
        return Group(0, [0])

    # ---- of each kind of parallelism ----
    def get_data_parallel_group(self) -> Group:
        """The group of one kind of parallelism: this process."""
        return Group(0, [0])

    def get_data_parallel_rank(self) -> int:
        """The rank in the group of one kind of parallelism: 0."""
        return 0

    def get_data_parallel_world_size(self) -> int:
        """The size of the group of one kind of parallelism: 1."""
        return 1

    get_model_parallel_group = get_sharding_parallel_group = get_sep_parallel_group = get_pipe_parallel_group = get_data_parallel_group
    get_model_parallel_rank = get_sharding_parallel_rank = get_sep_parallel_rank = get_data_parallel_rank
    get_model_parallel_world_size = get_sharding_parallel_world_size = get_data_parallel_world_size
    get_sep_parallel_world_size = get_pipe_parallel_world_size = get_data_parallel_world_size
    get_data_parallel_group_src_rank = get_model_parallel_group_src_rank = get_data_parallel_rank
    get_sharding_parallel_group_src_rank = get_sep_parallel_group_src_rank = get_data_parallel_rank
