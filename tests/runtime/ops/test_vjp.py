"""Gradients of compositions."""

from typing import Any

import numpy as np
from dy2st_runtime.ops.vjp import vjp
from op_cases import Tape, Value


def leaf(*values: float) -> Value:
    return Value(np.array(values), True)


def test_product_of_two_inputs() -> None:
    b, x, y = Tape(), leaf(2.0, 3.0), leaf(5.0, 7.0)
    dx, dy = vjp(b, lambda r, x, y: r.mul(r.mul(x, x), y), (x, y), (leaf(1.0, 10.0),))
    np.testing.assert_allclose(dx.array, [2 * 2 * 5, 10 * 2 * 3 * 7])
    np.testing.assert_allclose(dy.array, [4, 90])


def test_one_value_in_two_places_has_a_gradient_for_each() -> None:
    b, x = Tape(), leaf(3.0)
    first, second = vjp(b, lambda r, x, y: r.mul(x, r.mul(y, y)), (x, x), (leaf(1.0),))
    np.testing.assert_allclose(first.array, [9.0])
    np.testing.assert_allclose(second.array, [18.0])


def test_results_without_gradient_and_inputs_without_influence() -> None:
    b, x, y = Tape(), leaf(3.0), leaf(4.0)

    def compose(r: Any, x: Any, y: Any, nothing: Any) -> tuple:
        return r.mul(x, x), r.mul(y, y), nothing

    dx, dy, none = vjp(b, compose, (x, y, None), (leaf(1.0), None, None))
    np.testing.assert_allclose(dx.array, [6.0])
    assert dy is None
    assert none is None


def test_what_depends_on_sizes_only_has_no_gradient() -> None:
    b, x = Tape(), leaf(3.0, 4.0)

    def compose(r: Any, x: Any) -> Any:
        return r.mul(x, r.cast_to(r.op("size", Input=x), "float64"))

    np.testing.assert_allclose(vjp(b, compose, (x,), (leaf(1.0, 2.0),))[0].array, [2.0, 4.0])


def test_the_gradient_of_a_gradient() -> None:
    b, x = Tape(), leaf(2.0)

    def slope(r: Any, x: Any) -> Any:
        return vjp(r, lambda s, x: s.mul(x, s.mul(x, x)), (x,), (Value(np.ones(1), True),))[0]

    (second,) = vjp(b, slope, (x,), (leaf(1.0),))
    np.testing.assert_allclose(second.array, [12.0])
