"""`DistributedStrategy`: how a job divides its work, and what it changes in training."""

from __future__ import annotations

import copy
from typing import Any

from ...errors import AttributeValueError
from ..environment import check_world

# the switches and numbers, with their defaults
_PLAIN: dict[str, Any] = {
    **dict.fromkeys((
        "adam_d2sum", "adaptive_localsgd", "amp", "asp", "auto", "auto_search", "calc_comm_same_stream",
        "cudnn_batchnorm_spatial_persistent",
        "cudnn_exhaustive_search", "dgc", "elastic", "find_unused_parameters", "fp16_allreduce", "fuse_grad_merge", "gradient_merge",
        "heter_ccl_mode", "is_fl_ps_mode", "is_with_coordinator", "lamb", "lars", "localsgd", "pipeline", "qat", "recompute", "semi_auto",
        "sharding", "sync_batch_norm", "tensor_parallel", "use_hierarchical_allreduce"), False),
    **dict.fromkeys(("a_sync", "fuse_all_reduce_ops", "split_data", "sync_nccl_allreduce", "without_graph_optimization"), True),
    **dict.fromkeys(("hierarchical_allreduce_inter_nranks", "nccl_comm_num"), 1),
    "conv_workspace_size_limit": 512,
    "fuse_grad_size_in_MB": 32,
    "fuse_grad_size_in_num": 8,
    "last_comm_group_size_MB": 1.0,
    "hybrid_parallel_order": ["dp", "pp", "sharding", "sep", "mp"],
    "build_strategy": None,
    "execution_strategy": None,
}  # fmt: skip
# the tables of numbers that belong to switches
_CONFIGS: dict[str, dict[str, Any]] = {
    "adaptive_localsgd_configs": {"init_k_steps": 1, "begin_step": 1},
    "amp_configs": {
        "init_loss_scaling": 32768.0, "incr_every_n_steps": 1000, "decr_every_n_nan_or_inf": 2, "incr_ratio": 2.0, "decr_ratio": 0.8,
        "use_dynamic_loss_scaling": True, "custom_white_list": [], "custom_black_list": [], "custom_black_varnames": [],
        "use_pure_fp16": False, "use_fp16_guard": True, "use_pure_bf16": False, "use_optimizer_fp16": False},
    "dgc_configs": {"rampup_begin_step": 0, "rampup_step": 1, "sparsity": []},
    "gradient_merge_configs": {"k_steps": 1, "avg": True},
    "gradient_scale_configs": {"scale_strategy": "avg", "scale_gradient": False},
    "hybrid_configs": {"dp_degree": -1, "mp_degree": 1, "pp_degree": 1, "sharding_degree": 1, "sep_degree": 1, "order": None,
                       "mp_configs": {}, "pp_configs": {}, "sharding_configs": {}, "enable_optimizer_timer": False},
    "lamb_configs": {"lamb_weight_decay": 0.01, "exclude_from_weight_decay": []},
    "lars_configs": {"lars_coeff": 0.001, "lars_weight_decay": 0.0005, "epsilon": 0.0, "exclude_from_weight_decay": []},
    "localsgd_configs": {"k_steps": 1, "begin_step": 1},
    "pipeline_configs": {"micro_batch_size": 1, "accumulate_steps": 1, "schedule_mode": "1F1B", "p2p_cache_shape": True,
                         "enable_partial_send_recv": True},
    "recompute_configs": {"checkpoints": [], "enable_offload": False, "checkpoint_shape": [], "enable_tuning": False,
                          "refined_ops_patterns": []},
    "sharding_configs": {
        "sharding_segment_strategy": "segment_broadcast_MB", "segment_broadcast_MB": 32.0, "segment_anchors": [], "sharding_degree": 8,
        "mp_degree": 1, "dp_degree": 1, "hybrid_dp": False, "gradient_merge_acc_step": 1, "optimize_offload": False,
        "pp_allreduce_in_optimize": False, "pp_degree": 1, "stage": 1, "offload": False, "optimize_cast": False},
    "tensor_parallel_configs": {"tensor_parallel_degree": 1, "tensor_init_seed": -1},
}  # fmt: skip
# what changes the values of a training in static mode, also in one process
_CHANGING = ("adaptive_localsgd", "amp", "asp", "dgc", "gradient_merge", "lamb", "lars", "localsgd", "qat")


class DistributedStrategy:
    """The settings of a job, under PaddlePaddle's names: switches, and tables of numbers that belong to them (`amp`, `amp_configs`).

    In one process a model is trained as it is, and its optimizer, as PaddlePaddle does in dynamic mode whatever the strategy says. What
    asks for more processes is an error of `fleet.init`. In static mode, a switch that changes the values is an error of
    `fleet.distributed_optimizer`.

    Attributes:
        hybrid_configs: the degrees of parallelism: each 1, or -1 for what is left.
        amp, recompute, gradient_merge, ...: see PaddlePaddle's page of `DistributedStrategy`.

    Raises:
        AttributeError: PaddlePaddle has no such setting.
        AttributeValueError: a table has no such entry.

    >>> strategy = DistributedStrategy()
    >>> strategy.hybrid_configs = {"dp_degree": 1}
    >>> strategy.hybrid_configs["mp_degree"]
    1
    """

    def __init__(self) -> None:
        for name, value in {**_PLAIN, **_CONFIGS}.items():
            object.__setattr__(self, name, copy.deepcopy(value))

    def __getattr__(self, name: str) -> Any:  # only for what is not there
        raise AttributeError(f"DistributedStrategy has no setting {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _CONFIGS:
            unknown = sorted(set(value).difference(_CONFIGS[name]))
            if unknown:
                raise AttributeValueError(f"{name} has no entry {unknown[0]!r}; known are: {', '.join(_CONFIGS[name])}")
            getattr(self, name).update(value)
        elif name in _PLAIN:
            object.__setattr__(self, name, value)
        else:
            raise AttributeError(f"DistributedStrategy has no setting {name!r}")

    def check_one_process(self) -> None:
        """Nothing, if one process is enough.

        Raises:
            WorldError: a degree of parallelism is more than 1.
        """
        for name in ("dp_degree", "mp_degree", "pp_degree", "sharding_degree", "sep_degree"):
            if self.hybrid_configs[name] != -1:
                check_world(self.hybrid_configs[name], f"{name} of hybrid_configs")
        if self.tensor_parallel:
            check_world(self.tensor_parallel_configs["tensor_parallel_degree"], "tensor_parallel_degree")

    def changing(self) -> list[str]:
        """The switches that are on and change the values of a training in static mode."""
        return [name for name in _CHANGING if getattr(self, name)]

    def __repr__(self) -> str:
        made = DistributedStrategy()
        own = [f"{name}={value!r}" for name, value in vars(self).items() if value != getattr(made, name)]
        return f"DistributedStrategy({', '.join(own)})"
