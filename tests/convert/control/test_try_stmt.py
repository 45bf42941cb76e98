"""What stands behind `try` statements: what can fail, and what is known of values whose block has ended."""

import numpy as np
import pytest
from dy2st_runtime.ir import Block, Program

import dy2st
from dy2st import errors, jit
from dy2st.convert.effects.may_alias import Aliases
from dy2st.convert.trace.raising import is_of_tracing
from dy2st.tensor import Tensor


@pytest.mark.parametrize("divide", [
    lambda x, n: x * (n // 4),
    lambda x, n: x * (n % -3),
    lambda x, n: x * divmod(int(n), 2)[1],
    lambda x, n: x * (int(n) // 7),
])
def test_division_by_a_number_of_the_source_cannot_fail(divide):
    def f(x, n):
        try:
            return divide(x, n)
        except ZeroDivisionError:
            return -x

    static = jit.to_static(f)
    x, n = dy2st.to_tensor(np.float32([1.0, 2.0])), dy2st.to_tensor(np.array(9))
    assert static(x, n).tolist() == f(x, n).tolist()
    assert "cond" not in str(static.main_program)


@pytest.mark.parametrize("divide", [
    lambda x, n: x * (4 // n),
    lambda x, n: x * divmod(int(n) * 0 + 3, int(n))[0],
    lambda x, n: x * (n // 0),
])
def test_division_by_what_may_be_zero_is_caught(divide):
    def f(x, n):
        try:
            return divide(x, n)
        except ZeroDivisionError:
            return -x

    static = jit.to_static(f)
    x = dy2st.to_tensor(np.float32([1.0, 2.0]))
    for n in map(dy2st.to_tensor, (np.array(2), np.array(0))):
        assert static(x, n).tolist() == f(x, n).tolist()


def test_what_was_made_in_a_block_is_forgotten_at_its_end():
    root = Program().global_block()
    inner = Block(root.program, root)
    outside, other, inside = (Tensor.wrap(b.create_var(None, "float32", [])) for b in (root, root, inner))
    result = Tensor.wrap(root.create_var(None, "float32", []))
    aliases = Aliases()
    aliases.merge([(inside, [(inner, outside)])], inner)
    changed, outside._value = outside._value, inner.create_var(None, "float32", [])
    aliases.merge([(other, [(inner, outside)])], inner)
    outside._value = changed
    aliases.merge([(result, [(inner, inside)])], root)
    aliases.leave([inner], root)
    assert aliases.of(inside) == {}
    assert set(aliases.of(result)) == {id(outside), id(other)}
    assert set(aliases.of(outside)) == {id(result), id(other)}


@pytest.mark.parametrize(("error", "known"), [
    (errors.VerifyError("no variable"), False), (errors.GradientError("none"), False), (errors.StructureError("two"), False),
    (errors.of_tracing(errors.ShapeError("ranks")), False), (errors.ShapeError("sizes"), True), (errors.OutOfRangeError("index"), True),
    (ValueError("of the user"), True),
])  # fmt: skip
def test_what_a_handler_of_the_user_may_catch(error, known):
    assert is_of_tracing(error) is not known
