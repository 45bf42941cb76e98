"""`bytecode` reads of code what `dis` reads."""

import dis
import types
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import dy2st
from dy2st.convert.pyfacts.bytecode import gets_item, instructions, is_inplace
from dy2st.convert.pyfacts.code_names import codes_in, names_of

# those whose numbers stand for names, constants or variables; of KW_NAMES some versions of `dis` do not say which they are
MEANT = {*dis.hasname, *dis.hasconst, *dis.haslocal, *dis.hasfree} - {dis.opmap.get("KW_NAMES")}
FOLDERS = {
    "dy2st": Path(dy2st.__file__).parent,
    "numpy": Path(np.__file__).parent / "lib",
    "python": Path(dis.__file__).parent,
    "asyncio": Path(dis.__file__).parent / "asyncio",
}


def codes(folder: Path) -> Iterator[types.CodeType]:
    for file in sorted(folder.glob("*.py")):
        yield from codes_in(compile(file.read_bytes(), str(file), "exec", dont_inherit=True))


@pytest.mark.parametrize("name", FOLDERS)
@pytest.mark.filterwarnings("ignore")
def test_instructions_are_those_of_dis(name):
    number = 0
    for code in codes(FOLDERS[name]):
        number += 1
        made = instructions(code)
        expected = [i for i in dis.get_instructions(code) if i.opname != "EXTENDED_ARG"]
        assert [i.opname for i in made] == [i.opname for i in expected]
        for i, e in zip(made, expected, strict=True):
            if e.opcode in MEANT:
                assert i.argval is e.argval or i.argval == e.argval, (code, e)
            elif e.opname == "BINARY_OP":
                assert (is_inplace(i), gets_item(i)) == (e.argrepr.endswith("="), e.argrepr == "[]"), (code, e)
    assert number > 100


def test_numbers_of_more_than_a_byte():
    lines = [f"    x.a{k} = k{k}" for k in range(600)]
    space: dict = {}
    exec("\n".join(["def f(x):", *lines, "    return x.last.one"]), space)
    code = space["f"].__code__
    made = [i for i in instructions(code) if i.opname == "STORE_ATTR"]
    assert [i.argval for i in made] == [f"a{k}" for k in range(600)]
    # an instruction for a part of a number hides nothing of the instruction before it
    assert names_of(code).given_first == {f"a{k}" for k in range(600)}
    exec("\n".join(["def g(x):", *lines, "    return np.linalg.norm(x)"]), space)
    assert ("np", "linalg", "norm") in names_of(space["g"].__code__).chains


def test_in_place_operators_and_items():
    def f(a, b):
        a += b
        a @= b
        return a + b, a[b]

    made = instructions(f.__code__)
    assert sum(map(is_inplace, made)) == 2
    assert sum(map(gets_item, made)) == 1
