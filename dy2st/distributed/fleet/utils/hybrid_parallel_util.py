"""What keeps the copies of a model alike, of which there is one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ....missing_names import explain_missing as _explain_missing
from ...environment import require_one_process


def fused_allreduce_gradients(parameter_list: Iterable[Any], hcg: Any) -> None:
    """Adds up the gradients of all processes: they stay as they are.

    Args:
        parameter_list: parameters with gradients.
        hcg: a HybridCommunicateGroup, or None.

    Raises:
        WorldError: the environment says that there are several processes.
    """
    require_one_process()


def broadcast_dp_parameters(model: Any, hcg: Any, fuse_params: bool = True) -> None:
    """Gives all processes the parameters of the first: they stay as they are. See `fused_allreduce_gradients`."""
    require_one_process()


broadcast_mp_parameters = broadcast_sharding_parameters = broadcast_sep_parameters = broadcast_dp_parameters


_explain_missing(__name__)
