"""`Fleet`: a job, of one process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from ...errors import DTypeError, ModeError, WorldError
from ...nn import Layer
from ...tensor.dispatch import in_dynamic_mode
from ..environment import require_one_process
from .roles import PaddleCloudRoleMaker
from .strategy import DistributedStrategy
from .topology import HybridCommunicateGroup

_ADDRESS = "127.0.0.1:6170"  # what PaddlePaddle says of a worker that no launcher has started


class UtilBase:
    """What workers tell each other on the host; the only one has it all."""

    def all_reduce(self, input: Any, mode: str = "sum", comm_world: str = "worker") -> np.ndarray:
        """The sum, minimum or maximum over all workers: the value as an array."""
        return np.array(input)

    def all_gather(self, input: Any, comm_world: str = "worker") -> list[Any]:
        """The values of all workers."""
        return [input]

    def barrier(self, comm_world: str = "worker") -> None:
        """Waits for all workers: not at all."""

    def get_file_shard(self, files: list[str]) -> list[str]:
        """The part of the files that is this worker's: all."""
        if not isinstance(files, list):
            raise DTypeError(f"files must be a list, got {type(files).__name__}")
        return list(files)

    def print_on_rank(self, message: str, rank_id: int) -> None:
        """Prints a text, if this worker has the rank."""
        if rank_id == 0:
            print(message)


class Fleet:
    """A job of one process. `dy2st.distributed.fleet` has its methods as functions.

    Attributes:
        util: see `UtilBase`.
    """

    def __init__(self) -> None:
        self._role: Any = None
        self._strategy = DistributedStrategy()
        self.util = UtilBase()

    def init(self, role_maker: Any = None, is_collective: bool = False, strategy: DistributedStrategy | None = None,
             log_level: int | str = "INFO") -> Fleet:  # fmt: skip
        """Begins the job.

        Args:
            role_maker: of one worker; default: what the environment says.
            is_collective: without effect, as there are no parameter servers.
            strategy: that of `distributed_optimizer`, unless it is given another.
            log_level: without effect.

        Returns:
            this object.

        Raises:
            WorldError: the environment, the role or the strategy asks for several processes.
        """
        require_one_process()
        self._role = PaddleCloudRoleMaker(is_collective) if role_maker is None else role_maker
        self._strategy = DistributedStrategy() if strategy is None else strategy
        self._strategy.check_one_process()
        return self

    def distributed_model(self, model: Layer) -> Layer:
        """The model as it is.

        Raises:
            DTypeError: it is no Layer.
        """
        require_one_process()
        if not isinstance(model, Layer):
            raise DTypeError(f"distributed_model takes a Layer, got {type(model).__name__}")
        return model

    def distributed_optimizer(self, optimizer: Any, strategy: DistributedStrategy | None = None) -> Any:
        """The optimizer as it is.

        Args:
            optimizer: what is given back.
            strategy: default: that of `init`.

        Raises:
            WorldError: the strategy asks for several processes.
            ModeError: in static mode: it changes the values of the training. Say that to the optimizer itself.
        """
        require_one_process()
        wanted = self._strategy if strategy is None else strategy
        wanted.check_one_process()
        if not in_dynamic_mode() and (changing := wanted.changing()):
            raise ModeError(f"{changing[0]!r} of DistributedStrategy changes a Program, which is not supported",
                            hint="leave it out, and choose the optimizer and the step by hand")  # fmt: skip
        return optimizer

    def distributed_scaler(self, scaler: Any) -> Any:
        """The scaler of the loss as it is."""
        require_one_process()
        return scaler

    def get_hybrid_communicate_group(self) -> HybridCommunicateGroup:
        """The groups of this process."""
        return HybridCommunicateGroup()

    # ---- who this is ----
    def worker_index(self) -> int:
        """0."""
        require_one_process()
        return 0

    def worker_num(self) -> int:
        """1."""
        require_one_process()
        return 1

    def node_num(self) -> int:
        """The number of machines: 1."""
        return 1

    def local_rank(self) -> int:
        """0."""
        return self.worker_index()

    def is_first_worker(self) -> bool:
        """True."""
        return self.worker_index() == 0

    def is_worker(self) -> bool:
        """True."""
        return True

    def is_server(self) -> bool:
        """False: there are no parameter servers."""
        return False

    def is_coordinator(self) -> bool:
        """False."""
        return False

    def worker_endpoints(self, to_string: bool = False) -> list[str] | str:
        """The address of the worker, which nobody uses."""
        return _ADDRESS if to_string else [_ADDRESS]

    def server_num(self) -> int:
        """0."""
        return 0

    def server_endpoints(self, to_string: bool = False) -> list[str] | str:
        """None: an empty list or text."""
        return "" if to_string else []

    # ---- beginning and end ----
    def init_worker(self, scopes: Sequence[Any] | None = None) -> None:
        """Connects to the parameter servers: nothing, as there are none."""

    def stop_worker(self) -> None:
        """Ends the connection to the parameter servers: nothing, as there are none."""

    def barrier_worker(self) -> None:
        """Waits for all workers: not at all."""

    def init_server(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raises a WorldError: there are no parameter servers."""
        raise WorldError("there are no parameter servers", hint="call it only where `is_server()` is true")

    def run_server(self) -> NoReturn:
        """Raises a WorldError: there are no parameter servers."""
        self.init_server()
