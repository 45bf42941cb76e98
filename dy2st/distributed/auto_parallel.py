"""Meshes, placements and what divides tensors by them: in a mesh of one process, each tensor is there as a whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import AttributeValueError, ModeError
from ..nn import Layer
from ..tensor import Tensor
from ..tensor.creation import to_tensor
from .environment import check_peer, check_world, require_one_process


class ProcessMesh:
    """A grid of processes with named dims; here of the one process.

    Args:
        mesh: the ranks, as an array or nested list.
        dim_names: a name for each dim; default: "d0", "d1", ...
        shape, process_ids: the same as a shape and a flat list of ranks, instead of `mesh`.

    Attributes:
        mesh: the ranks as an array.
        shape, ndim, dim_names, process_ids: of that.

    Raises:
        WorldError: there is another process in it.
        AttributeValueError: there is not a name for each dim.

    >>> ProcessMesh([[0]], dim_names=["dp", "mp"])
    ProcessMesh(shape=[1, 1], process_ids=[0], dim_names=['dp', 'mp'])
    """

    def __init__(self, mesh: Any = None, dim_names: Sequence[str] | None = None, shape: Sequence[int] | None = None,
                 process_ids: Sequence[int] | None = None):  # fmt: skip
        require_one_process()
        if mesh is None and (shape is None or process_ids is None):
            raise AttributeValueError("a ProcessMesh takes a mesh, or a shape and process_ids")
        self.mesh = np.array(mesh) if mesh is not None else np.array(process_ids).reshape(shape)  # type: ignore[arg-type]
        check_world(self.mesh.size, "the ProcessMesh")
        self.process_ids = [int(rank) for rank in self.mesh.ravel()]
        check_peer(self.process_ids[0], "a member of the ProcessMesh")
        self.shape, self.ndim, self.size = list(self.mesh.shape), self.mesh.ndim, self.mesh.size
        self.dim_names = [f"d{i}" for i in range(self.ndim)] if dim_names is None else list(dim_names)
        if len(self.dim_names) != self.ndim:
            raise AttributeValueError(f"{self.ndim} dims cannot have {len(self.dim_names)} names")

    def get_dim_size(self, dim_name: str) -> int:
        """The length of a dim.

        Raises:
            AttributeValueError: there is none of this name.
        """
        if dim_name not in self.dim_names:
            raise AttributeValueError(f"there is no dim {dim_name!r}, there are: {', '.join(self.dim_names)}")
        return self.shape[self.dim_names.index(dim_name)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProcessMesh) and (self.shape, self.process_ids) == (other.shape, other.process_ids)

    def __hash__(self) -> int:
        return hash((*self.shape, *self.process_ids))

    def __repr__(self) -> str:
        return f"ProcessMesh(shape={self.shape}, process_ids={self.process_ids}, dim_names={self.dim_names})"


class ReduceType:
    """How parts of a tensor are to be added up; see `Partial`."""

    kRedSum = 0
    kRedMax = 1
    kRedMin = 2
    kRedProd = 3
    kRedAvg = 4
    kRedAny = 5
    kRedAll = 6


class Placement:
    """How a tensor is divided along a dim of a mesh. In a mesh of one process, all mean that it has the whole."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether the tensor is cut, along a dim of its own if one is given."""
        return False

    def is_replicated(self) -> bool:
        """Whether each process has the whole."""
        return False

    def is_partial(self) -> bool:
        """Whether the parts are to be added up."""
        return False

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value}' for name, value in vars(self).items())})"


class Shard(Placement):
    """The tensor is cut along a dim.

    >>> Shard(0)
    Shard(dim=0)
    """

    def __init__(self, dim: int):
        self.dim = dim

    def get_dim(self) -> int:
        return self.dim

    def is_shard(self, dim: int | None = None) -> bool:
        return dim is None or dim == self.dim


class Replicate(Placement):
    """Each process has the whole."""

    def is_replicated(self) -> bool:
        return True


class Partial(Placement):
    """The parts are to be added up, or reduced in another way of `ReduceType`."""

    def __init__(self, reduce_type: int = ReduceType.kRedSum):
        self.reduce_type = reduce_type

    def is_partial(self) -> bool:
        return True


_mesh: ProcessMesh | None = None


