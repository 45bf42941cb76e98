"""What the tests of backward share: vectors, loops that count, and a check against finite differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from dy2st_runtime import reference
from dy2st_runtime.backward import append_backward
from dy2st_runtime.ir import Operator, Variable, verify
from dy2st_runtime.ops.control import ABSENT

from hand_built import Made  # isort: skip


class Float64(Made):
    """A Program on float64 vectors of three elements, with checks of its gradients."""

    def vector(self, name: str) -> Variable:
        return self.data(name, [3], "float64")

    def count(self, name: str = "n") -> Variable:
        return self.data(name, [], "int64")

    def total(self, *xs: Variable) -> Variable:
        parts = [self.b.op("reduce_sum", X=self.b.mul(x, x), dim=[], reduce_all=True) for x in xs]
        return self.b.op("sum", X=parts)

    def repeat(self, n: Variable, body: Any, xs: Sequence[Variable]) -> list[Variable]:
        """`for i in range(n): xs = body(i, *xs)`."""
        zero = self.b.constant(0, "int64")

        def step(i: Variable, *state: Variable) -> list[Variable]:
            return [self.b.scaled(i, 1.0, 1.0), *body(i, *state)]

        outs, _ = self.loop(lambda i, *state: self.b.less_than(i, n), step, [zero, *xs])
        return outs[1:]

    def check(
        self, target: Variable, wrt: Sequence[Variable], *cases: dict[str, Any], absent: Sequence[str] = ()
    ) -> list[Any]:
        """Compares each gradient with finite differences; those of `absent` must be absent. Returns the last ones."""
        gradients = append_backward(self.program, [target], wrt)
        verify(self.program)
        values: list[Any] = []
        for number, case in enumerate(cases):
            rng = np.random.default_rng(number)
            feeds = {v.name: rng.normal(size=[2 if d == -1 else d for d in v.shape]) for v in wrt if v.is_data} | {
                name: np.asarray(value) for name, value in case.items()
            }
            env = reference.run_program(self.program, feeds, {})
            values = [None if g is None else env[g.name] for g in gradients]
            for v, value in zip(wrt, values, strict=True):
                if v.name in absent:
                    assert value is ABSENT
                else:
                    np.testing.assert_allclose(
                        value, self.slope(target, v, feeds), rtol=1e-6, atol=1e-8, err_msg=f"{v.name} {case}"
                    )
        return values

    def slope(self, target: Variable, v: Variable, feeds: dict[str, Any]) -> np.ndarray:
        result = np.zeros(feeds[v.name].shape)
        for index in np.ndindex(result.shape):
            sides = []
            for sign in (1, -1):
                moved = feeds[v.name].copy()
                moved[index] += sign * 1e-6
                sides.append(reference.run_program(self.program, {**feeds, v.name: moved}, {})[target.name])
            result[index] = (sides[0] - sides[1]) / 2e-6
        return result


COUNTS = [{"n": k} for k in (0, 1, 2, 5)]


def ops_of(m: Made, op_type: str) -> list[Operator]:
    return [op for block in m.program.blocks for op in block.ops if op.type == op_type]
