"""What a list with tensors of the program in it cannot be made a tensor of: the exceptions of eager mode."""

import pytest

import dy2st as paddle
from dy2st import to_tensor
from dy2st.errors import ShapeError


@pytest.mark.parametrize("entry", [None, "a", {}, {1}, 1j, [None], [1.0, "a"], [[1.0], [2.0]], [1.0, 2.0, 3.0], 1.0])
@pytest.mark.parametrize("dtype", [None, "float32"])
def test_entries_that_are_no_numbers_and_rows_of_other_lengths(entry, dtype):
    def made(x):
        return to_tensor([x, entry], dtype)

    x = to_tensor([1.0, 2.0])
    caught = []
    for f in (made, paddle.jit.to_static(made)):
        with pytest.raises((TypeError, ValueError)) as e:
            f(x)
        caught.append(e.value)
    eager, static = caught
    assert type(static) is type(eager)
    if isinstance(eager, TypeError):
        assert str(static).splitlines()[0] == str(eager).splitlines()[0]  # names the entry, and no value of the trace


def test_rows_of_which_only_the_run_knows_the_length():
    def made(x, n):
        return to_tensor([x[:n], [1, 2]])

    x = to_tensor([1.0, 2.0, 3.0])
    for f in (made, paddle.jit.to_static(made)):
        assert f(x, to_tensor(2)).numpy().tolist() == [[1, 2], [1, 2]]
        with pytest.raises(ShapeError):
            f(x, to_tensor(3))
