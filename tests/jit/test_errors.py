"""Errors name the user's line, with a caret, and the traceback shows the user's frames only."""

import inspect
import linecache
import traceback

import culprits
import pytest
from dy2st_runtime import config

from dy2st import jit
from dy2st.errors import Dy2stError, FeedError
from dy2st.tensor import Tensor

FUNCTIONS = [f for _, f in inspect.getmembers(culprits, inspect.isfunction) if f.__module__ == "culprits"]


def culprit(function):
    lines, first = inspect.getsourcelines(function)
    for number, line in enumerate(lines, first):
        if "# error: " in line:
            return number, line.partition("# error: ")[2].strip()
    raise AssertionError("no line is marked")


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_error(function):
    line, text = culprit(function)
    args = [Tensor([1.0, 2.0]), Tensor(2)][: len(inspect.signature(function).parameters)]
    with pytest.raises(Dy2stError) as caught:
        jit.to_static(function)(*args)
    error = caught.value
    assert error.location is not None
    assert (error.location.file, error.location.line) == (culprits.__file__, line), str(error)
    assert error.message.startswith(text), error.message
    assert "^" in str(error)
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    assert files[0] == __file__
    assert culprits.__file__ in files
    assert [f for f in files if "/dy2st" in f or "dy2st_runtime" in f][1:] == [], files


def test_traceback_shows_the_user_s_lines():
    with pytest.raises(IndexError) as caught:
        jit.to_static(culprits.index)(Tensor([1.0, 2.0]))
    text = "".join(traceback.format_exception(caught.value))
    line, _ = culprit(culprits.index)
    assert f'culprits.py", line {line}, in index' in text
    assert linecache.getline(culprits.__file__, line).strip() in text


def test_full_tracebacks_can_be_had():
    with config.FULL_TRACEBACK.override(True), pytest.raises(TypeError) as caught:
        jit.to_static(culprits.numpy_of_staged)(Tensor([1.0]))
    assert any("dispatch.py" in f.filename for f in traceback.extract_tb(caught.value.__traceback__))


def raises(x):
    if x.sum() < 0:
        raise KeyError("no such key")
    return x


def test_an_exception_of_the_user_keeps_type_and_message_and_gains_the_line():
    static = jit.to_static(raises)
    static(Tensor([1.0]))
    with pytest.raises(KeyError, match="no such key") as caught:
        static(Tensor([-1.0]))
    notes = "\n".join(caught.value.__notes__)
    assert f"{__file__}:{raises.__code__.co_firstlineno + 2}:" in notes
    assert 'raise KeyError("no such key")' in notes


class Custom(Exception):
    pass


def raises_custom(x):
    if x.sum() < 0:
        raise Custom
    return x


def test_an_exception_class_of_the_user_cannot_be_staged():
    with pytest.raises(Dy2stError, match="Custom cannot be raised under a condition"):
        jit.to_static(raises_custom)(Tensor([1.0]))


def recurses(x):
    if x.sum() > 10:
        return x
    return recurses(x * 2)


def test_recursion_under_a_tensor_condition_is_a_clear_error():
    with pytest.raises(RecursionError, match="write it as a loop") as caught:
        jit.to_static(recurses)(Tensor([1.0]))
    assert "in recurses" in "".join(caught.value.__notes__)


def test_an_argument_that_does_not_fit_its_spec_names_the_line_of_the_call():
    doubled = jit.to_static(lambda x: x * 2, input_spec=[jit.InputSpec([None, 3], "float32", "x")])
    with pytest.raises(FeedError, match="its InputSpec says") as raised:
        doubled(Tensor([[1.0]]))
    assert raised.value.location.text.strip() == "doubled(Tensor([[1.0]]))"
