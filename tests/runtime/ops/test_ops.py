"""Every row of `cases_*.py`: inference against the reference in three modes, the reference against NumPy, gradients of first and second
order against finite differences, and native code against the reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import op_cases
import pytest
from dy2st_runtime import dims, reference
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.ir import verify
from dy2st_runtime.loopir import nodes as n
from dy2st_runtime.ops import registry
from dy2st_runtime.ops.control import ABSENT
from dy2st_runtime.ops.custom import CustomOp
from dy2st_runtime.ops.fused import GROUPS
from op_cases import Case, Tape, Value

CASES = op_cases.all_cases()
GOOD = [c for c in CASES if c.raises is None]
BAD = [c for c in CASES if c.raises is not None]
STRUCTURAL = {"cond", "while_loop", "call", "absent", "ensure_defined", "suspend", "fence", *GROUPS, "create_tape",
              "tape_push", "tape_extend", "tape_pop", "tape_take", "create_total", "total_add", "total_take"}  # fmt: skip
"""Control flow, whose tests are programs."""


def rows(cases: list[Case]) -> Any:
    return pytest.mark.parametrize("case", cases, ids=op_cases.case_ids(cases))


def test_every_op_has_a_case() -> None:
    ours = {name for name, op in registry.all_ops().items() if not issubclass(op, CustomOp)}
    missing = ours - {c.op for c in CASES} - STRUCTURAL
    assert not missing, f"add rows to tests/runtime/ops/cases_*.py for: {', '.join(sorted(missing))}"


@rows(GOOD)
def test_infer_says_what_the_reference_gives(case: Case) -> None:
    attrs, outs = case.full_attrs(), case.run()
    sizes: dict[tuple[str, int], int] = {}

    def symbolic(tensor: str, axis: int, size: int) -> Any:
        sizes[tensor, axis] = size
        return 1 if size == 1 else n.Size(tensor, axis)  # as kernels see it

    exact = case.record.infer_types(op_cases.input_types(case, lambda tensor, axis, size: size), attrs)
    for name, t, value in op_cases.pairs(case.record, exact, outs):
        assert t.dtype == value.dtype.name, name
        assert [d if dims.known(d) else s for d, s in zip(t.shape, value.shape, strict=True)] == list(value.shape), name
    unknown = case.record.infer_types(op_cases.input_types(case, lambda tensor, axis, size: dims.UNKNOWN), attrs)
    for name, t, value in op_cases.pairs(case.record, unknown, outs):
        assert t.dtype == value.dtype.name, name
        assert all(d is dims.UNKNOWN or d == s for d, s in zip(t.shape, value.shape, strict=True)), name
    with dims.checks() as checks:
        types = case.record.infer_types(op_cases.input_types(case, symbolic), attrs)
    for name, t, value in op_cases.pairs(case.record, types, outs):
        got = [s if d is dims.UNKNOWN else op_cases.evaluate(d, sizes) for d, s in zip(t.shape, value.shape, strict=True)]
        assert got == list(value.shape), name
    for kind, a, b in checks:
        left, right = op_cases.evaluate(a, sizes), op_cases.evaluate(b, sizes)
        holds = {"eq": left == right, "ge": left >= right, "divisible": right and left % right == 0, "stretch": left in (right, 1),
                 "broadcast": left == right or 1 in (left, right)}  # fmt: skip
        assert holds[kind], (kind, a, b)


@rows([c for c in GOOD if c.expect is not None])
def test_the_reference_against_numpy(case: Case) -> None:
    assert case.expect is not None
    with np.errstate(all="ignore"):
        want = case.expect(*[op_cases.present(v) if not isinstance(v, list) else v for v in case.inputs.values()])
    outs = case.run()
    for got, expected in zip(outs, want if isinstance(want, tuple) else (want,), strict=False):
        same(got, expected, case.rtol)


def same(got: Any, want: Any, rtol: float) -> None:
    if want is ABSENT or want is None:
        assert got is None or got is ABSENT
        return
    if isinstance(want, list):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w, rtol)
        return
    want = np.asarray(want)
    assert got.shape == want.shape
    if got.dtype.kind == "f":
        rtol = max(rtol, 2e-3) if got.dtype == np.float16 else rtol
        np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * 0.1)
    else:
        np.testing.assert_array_equal(got, want)


@rows(BAD)
def test_errors_of_the_reference(case: Case) -> None:
    assert case.raises is not None
    with pytest.raises(case.raises, match=case.match):
        case.run()
    if case.static:
        with pytest.raises(case.raises, match=case.match):
            op_cases.build(case, open_dims=False)


@rows([c for c in GOOD if c.gradient_slots()])
def test_gradients_against_finite_differences(case: Case) -> None:
    slots = case.gradient_slots()
    inputs = op_cases.widened_inputs(case)
    rng = np.random.default_rng(0)
    record, attrs = case.record, case.full_attrs()

    def first_gradients(values: dict[str, Any], weights: list[np.ndarray] | None) -> tuple[Tape, list[Value], list[Value], list[Any]]:
        """The leaves, the weights of the outputs as leaves, and the gradients in the leaves."""
        tape = Tape()
        made = {slot: [Value(v, slot in slots) for v in op_cases.as_list(x)] for slot, x in values.items()}
        ins = tuple(made.get(s.name, []) if s.many else made.get(s.name, [None])[0] for s in record.input_slots)
        outs = [o for out in tape.apply(record, ins, attrs) for o in op_cases.as_list(out) if o is not None and o.live]
        assert outs, "no output carries a gradient"
        if weights is None:
            weights = [rng.standard_normal(o.shape) for o in outs]
        seeds = [Value(w, True) for w in weights]
        leaves = [v for slot in slots for v in made[slot]]
        return tape, leaves, seeds, tape.pull_back(list(zip(outs, seeds, strict=True)), leaves)

    tape, leaves, seeds, grads = first_gradients(inputs, None)
    weights = [s.array for s in seeds]
    assert any(g is not None for g in grads)

    def objective(arrays: list[np.ndarray]) -> float:
        outs = record.run_reference(_with(case, inputs, slots, arrays), attrs)
        flat = [o for out in outs for o in op_cases.as_list(out) if op_cases.is_float(o)]
        return sum(float((o * w).sum()) for o, w in zip(flat, weights, strict=False))

    _compare(objective, [v.array for v in leaves], [_array(g, v) for g, v in zip(grads, leaves, strict=True)], rng)
    if not case.second:
        return
    # the gradient's projection on random directions is a function of the inputs and the weights: differentiate it again
    directions = [rng.standard_normal(v.shape) for v in leaves]
    projected = [(g, Value(d)) for g, d in zip(grads, directions, strict=True) if g is not None and g.live]
    again = tape.pull_back(projected, [*leaves, *seeds])

    def projection(arrays: list[np.ndarray]) -> float:
        values = dict(inputs)
        rest = list(arrays)
        for slot in slots:
            taken = [rest.pop(0) for _ in op_cases.as_list(inputs[slot])]
            values[slot] = taken if isinstance(inputs[slot], list) else taken[0]
        found = first_gradients(values, rest)[3]
        return sum(float((g.array * d).sum()) for g, d in zip(found, directions, strict=True) if g is not None)

    everything = [*leaves, *seeds]
    _compare(projection, [v.array for v in everything], [_array(g, v) for g, v in zip(again, everything, strict=True)], rng)


def _with(case: Case, inputs: dict[str, Any], slots: list[str], arrays: list[np.ndarray]) -> tuple[Any, ...]:
    values, rest = dict(inputs), list(arrays)
    for slot in slots:
        taken = [rest.pop(0) for _ in op_cases.as_list(inputs[slot])]
        values[slot] = taken if isinstance(inputs[slot], list) else taken[0]
    return Case(case.op, values).values()


def _array(grad: Value | None, value: Value) -> np.ndarray:
    return np.zeros(value.shape) if grad is None else grad.array


def _compare(f: Callable[[list[np.ndarray]], float], at: list[np.ndarray], grads: list[np.ndarray], rng: np.random.Generator) -> None:
    """Each gradient against central differences along a random direction."""
    step = 1e-6
    for i, (x, g) in enumerate(zip(at, grads, strict=True)):
        if x.size == 0:
            continue
        direction = rng.standard_normal(x.shape)
        ends = [f([v + s * direction if j == i else v for j, v in enumerate(at)]) for s in (step, -step)]
        want = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(float((g * direction).sum()), want, rtol=1e-5, atol=1e-6, err_msg=f"input {i}")


def native_rows() -> list[Any]:
    """Every row with open dims, which is the general code; with known sizes the first row of each op, and the others if there is time."""
    params: list[Any] = []
    seen: set[str] = set()
    cases = [c for c in GOOD if c.native and not c.record.host]
    for case, name in zip(cases, op_cases.case_ids(cases), strict=True):
        params.append(pytest.param(case, True, id=f"{name}-open"))
        params.append(pytest.param(case, False, id=f"{name}-static", marks=[pytest.mark.slow] if case.op in seen else []))
        seen.add(case.op)
    return params


@pytest.mark.parametrize(("case", "open_dims"), native_rows())
def test_native_code_against_the_reference(case: Case, open_dims: bool) -> None:
    built = op_cases.build(case, open_dims)
    verify(built.program)
    names = list(built.feeds)
    executable = Executable(built.program, names, built.outputs, absent_feeds=built.absent)
    state = {name: value.copy() for name, value in built.state.items()}
    got = executable.run([built.feeds[name] for name in names], state)
    expected_state = dict(built.state)
    want = reference.run_program(built.program, built.feeds, expected_state)
    for name, value in zip(built.outputs, got, strict=True):
        if want[name] is not ABSENT and not isinstance(want[name], list):
            assert value.dtype == want[name].dtype, name
        same(value, want[name], case.rtol)
    for name, value in expected_state.items():
        same(state[name], value, case.rtol)


@rows([c for c in BAD if not c.static])
def test_native_code_raises_what_the_reference_raises(case: Case) -> None:
    assert case.raises is not None
    built = op_cases.build(case, open_dims=True)
    names = list(built.feeds)
    executable = Executable(built.program, names, built.outputs)
    state = {name: value.copy() for name, value in built.state.items()}
    with pytest.raises(case.raises, match=case.match):
        executable.run([built.feeds[name] for name in names], state)
    for name, value in built.state.items():
        np.testing.assert_array_equal(state[name], value)


@pytest.mark.parametrize(("op", "attrs", "asks"), [
    ("relu", {}, False), ("relu6", {}, False), ("clip", {"min": -1.0, "max": 0.0}, False), ("elementwise_min", {}, True),
    ("clip", {"min": 0.0, "max": float("nan")}, True),
])  # fmt: skip
def test_a_bound_that_is_a_number_is_not_asked_whether_it_is_one(op: str, attrs: dict[str, Any], asks: bool) -> None:
    x = np.array([0.0, -0.0, np.nan, -3.0, 7.0] * 7, np.float32)
    case = Case(op, {"X": x, "Y": x[::-1].copy()} if op == "elementwise_min" else {"X": x}, attrs)
    built = op_cases.build(case, open_dims=False)
    executable = Executable(built.program, [*built.feeds], built.outputs)
    assert any("!=" in line for source in executable.sources for line in source.splitlines() if " else " in line) == asks
    got, want = executable.run([*built.feeds.values()])[0], case.run()[0]
    np.testing.assert_array_equal(got, want)
    if op == "relu":
        assert not np.signbit(got[~np.isnan(got)]).any()
