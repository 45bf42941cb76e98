"""The collectives with the choice of a CUDA stream, which has no effect: see `dy2st.distributed`.

They are converted in static functions, as those are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...missing_names import explain_missing as _explain_missing
from ...tensor import Tensor
from .. import collective
from ..collective import ReduceOp, Task
from ..environment import Group


def all_gather(tensor_or_tensor_list: Any, tensor: Tensor, group: Group | None = None, sync_op: bool = True,
               use_calc_stream: bool = False) -> Task:  # fmt: skip
    """As `distributed.all_gather`; instead of a list, a tensor in the shape of all, put together, gets the values."""
    if isinstance(tensor_or_tensor_list, Tensor):
        return collective.scatter(tensor_or_tensor_list, [tensor])
    return collective.all_gather(tensor_or_tensor_list, tensor)


def all_reduce(tensor: Tensor, op: int = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True,
               use_calc_stream: bool = False) -> Task:  # fmt: skip
    """See `distributed.all_reduce`."""
    return collective.all_reduce(tensor, op)


def alltoall(out_tensor_or_tensor_list: Any, in_tensor_or_tensor_list: Any, group: Group | None = None, sync_op: bool = True,
             use_calc_stream: bool = False) -> Task:  # fmt: skip
    """As `distributed.alltoall`, with the tensors that are received first; or two tensors, of which the first gets the values."""
    if isinstance(out_tensor_or_tensor_list, Tensor):
        return collective.alltoall_single(out_tensor=out_tensor_or_tensor_list, in_tensor=in_tensor_or_tensor_list)
    return collective.alltoall(out_tensor_list=out_tensor_or_tensor_list, in_tensor_list=in_tensor_or_tensor_list)


def alltoall_single(out_tensor: Tensor, in_tensor: Tensor, out_split_sizes: Sequence[int] | None = None,
                    in_split_sizes: Sequence[int] | None = None, group: Group | None = None, sync_op: bool = True,
                    use_calc_stream: bool = False) -> Task:  # fmt: skip
    """As `distributed.alltoall_single`, with the tensor that receives first."""
    return collective.alltoall_single(
        out_tensor=out_tensor, in_tensor=in_tensor, in_split_sizes=in_split_sizes, out_split_sizes=out_split_sizes
    )


def broadcast(tensor: Tensor, src: int, group: Group | None = None, sync_op: bool = True, use_calc_stream: bool = False) -> Task:
    """See `distributed.broadcast`."""
    return collective.broadcast(tensor, src)


def gather(tensor: Tensor, gather_list: list[Tensor] | None = None, dst: int = 0, group: Group | None = None, sync_op: bool = True,
           use_calc_stream: bool = False) -> Task:  # fmt: skip
    """See `distributed.gather`."""
    return collective.gather(tensor, gather_list, dst)


def reduce(tensor: Tensor, dst: int = 0, op: int = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True,
           use_calc_stream: bool = False) -> Task:  # fmt: skip
    """See `distributed.reduce`."""
    return collective.reduce(tensor, dst, op)


def reduce_scatter(tensor: Tensor, tensor_or_tensor_list: Any, op: int = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True,
                   use_calc_stream: bool = False) -> Task:  # fmt: skip
    """As `distributed.reduce_scatter`; instead of a list, it takes a tensor of all, put together."""
    whole = isinstance(tensor_or_tensor_list, Tensor)
    return collective.reduce_scatter(tensor, [tensor_or_tensor_list] if whole else tensor_or_tensor_list, op)


def scatter(tensor: Tensor, tensor_or_tensor_list: Any = None, src: int = 0, group: Group | None = None, sync_op: bool = True,
            use_calc_stream: bool = False) -> Task:  # fmt: skip
    """As `distributed.scatter`; instead of a list, it takes a tensor of all, put together."""
    whole = isinstance(tensor_or_tensor_list, Tensor)
    return collective.scatter(tensor, [tensor_or_tensor_list] if whole else tensor_or_tensor_list, src)


def send(tensor: Tensor, dst: int = 0, group: Group | None = None, sync_op: bool = True, use_calc_stream: bool = False) -> Task:
    """See `distributed.send`."""
    return collective.send(tensor, dst)


def recv(tensor: Tensor, src: int = 0, group: Group | None = None, sync_op: bool = True, use_calc_stream: bool = False) -> Task:
    """See `distributed.recv`."""
    return collective.recv(tensor, src)


_explain_missing(__name__)
