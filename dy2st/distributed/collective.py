"""Collectives of one process: what all ranks give together is what this one gives.

They are plain Python over tensors, and converted in static functions like a user's code: `dy2st.convert` knows this module. Their results
have no gradients, as in PaddlePaddle; a tensor that one of them leaves as it is keeps its own.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NoReturn

from ..errors import AttributeValueError, WorldError
from ..tensor import Tensor
from ..tensor.creation import assign
from .environment import Group, check_peer, require_one_process


class ReduceOp:
    """How a collective reduces. Of one value, each gives this value."""

    SUM = 0
    MAX = 1
    MIN = 2
    PROD = 3
    AVG = 4


class Task:
    """The handle of a collective, which is done when the call is."""

    def wait(self) -> bool:
        """True: it is done."""
        return True

    def is_completed(self) -> bool:
        """True: it is done."""
        return True

    def synchronize(self) -> None:
        """Nothing: it is done."""


def _check(op: int = ReduceOp.SUM, root: int = 0) -> None:
    """The arguments that all collectives have.

    Raises:
        AttributeValueError: the op is none of `ReduceOp`.
        WorldError: the root is another process, or there are several.
    """
    require_one_process()
    if op not in (0, 1, 2, 3, 4):
        raise AttributeValueError(f"op must be one of `ReduceOp`, got {op!r}")
    check_peer(root, "the root")


def _only(tensors: Sequence[Tensor], what: str) -> Tensor:
    """The one tensor of a list that has a tensor for each process."""
    if len(tensors) != 1:
        raise AttributeValueError(f"{what} has a tensor for each process, of which there is one; got {len(tensors)}")
    return tensors[0]


def _fill(into: list[Tensor], tensor: Tensor, what: str) -> None:
    """Gives a list the tensors of all processes: those in it get the values; an empty one gets new tensors."""
    if len(into) == 0:
        into.append(assign(tensor.detach()))
    else:
        assign(tensor.detach(), _only(into, what))


def all_reduce(tensor: Tensor, op: int = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True) -> Task:
    """Reduces the tensors of all processes into each: in one process, it stays as it is.

    Args:
        tensor: of any shape and dtype.
        op: of `ReduceOp`.
        group, sync_op: accepted as PaddlePaddle has them.

    Returns:
        a Task that is done.

    Raises:
        WorldError: the environment says that there are several processes.

    >>> import dy2st as paddle
    >>> x = paddle.to_tensor([1.0, 2.0])
    >>> task = all_reduce(x)
    >>> x.tolist()
    [1.0, 2.0]
    """
    _check(op)
    return Task()


def reduce(tensor: Tensor, dst: int = 0, op: int = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True) -> Task:
    """Reduces the tensors of all processes into that of one: in one process, it stays as it is. See `all_reduce`."""
    _check(op, dst)
    return Task()


def broadcast(tensor: Tensor, src: int, group: Group | None = None, sync_op: bool = True) -> Task:
    """Gives all processes the tensor of one: in one process, it stays as it is.

    Raises:
        WorldError: `src` is not 0.
    """
    _check(root=src)
    return Task()


def all_gather(tensor_list: list[Tensor], tensor: Tensor, group: Group | None = None, sync_op: bool = True) -> Task:
    """Gives each process the tensors of all.

    Args:
        tensor_list: an empty list, which gets a copy of the tensor without its gradient; or one of one tensor, which gets the values.
        tensor: of any shape and dtype.
        group, sync_op: accepted as PaddlePaddle has them.

    >>> import dy2st as paddle
    >>> gathered = []
    >>> task = all_gather(gathered, paddle.to_tensor([1.0, 2.0]))
    >>> [x.tolist() for x in gathered]
    [[1.0, 2.0]]
    """
    _check()
    _fill(tensor_list, tensor, "tensor_list")
    return Task()


def gather(tensor: Tensor, gather_list: list[Tensor] | None = None, dst: int = 0, group: Group | None = None,
           sync_op: bool = True) -> Task:  # fmt: skip
    """Gives one process the tensors of all. See `all_gather`.

    Raises:
        AttributeValueError: there is no list for them.
    """
    _check(root=dst)
    if gather_list is None:
        raise AttributeValueError("gather needs gather_list in the process that gathers, which is this one")
    _fill(gather_list, tensor, "gather_list")
    return Task()


def scatter(tensor: Tensor, tensor_list: Sequence[Tensor] | None = None, src: int = 0, group: Group | None = None,
            sync_op: bool = True) -> Task:  # fmt: skip
    """Gives each process one tensor of a list: `tensor` gets the values of the only one in it.

    Raises:
        AttributeValueError: the list has another number of tensors.
    """
    _check(root=src)
    assign(_only([] if tensor_list is None else tensor_list, "tensor_list").detach(), tensor)
    return Task()


def reduce_scatter(tensor: Tensor, tensor_list: Sequence[Tensor], op: int = ReduceOp.SUM, group: Group | None = None,
                   sync_op: bool = True) -> Task:  # fmt: skip
    """Reduces the lists of all processes, and gives each one tensor of the result. See `scatter`."""
    _check(op)
    assign(_only(tensor_list, "tensor_list").detach(), tensor)
    return Task()


def alltoall(*lists: list[Tensor], out_tensor_list: list[Tensor] | None = None, in_tensor_list: list[Tensor] | None = None,
             group: Group | None = None, sync_op: bool = True) -> Task:  # fmt: skip
    """Each process gives one tensor to each: what is in the one list is in the other afterwards.

    Args:
        lists: the two lists without their names. PaddlePaddle 2 has the given tensors first, PaddlePaddle 3 the received ones, so one of
            them must be empty: that is the one which receives.
        out_tensor_list: gets the tensors. See `all_gather`.
        in_tensor_list: a list of one tensor.
        group, sync_op: accepted as PaddlePaddle has them.

    Raises:
        AttributeValueError: it cannot be told which list receives, or one has another number of tensors.
    """
    _check()
    if len(lists) == 2 and (len(lists[0]) == 0) != (len(lists[1]) == 0):
        out_tensor_list, in_tensor_list = lists if len(lists[0]) == 0 else (lists[1], lists[0])
    if out_tensor_list is None or in_tensor_list is None:
        raise AttributeValueError("alltoall takes out_tensor_list= and in_tensor_list= by name, as their order is another in PaddlePaddle "
                                  "2 and 3; without names, one of two lists must be empty")  # fmt: skip
    _fill(out_tensor_list, _only(in_tensor_list, "in_tensor_list"), "out_tensor_list")
    return Task()


def alltoall_single(*, out_tensor: Tensor, in_tensor: Tensor, in_split_sizes: Sequence[int] | None = None,
                    out_split_sizes: Sequence[int] | None = None, group: Group | None = None, sync_op: bool = True) -> Task:  # fmt: skip
    """Each process gives one part of a tensor to each: in one process the whole.

    Args:
        out_tensor: gets the values. By name, as PaddlePaddle 2 and 3 have the tensors in other orders.
        in_tensor: what is given, by name.
        in_split_sizes, out_split_sizes: None or a list of one size.
        group, sync_op: accepted as PaddlePaddle has them.
    """
    _check()
    for sizes in (in_split_sizes, out_split_sizes):
        if sizes is not None and len(sizes) > 1:
            raise AttributeValueError(f"there is a part for each process, of which there is one; got the sizes {list(sizes)}")
    assign(in_tensor.detach(), out_tensor)
    return Task()


def barrier(group: Group | None = None) -> None:
    """Waits for all processes: in one process, not at all."""
    _check()


def wait(tensor: Tensor, group: Group | None = None, use_calc_stream: bool = True) -> None:
    """Waits until a tensor is computed, which it is."""
    _check()


# ---- from process to process ----
def _nobody(what: str) -> NoReturn:
    require_one_process()
    raise WorldError(f"{what} takes two processes, and there is one", hint="call it only where `get_world_size()` is more than 1")


def send(tensor: Tensor, dst: int = 0, group: Group | None = None, sync_op: bool = True) -> Task:
    """Sends a tensor to another process.

    Raises:
        WorldError: always, as there is none.
    """
    _nobody("send")


def recv(tensor: Tensor, src: int = 0, group: Group | None = None, sync_op: bool = True) -> Task:
    """Receives a tensor from another process; raises as `send` does."""
    _nobody("recv")


def isend(tensor: Tensor, dst: int, group: Group | None = None) -> Task:
    """Sends a tensor to another process; raises as `send` does."""
    _nobody("isend")


def irecv(tensor: Tensor, src: int | None = None, group: Group | None = None) -> Task:
    """Receives a tensor from another process; raises as `send` does."""
    _nobody("irecv")


class P2POp:
    """One exchange for `batch_isend_irecv`: `isend` or `irecv`, a tensor, and the other process.

    Raises:
        WorldError: always, as there is none.
    """

    def __init__(self, op: Any, tensor: Tensor, peer: int, group: Group | None = None):
        _nobody("P2POp")


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[Task]:
    """Exchanges of several tensors with other processes; raises as `send` does."""
    _nobody("batch_isend_irecv")


# ---- objects ----
def all_gather_object(object_list: list[Any], obj: Any, group: Group | None = None) -> None:
    """Appends a copy of the object of each process to a list.

    >>> found = []
    >>> all_gather_object(found, {"loss": 0.5})
    >>> found
    [{'loss': 0.5}]
    """
    _check()
    object_list.append(copy.deepcopy(obj))


def broadcast_object_list(object_list: list[Any], src: int, group: Group | None = None) -> None:
    """Gives all processes the objects of one: in one process, they stay as they are."""
    _check(root=src)


def scatter_object_list(out_object_list: list[Any], in_object_list: list[Any] | None = None, src: int = 0,
                        group: Group | None = None) -> None:  # fmt: skip
    """Gives each process one object of a list: `out_object_list` has a copy of the only one afterwards.

    Raises:
        AttributeValueError: the list has another number of objects.
    """
    _check(root=src)
    if in_object_list is None or len(in_object_list) != 1:
        raise AttributeValueError("in_object_list has an object for each process, of which there is one")
    out_object_list[:] = [copy.deepcopy(in_object_list[0])]
