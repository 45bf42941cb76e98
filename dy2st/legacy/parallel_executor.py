"""`fluid.ParallelExecutor`: an Executor of one Program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dy2st_runtime.scope import Scope

from ..errors import WorldError
from ..framework.place import CPUPlace, CUDAPlace
from ..static.executor import Executor
from ..static.program import Program, default_main_program


class ParallelExecutor:
    """Runs one Program, on one place: a batch is not divided among devices.

    Args:
        use_cuda: whether that is the first GPU.
        loss_name, share_vars_from, exec_strategy, build_strategy: without effect.
        main_program: default: the default main program.
        num_trainers, trainer_id: 1 and 0.
        scope: holds the persistable variables; default: the global scope.

    Raises:
        WorldError: there are more trainers.
        DeviceError: a GPU is wanted, and none can be used.
    """

    device_count = 1

    def __init__(self, use_cuda: bool, loss_name: str | None = None, main_program: Program | None = None, share_vars_from: Any = None,
                 exec_strategy: Any = None, build_strategy: Any = None, num_trainers: int = 1, trainer_id: int = 0,
                 scope: Scope | None = None):  # fmt: skip
        if num_trainers != 1 or trainer_id != 0:
            raise WorldError(f"trainer {trainer_id} of {num_trainers} cannot be had: dy2st trains in one process")
        self._program = default_main_program() if main_program is None else main_program
        self._executor, self._scope = Executor(CUDAPlace(0) if use_cuda else CPUPlace()), scope

    def run(self, fetch_list: Sequence[Any], feed: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
            feed_dict: Mapping[str, Any] | None = None, return_numpy: bool = True) -> list[Any]:  # fmt: skip
        """Runs the Program once.

        Args:
            fetch_list: variables, or their names.
            feed: an array for each data variable, by name; or a list of one such dict.
            feed_dict: the same under another name.
            return_numpy: False: Tensors instead of arrays.

        Raises:
            WorldError: there are dicts for several devices.
        """
        given = feed if feed is not None else feed_dict
        if isinstance(given, Sequence):
            if len(given) != 1:
                raise WorldError(f"a Program runs on one device, got feeds for {len(given)}")
            given = given[0]
        return self._executor.run(self._program, given, fetch_list, scope=self._scope, return_numpy=return_numpy)

    def drop_local_exe_scopes(self) -> None:
        """Nothing: values of a run are kept by nobody."""
