"""Programs as bytes and text in PaddlePaddle's ProgramDesc form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from google.protobuf import text_format
from google.protobuf.message import DecodeError, EncodeError, Message

from ..errors import Dy2stError, FormatError
from ..ir import Program, Variable, verify
from ..ir.infer import infer_types
from .framework_proto import ProgramDesc
from .paddle_reader import Reader
from .paddle_writer import Writer, describe_variable

MAX_BYTES = 1 << 28
"""Longest ProgramDesc that is read: 256 MiB. Programs hold no tensors, a large one has a few MiB."""


class LoadedProgram(NamedTuple):
    """A Program and the names that its `feed` and `fetch` ops give and take, in order (empty lists where it has
    none)."""

    program: Program
    feed_names: list[str]
    fetch_names: list[str]
    digest: str | None
    """Of the parameter file that was saved with it, if the writer noted one."""


def program_to_bytes(program: Program, feed_names: Sequence[str] = (), fetch_names: Sequence[str] = (),
                     digest: str | None = None) -> bytes:  # fmt: skip
    """A Program as a serialized ProgramDesc, with `feed` and `fetch` ops for the names given.

    Raises:
        FormatError: it holds something that the format cannot express; all such ops are listed.
    """
    try:
        return Writer(program).write(feed_names, fetch_names, digest).SerializeToString(deterministic=True)
    except (EncodeError, UnicodeEncodeError) as error:  # larger than 2 GiB, or a name with a lone surrogate
        raise FormatError(f"the program cannot be serialized: {error}") from error


def program_from_bytes(data: bytes, into: Program | None = None) -> LoadedProgram:
    """Reads a serialized ProgramDesc of PaddlePaddle (1.x, 2.x) or of `program_to_bytes`.

    Control flow is made structured, names are made unique, types are inferred anew (what a file says of the types of
    intermediate values is not believed), and the result is verified.

    Args:
        data: the bytes.
        into: an empty Program of a subclass to fill.

    Raises:
        FormatError: the bytes are malformed, or ops are not supported (all are listed).
    """
    if len(data) > MAX_BYTES:
        raise FormatError(f"the program has {len(data)} bytes, more than the limit of {MAX_BYTES}")
    try:
        desc = ProgramDesc.FromString(bytes(data))
        _check_text(desc)
        reader = Reader(desc, Program() if into is None else into)
        loaded = reader.read()
    except DecodeError as error:
        raise FormatError(f"not a ProgramDesc: {error}", hint="the file is truncated or no model file") from None
    except UnicodeDecodeError as error:
        raise FormatError(f"a name in the program is not UTF-8: {error}") from None
    except Dy2stError:
        raise
    except Exception as error:  # a file has what no writer writes
        raise _malformed(error) from error
    _check(loaded)
    return LoadedProgram(loaded, reader.feed_names, reader.fetch_names, reader.digest)


def _check_text(message: Message) -> None:
    """Refuses names that are not UTF-8: protobuf gives some of them as bytes, which no code here expects."""
    for field, value in message.ListFields():
        if field.type not in (field.TYPE_STRING, field.TYPE_MESSAGE):
            continue
        for v in [value] if isinstance(value, (str, bytes, Message)) else value:
            if isinstance(v, bytes):
                raise FormatError(f"a name in the program is not UTF-8: {v!r}")
            if isinstance(v, Message):
                _check_text(v)


def _check(program: Program) -> None:
    try:
        infer_types(program)
        verify(program)
    except Exception as error:  # shape rules meet attributes here that no person would write
        raise _malformed(error) from error


def _malformed(error: Exception) -> FormatError:
    message = error.message if isinstance(error, Dy2stError) else f"{type(error).__name__}: {error}"
    return FormatError(f"the program is malformed: {message}")


def program_to_text(program: Program) -> str:
    """The text that PaddlePaddle's `Program.to_string(True)` prints: `blocks { idx: 0 parent_idx: -1 vars { name:
    ...`."""
    return _to_text(Writer(program).write())


def variable_to_text(variable: Variable) -> str:
    """The same for one variable.

    >>> program = Program()
    >>> print(variable_to_text(program.global_block().create_var("loss", "float32", [1])), end="")
    name: "loss"
    type {
      type: LOD_TENSOR
      lod_tensor {
        tensor {
          data_type: FP32
          dims: 1
        }
      }
    }
    persistable: false
    """
    return _to_text(describe_variable(variable))


def _to_text(message: Any) -> str:
    return text_format.MessageToString(message, as_utf8=True)
