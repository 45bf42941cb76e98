"""Attributes of a Paddle OpDesc: Python values to and from `OpDesc.Attr`, by the kinds of the op records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import dtype
from ..errors import DTypeError, FormatError
from ..ir.program import Function
from ..ops import bounds, registry
from .framework_proto import ATTR, ATTR_NAMES

OWN_OP = "dy2st.op"
"""Attribute with the true op of an OpDesc that was written as the nearest op PaddlePaddle has (an `ensure_defined` as
`assign`)."""

IGNORED = frozenset({
    "op_role", "op_role_var", "op_namescope", "op_callstack", "op_device", "with_quant_attr", "dist_attr",
    "struct_name", "force_cpu", "place_type", "use_cudnn", "use_mkldnn", "use_quantizer", "mkldnn_data_type",
    "x_data_format", "y_data_format", "workspace_size_MB", "exhaustive_search", "use_addto", "is_sparse",
    "is_distributed", "remote_prefetch", "trainer_id", "is_test", "Scale_x", "Scale_y", "Scale_out", "Scale_in",
    "Scale_weights", "Scale_in_eltwise", "force_fp32_output", "sm_version", "table_names", "entry", "entry_config",
    "epmap", "height_sections", "slot", "grad_inplace", "numeric_stable_mode", "enable_ce", "in_place",
})  # fmt: skip
"""Attributes that say how to run an op on some device, not what it computes."""

_FIELDS = {
    "INT": "i", "FLOAT": "f", "STRING": "s", "INTS": "ints", "FLOATS": "floats", "STRINGS": "strings",
    "BOOLEAN": "b", "BOOLEANS": "bools", "BLOCK": "block_idx", "LONG": "l", "BLOCKS": "blocks_idx", "LONGS": "longs",
    "FLOAT64S": "float64s", "VAR": "var_name", "VARS": "vars_name", "FLOAT64": "float64", "SCALAR": "scalar",
    "SCALARS": "scalars",
}  # fmt: skip
_SCALAR_FIELDS = {1: "b", 2: "i", 3: "r"}
_FLOAT32_MAX = float(np.finfo(np.float32).max)


def decode(attr: Any) -> Any:
    """The value of an `OpDesc.Attr`; FormatError if the field that its type announces is missing."""
    kind = ATTR_NAMES[attr.type]
    field = _FIELDS[kind]
    if kind == "SCALARS":
        return [_decode_scalar(s, attr.name) for s in attr.scalars]
    if kind.endswith("S"):
        values = list(getattr(attr, field))
        exact = list(attr.float64s) if kind == "FLOATS" else []
        return exact if len(exact) == len(values) and all(map(_same_float32, exact, values)) else values
    if not attr.HasField(field):
        raise FormatError(f"attribute {attr.name!r} is {kind} but has no such value")
    value = getattr(attr, field)
    if kind == "SCALAR":
        return _decode_scalar(value, attr.name)
    if kind == "FLOAT" and attr.HasField("float64") and _same_float32(attr.float64, value):
        return attr.float64
    return value


def _decode_scalar(scalar: Any, name: str) -> Any:
    field = _SCALAR_FIELDS.get(scalar.type)
    if field is None or not scalar.HasField(field):
        raise FormatError(f"attribute {name!r} holds a scalar of an unsupported kind")
    return getattr(scalar, field)


def _to_float32(value: float) -> float:
    """The nearest float32, without NumPy's overflow warning."""
    if abs(value) > _FLOAT32_MAX and np.isfinite(value):
        return float("inf") if value > 0 else float("-inf")
    return float(np.float32(value))


def _same_float32(exact: float, value: float) -> bool:
    rounded = _to_float32(exact)
    return rounded == value or (rounded != rounded and value != value)


