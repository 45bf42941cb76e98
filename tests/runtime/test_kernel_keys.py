"""Keys of kernels: equal exactly where the rendered source is."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.codegen import cpu
from dy2st_runtime.loopir import nodes as n
from dy2st_runtime.loopir.builder import KernelBuilder


def kernel(var: str = "x", dtype: str = "float32", factor: float = 2.0, op: str = "+", label: str = "k", scalar: str = "float32",
           chosen: bool = True, parallel: bool = True) -> n.Kernel:  # fmt: skip
    k = KernelBuilder(label)
    x, y = k.input(var, dtype, 1), k.output("y", dtype, 1)
    k.set_shape(y, x.shape)
    attr = k.attr(1.5 if scalar.startswith("float") else 2, scalar)
    with (k.parallel if parallel else k.loop)(x.size) as i:
        value: Any = k.let(n.binary(op, x[i], n.cast(n.as_expr(factor), dtype)) + n.cast(attr, dtype))
        y[i] = n.select(value > 0.0, value, x[i]) if chosen else value
    return k.kernel


def test_the_keys_of_kernels_tell_them_apart_as_their_sources_do() -> None:
    variants: list[dict[str, Any]] = [{}, {"var": "other"}, {"dtype": "float64"}, {"factor": 3.0}, {"op": "*"}, {"label": "l"},
                                      {"scalar": "int64"}, {"chosen": False}, {"parallel": False}]  # fmt: skip
    made = [kernel(**v) for v in variants]
    for a in made:
        for b in made:
            assert (a.key == b.key) == (cpu.render(a) == cpu.render(b))
    assert made[0].key == made[1].key == kernel().key  # what tensors are called in the Program is nothing to a kernel
    assert len({k.key for k in made}) == len(made) - 1
