"""What differs between an OpDesc and an op of the IR: older ops under their newer names, slots that hold nothing,
unknown ops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import FormatError
from ..ops import registry
from .framework_proto import ATTR
from .paddle_attrs import OWN_OP, decode
from .paddle_structure import BLOCK_OPS, arguments, sub_block


@dataclass
class PaddleOp:
    """An OpDesc as plain data. `sub_block` is 0 where there is none."""

    type: str
    inputs: dict[str, list[str]]
    outputs: dict[str, list[str]]
    attrs: dict[str, Any]
    sub_block: int = 0


def parse(desc: Any) -> PaddleOp:
    """An OpDesc as plain data; FormatError if it is malformed."""
    attrs = {}
    for attr in desc.attrs:
        if attr.name in attrs:
            raise FormatError(f"op {desc.type}: attribute {attr.name!r} is given twice")
        if attr.name != "sub_block" and attr.type not in (ATTR["BLOCK"], ATTR["BLOCKS"]):
            attrs[attr.name] = decode(attr)
    if not isinstance(attrs.get(OWN_OP, ""), str):
        raise FormatError(f"op {desc.type}: attribute {OWN_OP!r} must be a STRING")
    what = f"op {desc.type}"
    owned = sub_block(desc) if desc.type in BLOCK_OPS else 0
    return PaddleOp(desc.type, arguments(desc.inputs, what), arguments(desc.outputs, what), attrs, owned)


def _renamed(name: str, **attrs: str) -> Callable[[PaddleOp], PaddleOp]:
    """A newer op that does the same, with attributes renamed."""

    def change(op: PaddleOp) -> PaddleOp:
        return PaddleOp(name, op.inputs, op.outputs, {attrs.get(k, k): v for k, v in op.attrs.items()})

    return change


_NEWER: dict[str, Callable[[PaddleOp], PaddleOp]] = {
    "reshape": _renamed("reshape2"),
    "transpose": _renamed("transpose2"),
    "squeeze": _renamed("squeeze2"),
    "unsqueeze": _renamed("unsqueeze2"),
    "expand": _renamed("tile", expand_times="repeat_times"),
    "sync_batch_norm": _renamed("batch_norm"),
}


def modernize(op: PaddleOp) -> PaddleOp:
    """The op that the registry has for an op of the file."""
    if op.type not in registry.all_ops() and op.type in _NEWER:
        op = _NEWER[op.type](op)
    if op.type == "batch_norm" and (op.attrs.get("is_test") or op.attrs.get("use_global_stats")):
        op.outputs = {"Y": op.outputs.get("Y", [])}  # the statistics stay as they are; nothing is to be written
    return op


_STRUCTURAL = {*BLOCK_OPS, "select_input", "feed", "fetch"}


def check_supported(desc: Any) -> None:
    """Raises FormatError that lists all ops of a ProgramDesc which are not supported, and how often each is used."""
    known = registry.all_ops()
    missing: Counter[str] = Counter()
    for block in desc.blocks:
        for op in block.ops:
            name = next((a.s for a in op.attrs if a.name == OWN_OP), op.type)
            if name not in known and name not in _STRUCTURAL and name not in _NEWER:
                missing[name] += 1
    if missing:
        listed = ", ".join(
            f"{name!r}" + (f" ({count} times)" if count > 1 else "") for name, count in sorted(missing.items())
        )
        noun = "an op that is" if len(missing) == 1 else f"{len(missing)} ops that are"
        raise FormatError(f"the program uses {noun} not supported: {listed}",
                          hint="a file has only the name of a custom op: run its definition (custom_op) before loading")  # fmt: skip
