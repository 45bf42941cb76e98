"""`CompiledProgram` and its strategies: a Program as it is, as the Executor compiles each."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from ..errors import ModeError, WorldError
from .program import Program


class _Settings:
    """Settings with defaults, which are accepted and change nothing."""

    _defaults: dict[str, Any] = {}

    def __init__(self) -> None:
        vars(self).update(self._defaults)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._defaults:
            raise AttributeError(f"{type(self).__name__} has no setting {name!r}")
        object.__setattr__(self, name, value)


class BuildStrategy(_Settings):
    """How PaddlePaddle compiles a Program: which ops it fuses, how gradients are exchanged. Each setting is accepted, and has no effect:
    every Program is optimized and compiled in the one way there is.

    Raises:
        AttributeError: PaddlePaddle has no such setting.

    >>> strategy = BuildStrategy()
    >>> strategy.fuse_elewise_add_act_ops = True
    """

    class ReduceStrategy(enum.IntEnum):
        """How gradients are exchanged: without effect."""

        AllReduce = 0
        Reduce = 1

    class GradientScaleStrategy(enum.IntEnum):
        """How the gradient of the loss is scaled: without effect, as there is one process."""

        CoeffNumDevice = 0
        One = 1
        Customized = 2

    _defaults = {
        **dict.fromkeys((
            "allow_cuda_graph_capture", "async_mode", "build_cinn_pass", "cache_runtime_context", "enable_addto", "enable_auto_fusion",
            "enable_sequential_execution", "fuse_adamw", "fuse_all_optimizer_ops", "fuse_bn_act_ops", "fuse_dot_product_attention",
            "fuse_elewise_add_act_ops", "fuse_gemm_epilogue", "fuse_relu_depthwise_conv", "fuse_resunit", "fused_attention",
            "fused_feedforward", "remove_unnecessary_lock", "sequential_run", "sync_batch_norm", "use_hierarchical_allreduce"), False),
        **dict.fromkeys((
            "enable_backward_optimizer_op_deps", "enable_inplace", "fuse_all_reduce_ops", "fuse_bn_add_act_ops",
            "fuse_broadcast_ops"), True),
        "bkcl_comm_num": 1, "nccl_comm_num": 1, "num_trainers": 1, "trainer_id": 0, "hierarchical_allreduce_inter_nranks": 0,
        "debug_graphviz_path": "", "memory_optimize": None, "mkldnn_enabled_op_types": frozenset(), "trainers_endpoints": (),
        "reduce_strategy": ReduceStrategy.AllReduce, "gradient_scale_strategy": GradientScaleStrategy.CoeffNumDevice,
    }  # fmt: skip


class ExecutionStrategy(_Settings):
    """How PaddlePaddle runs a compiled Program. Each setting is accepted, and has no effect; `dy2st_runtime.set_num_threads` sets how many
    threads share the work of a kernel.

    Raises:
        AttributeError: PaddlePaddle has no such setting.

    >>> strategy = ExecutionStrategy()
    >>> strategy.num_iteration_per_drop_scope = 100
    """

    class ExecutorType(enum.IntEnum):
        """Which executor of PaddlePaddle runs it: without effect."""

        Default = 0
        Experimental = 1

    _defaults = {
        "num_threads": 1, "num_iteration_per_drop_scope": 100, "num_iteration_per_run": 1, "allow_op_delay": False,
        "use_thread_barrier": False, "use_device": None, "use_cuda": False, "dry_run": False, "type": ExecutorType.Default,
    }  # fmt: skip


class CompiledProgram:
    """A Program for `Executor.run`, which compiles every Program: this is another name of it.

    Args:
        program_or_graph: a Program.
        build_strategy: a BuildStrategy; without effect.

    Attributes:
        program: the Program.

    Raises:
        ModeError: it is no Program.
    """

    def __init__(self, program_or_graph: Program, build_strategy: BuildStrategy | None = None):
        if not isinstance(program_or_graph, Program):
            raise ModeError(f"CompiledProgram takes a Program, got {type(program_or_graph).__name__}")
        self.program = program_or_graph

    def with_data_parallel(self, loss_name: str | None = None, build_strategy: BuildStrategy | None = None,
                           exec_strategy: ExecutionStrategy | None = None, share_vars_from: CompiledProgram | None = None,
                           places: Sequence[Any] | None = None) -> CompiledProgram:  # fmt: skip
        """This object. A batch is not divided among devices: there is one.

        Raises:
            WorldError: there are several places.
        """
        if places is not None and len(places) > 1:
            raise WorldError(f"a Program runs on one place, got {len(places)}")
        return self
