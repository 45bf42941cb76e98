"""The shape of a ProgramDesc: its tree of blocks, checked, and which block declares and which assigns a variable."""

from __future__ import annotations

from typing import Any

from .. import dtype
from ..errors import FormatError
from ..ir.program import Block, Variable
from .framework_proto import ATTR, VAR, VAR_NAMES

MAX_NESTING = 64
"""Deepest nesting of blocks; every level costs some frames of Python's stack here and in the passes."""
MAX_RANK = 64

FUNCTION = "dy2st_function"
"""The op in the global block that owns the block of a function: PaddlePaddle has none."""
BLOCK_OPS = ("while", "conditional_block", FUNCTION)
EMPTY = "@EMPTY@"
"""The name that PaddlePaddle gives to an argument which is not there."""

Key = tuple[int, str]
"""A variable of the file: the index of the block that declares it, and its name."""


def single(op: Any, given: dict[str, list[str]], slot: str) -> str:
    """The one argument of a slot."""
    names = given.get(slot, [])
    if len(names) != 1:
        raise FormatError(f"op {op.type}: slot {slot} holds {len(names)} variables, it must be one")
    return names[0]


def arguments(variables: Any, what: str) -> dict[str, list[str]]:
    """The slots of an OpDesc (`op.inputs` or `op.outputs`) with their arguments; slots without any are left out."""
    slots: dict[str, list[str]] = {}
    for v in variables:
        names = [name for name in v.arguments if name != EMPTY]
        if v.parameter in slots:
            raise FormatError(f"{what}: slot {v.parameter!r} is given twice")
        if names:
            slots[v.parameter] = names
    return slots


def sub_block(op: Any) -> int:
    """The index in the attribute `sub_block` of a `while` or `conditional_block`."""
    found = [a for a in op.attrs if a.name == "sub_block"]
    if len(found) != 1 or found[0].type != ATTR["BLOCK"] or not found[0].HasField("block_idx"):
        raise FormatError(f"op {op.type} needs one attribute sub_block of type BLOCK")
    return found[0].block_idx


def is_tensor(desc: Any) -> bool:
    """Whether a VarDesc is a tensor or a TensorArray, not a feed list, a scope or the like."""
    return desc.type.type in (VAR["LOD_TENSOR"], VAR["LOD_TENSOR_ARRAY"])


def is_array(desc: Any) -> bool:
    """Whether a VarDesc is a TensorArray."""
    return desc.type.type == VAR["LOD_TENSOR_ARRAY"]


def declared_type(desc: Any, what: str = "") -> tuple[str, tuple[int, ...], str]:
    """Dtype, shape (-1 = open) and kind of a VarDesc.

    Raises:
        FormatError: no tensor, or a data type or shape that is not supported.
    """
    kinds = {VAR["LOD_TENSOR"]: ("dense", "lod_tensor"), VAR["LOD_TENSOR_ARRAY"]: ("array", "tensor_array")}
    if desc.type.type not in kinds:
        raise FormatError(f"variable {desc.name!r} is a {VAR_NAMES[desc.type.type]}, which is not supported")
    kind, field = kinds[desc.type.type]
    if not desc.type.HasField(field):
        raise FormatError(f"variable {desc.name!r} has no tensor type")
    tensor = getattr(desc.type, field).tensor
    if tensor.data_type not in dtype.NAMES:
        raise FormatError(f"variable {desc.name!r} has data type {VAR_NAMES[tensor.data_type]}, which is not supported")
    shape = tuple(tensor.dims)
    if len(shape) > MAX_RANK or any(d < -1 for d in shape):
        raise FormatError(f"variable {desc.name!r} has a malformed shape {list(shape[:MAX_RANK])}")
    return dtype.NAMES[tensor.data_type], shape, kind


def declare(block: Block, name: str, desc: Any) -> Variable:
    """Declares in a block of the IR a variable with the type and the flags of a VarDesc."""
    name_of_dtype, shape, kind = declared_type(desc)
    return block.create_var(name, name_of_dtype, shape, kind=kind, persistable=desc.persistable,
                            stop_gradient=desc.stop_gradient, is_parameter=desc.is_parameter)  # fmt: skip


class Structure:
    """Checks the tree of blocks and answers where names are declared.

    Attributes:
        vars: for each block its VarDescs by name.
        outer_writes: for each block the variables of enclosing blocks that it, or a block in it, assigns; in order.

    Raises:
        FormatError: block 0 is missing; indices, parents or the use of blocks are not those of a tree; a name is
        declared twice
            in a block; an op assigns a name that is not declared; blocks are nested deeper than `MAX_NESTING`.
    """

    def __init__(self, desc: Any):
        self.desc = desc
        self.parents = self._parents()
        self.vars = [self._declarations(block) for block in desc.blocks]
        self._check_uses()
        self.outer_writes: list[dict[Key, None]] = [{} for _ in desc.blocks]
        for index in reversed(range(len(desc.blocks))):  # a block's index is above that of its parent
            self.outer_writes[index] = self._writes(index)

    def _parents(self) -> list[int]:
        blocks = self.desc.blocks
        if not blocks:
            raise FormatError("the program has no blocks", hint="the file is empty or no model file")
        depth: list[int] = []
        for i, block in enumerate(blocks):
            if block.idx != i or not -1 <= block.parent_idx < i or (block.parent_idx == -1) != (i == 0):
                raise FormatError(f"block {block.idx} with parent {block.parent_idx} stands at position {i}")
            depth.append(0 if i == 0 else depth[block.parent_idx] + 1)
            if depth[i] > MAX_NESTING:
                raise FormatError(f"blocks are nested deeper than {MAX_NESTING} levels")
        return [block.parent_idx for block in blocks]

    def _declarations(self, block: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for v in block.vars:
            if v.name in found:
                raise FormatError(f"variable {v.name!r} is declared twice in block {block.idx}")
            found[v.name] = v
        return found

    def _check_uses(self) -> None:
        used: set[int] = set()
        for block in self.desc.blocks:
            for op in block.ops:
                if op.type not in BLOCK_OPS:
                    continue
                index = sub_block(op)
                if not 0 < index < len(self.parents) or self.parents[index] != block.idx or index in used:
                    raise FormatError(f"op {op.type} in block {block.idx} cannot own block {index}")
                used.add(index)

    def _writes(self, index: int) -> dict[Key, None]:
        outer: dict[Key, None] = {}
        for op in self.desc.blocks[index].ops:
            if op.type in ("feed", "fetch"):
                continue
            if op.type in BLOCK_OPS:
                keys = list(self.outer_writes[sub_block(op)])
            else:
                keys = [self.resolve(index, name) for v in op.outputs for name in v.arguments if name != EMPTY]
            outer.update((key, None) for key in keys if key[0] != index)
        return outer

    def resolve(self, index: int, name: str) -> Key:
        """Which variable a name in a block means: its own, or that of the nearest enclosing block."""
        block = index
        while block >= 0:
            if name in self.vars[block]:
                return block, name
            block = self.parents[block]
        raise FormatError(f"variable {name!r}, used in block {index}, is not declared")

    def var(self, key: Key) -> Any:
        return self.vars[key[0]][key[1]]
