"""LLVM's text that is written at once is what llvmlite's own builder writes."""

import pytest
from dy2st_runtime.executor import machine, routines, scalars, tiles
from dy2st_runtime.executor.lines import Builder
from dy2st_runtime.executor.namespace import names_of, namespace
from llvmlite import ir

KERNEL = """
def kernel(args, start, stop):
    x, y, z = ld_int64(args, 0), ld_int64(args, 1), 3
    if x == 0 or not y > 2:
        return room(x, y, 4)
    m = float32(0.0)
    for i in independent(start, stop):
        m = sum_float32(m, abs(ld_float32(x, i % z)))
        st_float32(y, i, m if i > 7 else -m)
    for i in independent(start, stop):
        st_float32(y, i, ld_float32(x, i) + float32(1.5))
    while z < stop and call_reserve(x, z) != 0:
        z += x // y
    return z
"""


def assembly(function: object) -> str:
    module = scalars.module_of(function, "made")
    return str(machine.machine().emit_assembly(scalars.optimized(module, machine.machine(), vectorized=True)))


@pytest.mark.parametrize("name", ["kernel", "serve", "dots_float32", "tiles_float32", "conv_winograd_float32", "array_stack"])
def test_machine_code_is_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function = (scalars.Definition.of_text(KERNEL, "text", {**namespace(), **names_of(KERNEL)}) if name == "kernel"
                else routines.functions()[name])  # fmt: skip
    found = assembly(function)
    for user in (scalars, tiles):
        assert user.Builder is Builder
        monkeypatch.setattr(user, "Builder", ir.IRBuilder)
    assert assembly(function) == found


def test_operands_of_two_types_are_an_error() -> None:
    function = ir.Function(ir.Module(), ir.FunctionType(ir.VoidType(), [ir.IntType(64), ir.IntType(32)]), "f")
    build = Builder(function.append_basic_block("entry"))
    with pytest.raises(TypeError, match="operands of two types: i64 and i32"):
        build.add(*function.args)
    with pytest.raises(TypeError, match="two types"):
        build.call(function, [function.args[1], function.args[1]])
