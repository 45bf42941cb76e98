"""The machine code of register tiles (`executor.tiles`)."""

import re

import pytest
from dy2st_runtime.executor import scalars, tiles
from llvmlite import binding as llvm

KINDS = {"skylake-avx512": (64, 32, 8, 3, (8, 4, 2, 1)), "znver4": (64, 32, 8, 3, (8, 4, 2, 1)), "haswell": (32, 16, 6, 2, (6, 4, 2, 1))}
"""Processors, with their vectors and the tiles that fill these."""


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("processor", KINDS)
def test_sums_and_operands_stay_in_registers(processor: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple("x86_64-unknown-linux-gnu").create_target_machine(cpu=processor, opt=3)
    for name, value in zip(("VECTOR_BYTES", "REGISTERS", "ROWS", "VECTORS", "HEIGHTS"), KINDS[processor], strict=True):
        monkeypatch.setattr(tiles, name, value)
    monkeypatch.setattr(tiles, "UNROLLED", tiles.PRODUCTS // (tiles.ROWS * tiles.VECTORS))
    text = machine.emit_assembly(scalars.optimized(scalars.module_of(tiles.dispatch_runs(dtype), "run_tiles"), machine))
    assert text.count("vfmadd") > 48
    assert not re.search(r"%[yz]mm\d+, -?\d*\(%rsp\)|-?\d*\(%rsp\), %[yz]mm\d+", text)
