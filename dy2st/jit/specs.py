"""Arguments that InputSpecs describe, for tracing without a call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..convert.values.trees import flatten
from ..errors import FeedError
from ..framework.dtype import get_default_dtype
from ..tensor import Tensor, dispatch
from .signature import Constant, InputSpec, Key, Parameters, TensorKey, arguments_of_specs, input_name, leaf_names


@dataclass
class SpecArguments:
    """As `Arguments`, without values."""

    key: Key
    leaves: list[Any]


def arguments_from_specs(parameters: Parameters, specs: Sequence[Any]
                         ) -> tuple[SpecArguments, list[tuple[int, ...]], list[str]]:  # fmt: skip
    """The arguments, and shape and name of each tensor in them.

    Args:
        specs: for each argument an InputSpec, a Tensor that stands for its own shape, or a Python value; nested as the
            argument is.
    """
    leaves, tree = flatten(arguments_of_specs(parameters.signature, specs))
    given = parameters.called(leaf_names(tree))
    keys: list[TensorKey | Constant] = []
    shapes: list[tuple[int, ...]] = []
    names: list[str] = []
    for leaf, path in zip(leaves, given, strict=True):
        if isinstance(leaf, Tensor):
            leaf = InputSpec.from_tensor(leaf)
        if isinstance(leaf, InputSpec):
            if leaf.name in names:
                raise FeedError(f"two inputs are named {leaf.name!r}", hint="give each InputSpec a name of its own")
            stop = leaf.stop_gradient or not leaf.dtype.startswith("float")
            keys.append(TensorKey(leaf.dtype, len(leaf.shape), stop))
            shapes.append(leaf.shape)
            names.append(leaf.name or input_name(path))
        else:
            keys.append(Constant(leaf))
    return SpecArguments(Key(tree, tuple(keys), dispatch.is_grad_enabled(), get_default_dtype(), True), leaves), shapes, names


def arguments_to_save(parameters: Parameters, key: Key, shapes: Sequence[Sequence[int]], names: Sequence[str]
                      ) -> tuple[SpecArguments, list[tuple[int, ...]], list[str]]:  # fmt: skip
    """Arguments like those of a call, with an input for each tensor that it was given, also where it was given one twice.

    Args:
        key: that of the trace that served the call; it may have been made without gradients.
        shapes, names: of the tensors that this trace is fed.
    """
    key = replace(key, grad=True, may_record=True) if dispatch.is_grad_enabled() else key
    known = dict(zip(key.fed, zip(shapes, names, strict=True), strict=True))
    given = [input_name(path) for path in parameters.called(leaf_names(key.tree))]
    found = [known[i] if k.alias < 0 else (known[k.alias][0], given[i]) for i, k in enumerate(key.leaves) if isinstance(k, TensorKey)]
    keys = tuple(replace(k, alias=-1) if isinstance(k, TensorKey) else k for k in key.leaves)
    leaves = [None if isinstance(k, TensorKey) else k.value for k in keys]
    return SpecArguments(replace(key, leaves=keys), leaves), [tuple(shape) for shape, _ in found], [name for _, name in found]
