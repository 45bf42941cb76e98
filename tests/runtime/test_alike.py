"""Ops that are alike are lowered once: to exactly what each alone becomes."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dy2st_runtime.backward import append_backward
from dy2st_runtime.ir import Program, Variable, clone_program, verify
from dy2st_runtime.lowering import lower as lowering
from dy2st_runtime.lowering.alike import Pattern
from dy2st_runtime.lowering.schedule import Launch, Schedule, Step, nested
from dy2st_runtime.passes.pipeline import optimize
from dy2st_runtime.passes.shapes import symbolic_shapes

from hand_built import Made  # isort: skip
from random_programs import FLOATS, random_source, staged  # isort: skip


def shown(steps: list[Step]) -> list[Any]:
    """All that a plan is made of."""
    found: list[Any] = []
    for s in steps:
        if isinstance(s, Launch):
            scalars = [(a.name, a.dtype, repr(a.value)) for a in s.kernel.scalars]
            found.append((s.kernel.key, [vars(t) for t in s.kernel.tensors], scalars, id(s.op), s.views, s.takes))
        else:
            plain = {name: value for name, value in vars(s).items() if not any(value is inner for inner in nested(s))}
            found.append((type(s).__name__, plain, [shown(inner) for inner in nested(s)]))
    return found


def parts(schedule: Schedule) -> list[Any]:
    routines = [(name, r.params, r.results, r.captured, parts(r.schedule)) for name, r in schedule.routines.items()]
    return [shown(schedule.steps), [*schedule.variables], [*schedule.same.items()], routines]


@pytest.fixture
def bound(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The types of the ops that are lowered by a pattern."""
    found: list[str] = []
    bind = Pattern.bind

    def noting(self: Pattern, cx: Any, op: Any) -> None:
        found.append(op.ops[0].type)
        bind(self, cx, op)

    monkeypatch.setattr(Pattern, "bind", noting)
    return found


