"""The machine code of register tiles (`executor.tiles`)."""

import re

import pytest
from dy2st_runtime.executor import machine as machines
from dy2st_runtime.executor import scalars, tiles
from llvmlite import binding as llvm

KINDS = {"skylake-avx512": (64, 32, 8, 3, (8, 4, 2, 1)), "znver4": (64, 32, 8, 3, (8, 4, 2, 1)), "haswell": (32, 16, 6, 2, (6, 4, 2, 1))}
"""Processors, with their vectors and the tiles that fill these."""


def assembly(processor: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Of the routine of rows that are runs of memory, on such a processor."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple("x86_64-unknown-linux-gnu").create_target_machine(cpu=processor, opt=3)
    for name, value in zip(("VECTOR_BYTES", "REGISTERS", "ROWS", "VECTORS", "HEIGHTS"), KINDS[processor], strict=True):
        monkeypatch.setattr(tiles, name, value)
    monkeypatch.setattr(tiles, "UNROLLED", tiles.PRODUCTS // (tiles.ROWS * tiles.VECTORS))
    return machine.emit_assembly(scalars.optimized(scalars.module_of(tiles.dispatch_runs(dtype), "run_tiles"), machine))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("processor", KINDS)
def test_sums_and_operands_stay_in_registers(processor: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = assembly(processor, dtype, monkeypatch)
    assert text.count("vfmadd") > 48
    assert not re.search(r"%[yz]mm\d+, -?\d*\(%rsp\)|-?\d*\(%rsp\), %[yz]mm\d+", text)


@pytest.mark.parametrize("processor", KINDS)
def test_short_sums_ask_for_their_results_between_products(processor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A core waits for some lines of memory at a time only: before the first product these would be in its way."""
    text = assembly(processor, "float32", monkeypatch)
    rows, vectors = KINDS[processor][2:4]
    short, long = (re.search(rf"^run_tile_float32_{rows}x{vectors}{end}:.*?\n\tretq", text, re.DOTALL | re.MULTILINE)
                   for end in ("_by_parts", ""))  # fmt: skip
    assert short
    assert long
    counts = [len(re.findall(r"prefetchw|prefetcht1", found[0].partition("vfmadd")[0])) for found in (short, long)]
    assert counts[0] < counts[1]


@pytest.mark.parametrize(("processor", "wide"), [("sapphirerapids", True), ("znver4", True), ("haswell", False)])
def test_loops_use_the_widest_vectors(processor: str, wide: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """For Intel's processors LLVM takes half of them by itself."""
    features = llvm.FeatureMap({"avx512f": True, "avx512vl": True, "avx512bw": True, "avx512dq": True} if wide else {"avx2": True})
    monkeypatch.setattr(machines.llvm, "get_host_cpu_name", lambda: processor)
    monkeypatch.setattr(machines.llvm, "get_host_cpu_features", lambda: features)
    loop = """define void @f(ptr noalias %a, ptr noalias %b, i64 %n) {
    entry: br label %loop
    loop:
      %i = phi i64 [0, %entry], [%next, %loop]
      %p = getelementptr float, ptr %a, i64 %i
      %q = getelementptr float, ptr %b, i64 %i
      %x = load float, ptr %p
      %y = fadd float %x, 1.0
      store float %y, ptr %q
      %next = add i64 %i, 1
      %more = icmp slt i64 %next, %n
      br i1 %more, label %loop, label %end
    end: ret void
    }"""
    machine = machines.new_machine()
    parsed = llvm.parse_assembly(loop)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    builder.getModulePassManager().run(parsed, builder)
    text = machine.emit_assembly(parsed)
    assert ("zmm" in text) == wide
