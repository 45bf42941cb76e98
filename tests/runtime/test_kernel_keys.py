"""Keys of kernels: what tells their sources apart; and which kernels have one source."""

from __future__ import annotations

from collections.abc import Sequence
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
            assert (a.key == b.key) == (cpu.render(a) == cpu.render(b) and a.label == b.label)
    assert made[0].key == made[1].key == kernel().key  # what tensors are called in the Program is nothing to a kernel
    assert len({k.key for k in made}) == len(made) - 1


def like(shape: Sequence[int], whole: bool = True) -> n.Kernel:
    """x plus 1, of this shape; `whole`: the output has it too, else the first size is that of another input."""
    k = KernelBuilder("k")
    x, other, y = k.input("x", "float32", shape), k.input("other", "float32", shape[:1]), k.output("y", "float32", shape)
    k.set_shape(y, x.shape if whole else [*other.shape, *x.shape[1:]])
    with k.parallel(x.size) as i:
        y[i] = x[i] + 1.0
    return k.kernel


def test_a_kernel_on_elements_alone_is_one_for_all_shapes() -> None:
    shapes = [(-1,), (5, -1), (-1, 1, 3), (1, 2, 3, 4), (-1, 1, 1, -1)]
    assert len({cpu.render(like(shape)) for shape in shapes}) == 1
    assert cpu.render(like((2, 2, 2, 2, 2))) == cpu.render(like((1, -1, 2, 2, 1, 2, 1, 2))) != cpu.render(like((2, 2)))
    assert len({cpu.render(like(shape, whole=False)) for shape in shapes}) == len(shapes)


def test_sizes_of_1_count_only_where_the_tensor_is_known_to_have_them() -> None:
    k = KernelBuilder("k")
    x, y = k.input("x", "float32", [-1, -1]), k.output("y", "float32", [-1, 1])
    k.set_shape(y, [x.shape[0], 1])  # as of a sum that keeps its axis
    with k.parallel(x.shape[0]) as i:
        y[i] = x[i]
    assert "like" not in cpu.render(k.kernel)
    assert "elements" not in cpu.render(k.kernel)


def test_outputs_get_no_sizes_from_outputs() -> None:
    k = KernelBuilder("k")
    x, y = k.input("x", "float32", [-1]), k.output("y", "float32", [1, 1])
    k.set_shape(y, [1, 1])
    y[0] = x[0]
    assert "like" not in cpu.render(k.kernel)


def test_what_a_kernel_does_not_read_is_not_in_its_source() -> None:
    source = cpu.render(like((-1, 3)))
    assert "t0_p" in source
    assert "t0_d0" not in source
    assert "t1_p" not in source
    assert "t1 =" not in source


def test_what_several_iterations_add_to_is_in_order() -> None:
    def kernel(atomic: bool) -> str:
        k = KernelBuilder("k")
        x, at, y = k.input("x", "float32", 1), k.input("at", "int64", 1), k.output("y", "float32", 1)
        with k.parallel(x.size) as i:
            if atomic:
                y.atomic_add(at[i], x[i])
            else:
                y[i] = x[i]
        return cpu.render(k.kernel)

    assert "independent" not in kernel(atomic=True)
    assert "independent" in kernel(atomic=False)
