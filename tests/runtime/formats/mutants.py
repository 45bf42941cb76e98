"""Models with something wrong in them: the protobuf stays well-formed; names, types, attributes, sizes and the order of ops change."""

from __future__ import annotations

import random
from typing import Any

from dy2st_runtime.formats.framework_proto import ProgramDesc

INTS = (-(2**63), -(2**31), -7, -2, -1, 0, 1, 2, 3, 5, 8, 100, 2**40, 2**62, 2**63 - 1)
"""None of which is a size that there may be memory for, but too little."""
FLOATS = (0.0, 1.0, -1.0, 0.5, 1e30, -1e30, float("inf"), float("nan"))
TEXTS = ("", "sum", "mean", "NHWC", "float32", "-1", "1e400", "99999999999999999999", "\0", "é")
OPS = ("scale", "cond", "while", "absent", "assign", "concat", "cast", "slice", "fill_constant", "reshape2", "reduce_sum", "stack",
       "read_from_array", "lod_array_length", "logical_not", "select_input", "range", "top_k_v2", "where_index", "fused_elementwise")


def mutant(original: bytes, chance: random.Random) -> bytes:
    """The model after one to three changes."""
    desc = ProgramDesc.FromString(original)
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        block = chance.choice(list(desc.blocks))
        if block.ops:
            chance.choice(_CHANGES)(desc, block, chance.choice(list(block.ops)), chance)
    return desc.SerializeToString()


def _attribute(desc: Any, block: Any, op: Any, chance: random.Random) -> None:
    if not op.attrs:
        return
    attr = chance.choice(list(op.attrs))
    for field, value in attr.ListFields():
        kind = field.name
        if kind in ("i", "block_idx", "ints"):
            narrow = [v for v in INTS if -(2**31) <= v < 2**31]
            _set(attr, kind, value, narrow, chance)
        elif kind in ("l", "longs"):
            _set(attr, kind, value, INTS, chance)
        elif kind in ("f", "float64", "floats", "float64s"):
            _set(attr, kind, value, FLOATS, chance)
        elif kind == "b":
            attr.b = not value
        elif kind in ("s", "strings"):
            _set(attr, kind, value, TEXTS, chance)
        elif kind == "name" and chance.random() < 0.1:
            attr.name = chance.choice(["axis", "dy2st.op", "shape", "sub_block", "dtype", value])


def _set(attr: Any, field: str, value: Any, values: Any, chance: random.Random) -> None:
    if isinstance(value, (int, float, str)):
        setattr(attr, field, chance.choice(values))
        return
    kept = list(value)
    if kept and chance.random() < 0.7:
        kept[chance.randrange(len(kept))] = chance.choice(values)
    else:
        kept = [chance.choice(values) for _ in range(chance.randint(0, 9))]
    value[:] = kept


def _argument(desc: Any, block: Any, op: Any, chance: random.Random) -> None:
    slots = [s for s in (*op.inputs, *op.outputs) if s.arguments]
    names = [v.name for b in desc.blocks for v in b.vars]
    if slots and names:
        slot = chance.choice(slots)
        slot.arguments[chance.randrange(len(slot.arguments))] = chance.choice(names)


def _slot(desc: Any, block: Any, op: Any, chance: random.Random) -> None:
    side = chance.choice([op.inputs, op.outputs])
    if side:
        slot = chance.choice(list(side))
        change = chance.randrange(4)
        if change == 0:
            side.remove(slot)
        elif change == 1:
            del slot.arguments[:]
        elif change == 2 and slot.arguments:
            slot.arguments.append(slot.arguments[0])
        else:
            slot.parameter = chance.choice(["X", "Y", "Out", "Input", "Cond", "Array", "StartsTensorList", "ShapeTensor"])


def _type(desc: Any, block: Any, op: Any, chance: random.Random) -> None:
    op.type = chance.choice([*OPS, *(o.type for o in block.ops)])


def _drop(desc: Any, block: Any, op: Any, chance: random.Random) -> None:
    block.ops.remove(op)


def _copy(desc: Any, block: Any, op: Any, chance: random.Random) -> None:
    target = chance.choice(list(desc.blocks))
    target.ops.insert(chance.randint(0, len(target.ops)), type(op).FromString(op.SerializeToString()))


def _variable(desc: Any, block: Any, op: Any, chance: random.Random) -> None:
    if not block.vars:
        return
    v = chance.choice(list(block.vars))
    change = chance.randrange(5)
    if change == 0:
        v.persistable = not v.persistable
    elif change == 1:
        v.type.type = chance.choice([7, 13, 9, 17])
    elif change == 2:
        v.need_check_feed = not v.need_check_feed
    elif v.type.HasField("lod_tensor"):
        tensor = v.type.lod_tensor.tensor
        if change == 3:
            tensor.data_type = chance.choice([0, 1, 2, 3, 4, 5, 6, 20, 21, 22])
        else:
            tensor.dims[:] = [chance.choice(INTS) for _ in range(chance.randint(0, 9))]


def _parent(desc: Any, block: Any, op: Any, chance: random.Random) -> None:
    block.parent_idx = chance.randint(-2, 4)


_CHANGES = (_attribute, _attribute, _attribute, _argument, _argument, _slot, _slot, _type, _drop, _copy, _variable, _variable, _parent)
