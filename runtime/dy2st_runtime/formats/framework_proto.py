"""PaddlePaddle's `framework.proto`: the message classes, built from a table instead of generated code.

Field numbers and wire types are those of every version; the names are the ones that 1.x and 2.x print (`LOD_TENSOR`,
`lod_tensor`).
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "paddle.framework.proto"

_TABLE = """
enum AttrType INT=0 FLOAT=1 STRING=2 INTS=3 FLOATS=4 STRINGS=5 BOOLEAN=6 BOOLEANS=7 BLOCK=8 LONG=9 BLOCKS=10 LONGS=11 \
FLOAT64S=12 VAR=13 VARS=14 FLOAT64=15 SCALAR=16 SCALARS=17
message Version
  1 optional int64 version =0
message Complex
  1 required double r
  2 required double i
message Scalar
  enum Type BOOLEAN=1 LONG=2 FLOAT64=3 COMPLEX128=4
  1 required Scalar.Type type
  2 optional bool b
  3 optional int64 i
  4 optional double r
  5 optional Complex c
message OpDesc.Attr
  1 required string name
  2 required AttrType type
  3 optional int32 i
  4 optional float f
  5 optional string s
  6 repeated int32 ints
  7 repeated float floats
  8 repeated string strings
  10 optional bool b
  11 repeated bool bools
  12 optional int32 block_idx
  13 optional int64 l
  14 repeated int32 blocks_idx
  15 repeated int64 longs
  16 repeated double float64s
  17 optional string var_name
  18 repeated string vars_name
  19 optional double float64
  20 optional Scalar scalar
  21 repeated Scalar scalars
message OpDesc.Var
  1 required string parameter
  2 repeated string arguments
message OpDesc
  1 repeated OpDesc.Var inputs
  2 repeated OpDesc.Var outputs
  3 required string type
  4 repeated OpDesc.Attr attrs
  5 optional bool is_target =false
message VarType.TensorDesc
  1 required VarType.Type data_type
  2 repeated int64 dims
message VarType.LoDTensorDesc
  1 required VarType.TensorDesc tensor
  2 optional int32 lod_level =0
message VarType.LoDTensorArrayDesc
  1 required VarType.TensorDesc tensor
  2 optional int32 lod_level =0
message VarType.ReaderDesc
  1 repeated VarType.LoDTensorDesc lod_tensor
message VarType.Tuple
  1 repeated VarType.Type element_type
message VarType
  enum Type BOOL=0 INT16=1 INT32=2 INT64=3 FP16=4 FP32=5 FP64=6 LOD_TENSOR=7 SELECTED_ROWS=8 FEED_MINIBATCH=9 \
FETCH_LIST=10 STEP_SCOPES=11 LOD_RANK_TABLE=12 LOD_TENSOR_ARRAY=13 PLACE_LIST=14 READER=15 RAW=17 TUPLE=18 SIZE_T=19 \
UINT8=20 INT8=21 BF16=22 COMPLEX64=23 COMPLEX128=24 STRING=25 STRINGS=26 VOCAB=27 FEED_LIST=28 PSTRING=29 \
SPARSE_COO=30 SPARSE_CSR=31 FP8_E4M3FN=32 FP8_E5M2=33 UINT16=36 UINT32=37 UINT64=38
  1 required VarType.Type type
  2 optional VarType.TensorDesc selected_rows
  3 optional VarType.LoDTensorDesc lod_tensor
  4 optional VarType.LoDTensorArrayDesc tensor_array
  5 optional VarType.ReaderDesc reader
  7 optional VarType.Tuple tuple
  8 optional VarType.TensorDesc string
  9 optional VarType.TensorDesc strings
  10 optional VarType.TensorDesc vocab
  11 optional VarType.TensorDesc sparse_coo
  12 optional VarType.TensorDesc sparse_csr
message VarDesc.Attr
  1 required string name
  2 required AttrType type
  3 optional int32 i
  4 optional string s
  5 repeated int32 ints
message VarDesc
  1 required string name
  2 required VarType type
  3 optional bool persistable =false
  4 optional bool need_check_feed =false
  5 optional bool is_parameter =false
  6 optional bool stop_gradient =false
  7 repeated VarDesc.Attr attrs
message BlockDesc
  1 required int32 idx
  2 required int32 parent_idx
  3 repeated VarDesc vars
  4 repeated OpDesc ops
  5 optional int32 forward_block_idx =-1
message OpVersion
  1 required int32 version
message OpVersionMap.OpVersionPair
  1 required string op_name
  2 required OpVersion op_version
message OpVersionMap
  1 repeated OpVersionMap.OpVersionPair pair
message ProgramDesc
  1 repeated BlockDesc blocks
  4 optional Version version
  5 optional OpVersionMap op_version_map
"""

_F = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "bool": _F.TYPE_BOOL, "int32": _F.TYPE_INT32, "int64": _F.TYPE_INT64,
    "float": _F.TYPE_FLOAT, "double": _F.TYPE_DOUBLE, "string": _F.TYPE_STRING,
}  # fmt: skip
_LABELS = {"required": _F.LABEL_REQUIRED, "optional": _F.LABEL_OPTIONAL, "repeated": _F.LABEL_REPEATED}


def _file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name="dy2st/framework.proto", package=_PACKAGE, syntax="proto2")
    messages: dict[str, Any] = {}
    enums: set[str] = set()
    waiting: list[tuple[Any, str]] = []

    def message(path: str) -> Any:
        if path not in messages:
            outer, _, name = path.rpartition(".")
            messages[path] = message(outer).nested_type.add(name=name) if outer else file.message_type.add(name=name)
        return messages[path]

    current, path = None, ""
    for line in _TABLE.strip().splitlines():
        words = line.split()
        if words[0] == "message":
            path = words[1]
            current = message(path)
        elif words[0] == "enum":
            inside = line.startswith(" ")
            enum = (current if inside and current is not None else file).enum_type.add(name=words[1])
            enums.add(f"{path}.{words[1]}" if inside else words[1])
            for entry in words[2:]:
                name, _, number = entry.partition("=")
                enum.value.add(name=name, number=int(number))
        else:
            number, label, kind, name = words[:4]
            assert current is not None
            field = current.field.add(name=name, number=int(number), label=_LABELS[label])
            if len(words) > 4:
                field.default_value = words[4][1:]
            if kind in _SCALARS:
                field.type = _SCALARS[kind]
            else:
                waiting.append((field, kind))
    for field, kind in waiting:  # whether a name is a message or an enum is known only at the end
        field.type = _F.TYPE_ENUM if kind in enums else _F.TYPE_MESSAGE
        field.type_name = f".{_PACKAGE}.{kind}"
    return file


# A pool of our own: an installed PaddlePaddle registers the same names in the default pool.
_pool = descriptor_pool.DescriptorPool()
_pool.Add(_file())


def _class(name: str) -> Any:
    return message_factory.GetMessageClass(_pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


def _enum(name: str) -> dict[str, int]:
    return {v.name: v.number for v in _pool.FindEnumTypeByName(f"{_PACKAGE}.{name}").values}


ProgramDesc: Any = _class("ProgramDesc")
BlockDesc: Any = _class("BlockDesc")
OpDesc: Any = _class("OpDesc")
VarDesc: Any = _class("VarDesc")
TensorDesc: Any = _class("VarType.TensorDesc")

ATTR = _enum("AttrType")
"""AttrType: name -> number."""
VAR = _enum("VarType.Type")
"""VarType.Type: name -> number."""
ATTR_NAMES = {number: name for name, number in ATTR.items()}
VAR_NAMES = {number: name for name, number in VAR.items()}
