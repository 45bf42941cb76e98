"""`instructions`: the instructions of a code object with their names, variables and constants, and no more.

`dis.get_instructions` also finds lines, columns, labels and texts, which takes most of its time. What it calls for the instructions alone
(`dis._unpack_opargs`) is private, and another thing in each version. What is used here is documented: the lists of `dis`, and `co_code`,
which has one form whether or not Python has specialized the code. A test compares both ways over the standard library.
"""

from __future__ import annotations

import dis
import sys
import types
from typing import Any, NamedTuple

# what the number of an instruction stands for
_NUMBER, _NAME, _CONSTANT, _VARIABLE, _CELL, _TWO_VARIABLES = range(6)

_SHIFTS: dict[str, int] = {}
"""By how many bits the number of a name is shifted: those below it say more about the instruction."""
if sys.version_info >= (3, 11):
    _SHIFTS |= {"LOAD_GLOBAL": 1}
if sys.version_info >= (3, 12):
    _SHIFTS |= {"LOAD_ATTR": 1, "LOAD_SUPER_ATTR": 2}

_CACHE = 0
"""The opcode of the room that Python has behind an instruction, since Python 3.11; no instruction had it before."""

# the numbers of BINARY_OP
_INPLACE = range(13, 26)
_SUBSCRIPT = 26


class Instruction(NamedTuple):
    """An instruction.

    Attributes:
        opname: what it is called.
        argval: the name, constant or variable that it is about, a tuple for two of them; otherwise its number.
    """

    opname: str
    argval: Any


def instructions(code: types.CodeType) -> list[Instruction]:
    """The instructions of a code object, those inside it apart. Each has its whole number, so there is no EXTENDED_ARG."""
    names, constants, raw = code.co_names, code.co_consts, code.co_code
    variables, cells = code.co_varnames, code.co_cellvars + code.co_freevars
    if sys.version_info >= (3, 11):  # one numbering for all
        inner = [name for name in code.co_cellvars if name not in variables]
        variables = cells = (*variables, *inner, *code.co_freevars)
    found = []
    extended = 0
    for op, arg in zip(raw[::2], raw[1::2], strict=True):
        if op == _CACHE:
            continue
        if op == dis.EXTENDED_ARG:
            extended = (extended | arg) << 8
            continue
        number = extended | arg
        extended = 0
        opname, kind, shift = _KINDS[op]
        value: Any = number
        if kind == _NAME:
            value = names[number >> shift]
        elif kind == _VARIABLE:
            value = variables[number]
        elif kind == _CONSTANT:
            value = constants[number]
        elif kind == _CELL:
            value = cells[number]
        elif kind == _TWO_VARIABLES:
            value = variables[number >> 4], variables[number & 15]
        found.append(Instruction(opname, value))
    return found


def is_inplace(i: Instruction) -> bool:
    """Whether it is one of `+=`, `|=`, ..."""
    return i.opname.startswith("INPLACE_") or (i.opname == "BINARY_OP" and i.argval in _INPLACE)


def gets_item(i: Instruction) -> bool:
    """Whether it is `a[b]`."""
    return i.opname == "BINARY_SUBSCR" or (i.opname == "BINARY_OP" and i.argval == _SUBSCRIPT)


def _kind(op: int) -> int:
    if op in dis.hasname:
        return _NAME
    if op in dis.hasconst:
        return _CONSTANT
    if op in dis.haslocal:
        return _TWO_VARIABLES if dis.opname[op].count("_FAST") == 2 else _VARIABLE
    return _CELL if op in dis.hasfree else _NUMBER


OPNAMES = dis.opname[:256]
"""What instructions are called."""

_KINDS = [(dis.opname[op], _kind(op), _SHIFTS.get(dis.opname[op], 0)) for op in range(256)]