def encode(attr: Any, name: str, kind: str, value: Any) -> None:
    """Fills an `OpDesc.Attr`.

    PaddlePaddle's FLOAT is a float32. Where that loses digits (the 0.1 of a float64 computation), `float64` holds the
    exact value beside it: PaddlePaddle reads the one, dy2st the other.
    """
    attr.name = name
    if kind == "DTYPE":
        kind, value = "INT", -1 if value is None else dtype.CODES[value]
    elif kind == "INT" and not -(2**31) <= value < 2**31:
        kind = "LONG"
    elif kind == "INTS" and any(not -(2**31) <= v < 2**31 for v in value):
        kind = "LONGS"
    attr.type = ATTR[kind]
    try:
        if kind == "FLOAT":
            attr.f = _to_float32(value)
            if attr.f != value and value == value:
                attr.float64 = value
        elif kind == "FLOATS":
            rounded = [_to_float32(v) for v in value]
            attr.floats.extend(rounded)
            if any(a != b and b == b for a, b in zip(rounded, value, strict=True)):
                attr.float64s.extend(value)
        elif kind.endswith("S"):
            getattr(attr, _FIELDS[kind]).extend(value)
        else:
            setattr(attr, _FIELDS[kind], value)
    except (TypeError, ValueError) as error:  # an int beyond 64 bits, a lone surrogate
        raise FormatError(f"attribute {name!r} = {value!r} cannot be stored as {kind}: {error}") from None


def _with_open_bounds(name: str, value: Any, table: Mapping[int, int]) -> Any:
    """Bounds of slices, where those that are left open have another number in a file: PaddlePaddle's are of 32 bits."""
    return [table.get(v, v) for v in value] if name in ("starts", "ends") and isinstance(value, list) else value


_IN_FILES = {bounds.TO_THE_END: 2**31 - 1, bounds.TO_THE_START: -(2**31)}
_HERE = {there: here for here, there in _IN_FILES.items()}


def encode_all(desc: Any, record: type[registry.OpDef], attrs: dict[str, Any]) -> None:
    """Adds the attributes of an op to its OpDesc, in the order of the record; sub-blocks are the caller's."""
    for name, spec in record.attrs.items():
        value = attrs.get(name, spec.default)
        if spec.own and value == spec.default:
            continue
        if spec.kind == "BLOCK":
            raise FormatError(f"op {record.type} has a sub-block, which PaddlePaddle's format cannot hold for this op")
        if spec.kind == "FUNCTION":
            encode(desc.attrs.add(), name, "STRING", value.name)
            continue
        if value is None and spec.kind != "DTYPE":
            if spec.default is not None:
                raise FormatError(f"op {record.type}: attribute {name!r} has no value to store")
            continue
        encode(desc.attrs.add(), name, spec.kind, _with_open_bounds(name, value, _IN_FILES))


def complete(record: type[registry.OpDef], given: dict[str, Any], functions: Mapping[str, Function]) -> dict[str, Any]:
    """The attributes of a file as those of the record: defaults added, codes turned to dtypes, names to functions, hints for
    devices dropped.

    Raises:
        FormatError: an attribute has a wrong kind, or one that the record does not know asks for something.
    """
    known: dict[str, Any] = {}
    for name, value in given.items():
        spec = record.attrs.get(name)
        if spec is None:
            # an unknown attribute that is off asks for nothing
            if name not in IGNORED and name != OWN_OP and value and value != -1:
                raise FormatError(f"op {record.type} has an attribute {name!r} = {value!r} that is not supported")
        elif spec.kind == "DTYPE":
            known[name] = _dtype(record.type, name, value)
        elif spec.kind == "FUNCTION":
            if not isinstance(value, str) or value not in functions:
                raise FormatError(f"op {record.type} names a function {value!r}, which the program does not have")
            known[name] = functions[value]
        elif spec.kind == "BLOCK":
            raise FormatError(f"op {record.type} cannot stand in a file")
        else:
            known[name] = _with_open_bounds(name, value, _HERE)
    try:
        return record.complete_attrs(known)
    except Exception as error:  # the rules of the records were written for values that people give
        raise FormatError(f"op {record.type} has a malformed attribute: {error}") from error


def _dtype(op: str, name: str, value: Any) -> str | None:
    if value == -1 and not isinstance(value, bool):
        return None
    try:
        return dtype.canonical(value)
    except DTypeError as error:
        raise FormatError(f"op {op}: attribute {name!r}: {error.message}") from None