def set_mesh(mesh: ProcessMesh) -> None:
    """Sets the mesh that `get_mesh` gives."""
    global _mesh
    _mesh = mesh


def get_mesh() -> ProcessMesh | None:
    """The mesh that was set, or None."""
    return _mesh


def shard_tensor(data: Any, mesh: ProcessMesh, placements: Sequence[Placement], dtype: Any = None, place: Any = None,
                 stop_gradient: bool | None = None) -> Tensor:  # fmt: skip
    """A tensor that is divided among the processes of a mesh: the whole.

    Args:
        data: a Tensor, which is given back if it is to stay as it is; else what `to_tensor` takes.
        mesh, placements: accepted as PaddlePaddle has them.
        dtype, place: see `to_tensor`.
        stop_gradient: None: that of the tensor; True for other data.

    >>> import dy2st as paddle
    >>> mesh = ProcessMesh([0])
    >>> shard_tensor([[1.0, 2.0]], mesh, [Shard(0)]).shape
    [1, 2]
    """
    require_one_process()
    if isinstance(data, Tensor) and dtype is None and stop_gradient in (None, data.stop_gradient):
        return data
    if stop_gradient is None:
        stop_gradient = data.stop_gradient if isinstance(data, Tensor) else True
    return to_tensor(data, dtype, place, stop_gradient)


def reshard(dist_tensor: Tensor, mesh: ProcessMesh, placements: Sequence[Placement]) -> Tensor:
    """The tensor, divided in another way: as it is."""
    require_one_process()
    return dist_tensor


def unshard_dtensor(dist_tensor: Tensor) -> Tensor:
    """The tensor as a whole: as it is."""
    require_one_process()
    return dist_tensor


def dtensor_from_fn(fn: Callable[..., Tensor], mesh: ProcessMesh, placements: Sequence[Placement], *args: Any, **kwargs: Any) -> Tensor:
    """The tensor that a function makes, divided: `fn(*args, **kwargs)`."""
    require_one_process()
    return fn(*args, **kwargs)


def shard_layer(layer: Layer, process_mesh: ProcessMesh, shard_fn: Callable[[str, Layer, ProcessMesh], None] | None = None,
                input_fn: Callable[[Any, ProcessMesh], Any] | None = None,
                output_fn: Callable[[Any, ProcessMesh], Any] | None = None) -> Layer:  # fmt: skip
    """The layer, whose parameters are divided: as it is, but for what the functions do.

    Args:
        layer: what is given back.
        process_mesh: handed to the functions.
        shard_fn: is called once with the name of the layer and of each sublayer, the layer, and the mesh.
        input_fn, output_fn: change the inputs before, and the outputs behind each call of the layer.
    """
    require_one_process()
    if shard_fn is not None:
        for name, one in layer.named_sublayers(include_self=True):
            shard_fn(name, one, process_mesh)
    if input_fn is not None:
        layer.register_forward_pre_hook(lambda _, inputs: input_fn(inputs, process_mesh))
    if output_fn is not None:
        layer.register_forward_post_hook(lambda _, inputs, outputs: output_fn(outputs, process_mesh))
    return layer


def shard_optimizer(optimizer: Any, shard_fn: Any = None, gradient_accumulation_steps: int = 1) -> Any:
    """The optimizer, whose states are divided: as it is.

    Args:
        optimizer: what is given back.
        shard_fn: how they are divided; without effect.
        gradient_accumulation_steps: 1.

    Raises:
        ModeError: there are more steps. Call `step()` and `clear_grad()` once for so many calls of `backward()`.
    """
    require_one_process()
    if gradient_accumulation_steps != 1:
        raise ModeError(f"shard_optimizer cannot accumulate gradients over {gradient_accumulation_steps} steps",
                        hint="call step() and clear_grad() once for so many calls of backward()")  # fmt: skip
    return optimizer


def shard_scaler(scaler: Any) -> Any:
    """The scaler of the loss as it is."""
    require_one_process()
    return scaler


def shard_dataloader(dataloader: Any, meshes: Any, input_keys: Any = None, shard_dims: Any = None, is_dataset_splitted: bool = False,
                     dense_tensor_idx: Any = None) -> Any:  # fmt: skip
    """The loader, whose batches are divided: as it is."""
    require_one_process()
    return dataloader