def require_same(program: Program, keep: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Lowers a Program both ways."""
    verify(program)
    feeds = [v.name for v in program.global_block().vars.values() if v.is_data]
    program, _, shapes = optimize(clone_program(program), feeds, keep)
    for routines in (True, False):
        once = lowering.lower(program, shapes, routines=routines)
        with monkeypatch.context() as patch:
            patch.setattr(lowering, "numbered", lambda *_: None)
            each = lowering.lower(program, shapes, routines=routines)
        assert parts(once) == parts(each)


def layers(count: int, layer: Callable[[Variable, int], Variable], x: Variable) -> Variable:
    for i in range(count):
        x = layer(x, i)
    return x


def convolution(m: Made, open_batch: bool) -> tuple[Variable, list[Variable]]:
    weights: list[Variable] = []

    def layer(x: Variable, i: int) -> Variable:
        w = m.data(f"w{i}", [8, 8, 3, 3])
        weights.append(w)
        y = m.b.op("conv2d", Input=x, Filter=w, paddings=[1, 1], strides=[1, 1], dilations=[1, 1], groups=1)
        scale, bias, mean, variance = (m.data(f"{name}{i}", [8]) for name in ("scale", "bias", "mean", "variance"))
        y = m.b.batch_norm(y, scale, bias, mean, variance)[0]
        return m.b.relu(m.b.add(y, x))

    x = m.data("x", [-1 if open_batch else 2, 8, 6, 6])
    return layers(4, layer, x), weights


def attention(m: Made, open_batch: bool) -> tuple[Variable, list[Variable]]:
    weights: list[Variable] = []

    def layer(x: Variable, i: int) -> Variable:
        w = m.data(f"w{i}", [16, 16])
        weights.append(w)
        scores = m.b.softmax(m.b.scaled(m.b.matmul_v2(x, x, trans_y=True), 0.25))
        y = m.b.matmul_v2(m.b.matmul_v2(scores, x), w)
        return m.b.layer_norm(m.b.add(m.b.gelu(y), x), m.data(f"scale{i}", [16]), m.data(f"bias{i}", [16]), begin_norm_axis=2)[0]

    return layers(4, layer, m.data("x", [-1 if open_batch else 2, 5, 16])), weights


@pytest.mark.parametrize("open_batch", [False, True])
@pytest.mark.parametrize("network", [convolution, attention])
def test_the_layers_of_a_network(network: Any, open_batch: bool, bound: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    m = Made()
    out, weights = network(m, open_batch)
    gradients = append_backward(m.program, [m.b.op("reduce_mean", X=out, dim=[], reduce_all=True)], weights)
    require_same(m.program, [out.name, *(g.name for g in gradients if g is not None)], monkeypatch)
    heavy = [name for name in bound if name.startswith(("conv2d", "fused_conv2d", "matmul", "fused_matmul", "layer_norm", "fused_rows"))]
    assert len(heavy) >= 2 * 2 * 3  # twice, of at least two kinds, all but the first


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    program, target = staged(random_source(random.Random(seed), 12), -1 if seed % 2 else 2)
    block = program.global_block()
    gradients = append_backward(program, [target], [block.var(name) for name in FLOATS])
    require_same(program, [target.name, *(g.name for g in gradients if g is not None)], monkeypatch)


def test_what_is_changed_in_place(bound: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    m = Made()
    x, rows = m.data("x", [4, 3]), [m.data(f"row{i}", [2, 3]) for i in range(3)]
    at = m.data("at", [2], "int64")
    for row in rows:
        x = m.b.op("scatter", X=x, Ids=at, Updates=row, overwrite=True)
    require_same(m.program, [x.name], monkeypatch)
    assert bound.count("scatter") == 2 * 2
    feeds = {"x": np.zeros([4, 3], "float32"), "at": np.array([2, 0]), **{f"row{i}": np.full([2, 3], i + 1.0, "float32") for i in range(3)}}
    m.compare([x], feeds)


def test_what_tells_ops_apart(bound: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of these differs from the others by one thing that its kernel or its checks depend on."""
    m = Made()
    x, y, z, wide = m.data("x", [2, 3]), m.data("y", [2, 3]), m.data("z", [2, 1]), m.data("wide", [2, 3], "float64")
    p, q, r = m.data("p", [-1, 3]), m.data("q", [-1, 3]), m.data("r", [-1, 3])
    _ = [
        m.b.op("pow", X=x, factor=0.0),
        m.b.op("pow", X=x, factor=-0.0),
        m.b.op("pow", X=wide, factor=0.0),
        m.b.op("reduce_sum", X=x, dim=[], reduce_all=True),
        m.b.op("reduce_sum", X=m.data("large", [700, 600]), dim=[], reduce_all=True),
        m.b.matmul_v2(x, x, trans_y=True),
        m.b.matmul_v2(x, y, trans_y=True),
        m.b.op("elementwise_max", X=x, Y=x),
        m.b.op("elementwise_max", X=x, Y=y),
        m.b.op("elementwise_max", X=x, Y=z),
        m.b.op("elementwise_max", X=p, Y=q),
        m.b.op("elementwise_max", X=p, Y=r),
        m.b.op("elementwise_max", X=p, Y=m.b.tanh(p)),
    ]
    program, shapes = m.program, symbolic_shapes(m.program)
    for known in (shapes, None):
        with monkeypatch.context() as patch:
            once = lowering.lower(program, known, routines=True)
            patch.setattr(lowering, "numbered", lambda *_: None)
            assert parts(once) == parts(lowering.lower(program, known, routines=True))
    # p and q are as far from each other as p and r, as far as the types tell
    assert bound == ["elementwise_max"] * 2


def test_a_value_that_may_be_absent_is_guarded(bound: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    m = Made()
    x, go = m.data("x", [2, 3]), m.data("go", [], "bool")
    (y,) = m.cond(go, lambda: [m.b.tanh(x)], lambda: [m.b.op("absent", dtype="float32", shape=[2, 3])])
    outs = [m.b.exp(m.b.exp(y)), m.b.matmul_v2(y, y, trans_y=True), m.b.matmul_v2(x, x, trans_y=True), m.b.matmul_v2(y, y, trans_y=True)]
    require_same(m.program, [v.name for v in outs], monkeypatch)
    assert "matmul_v2" not in bound
    m = Made()
    x, go = m.data("x", [2, 3]), m.data("go", [], "bool")
    (y,) = m.cond(go, lambda: [m.b.tanh(x)], lambda: [m.b.op("absent", dtype="float32", shape=[2, 3])])
    sums = [m.b.op("sum", X=pair) for pair in ([x, x], [x, y], [y, x])]
    require_same(m.program, [v.name for v in sums], monkeypatch)
