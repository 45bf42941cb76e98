"""Errors name the user's line, with a caret, and the traceback shows the user's frames only."""

import inspect
import linecache
import re
import traceback
from pathlib import Path

import culprits
import numpy as np
import pytest
from dy2st_runtime import Predictor, config

import dy2st
from dy2st import jit
from dy2st.convert.control import join as patterns
from dy2st.convert.values.one_of import Options
from dy2st.errors import (
    AttributeValueError,
    Dy2stError,
    FeedError,
    OutOfRangeError,
    RecursionLimitError,
    ShapeError,
    StagedValueError,
)
from dy2st.tensor import Tensor

# the codes that the language page promises, by the name of the culprit
CODES = dict(re.findall(r"culprits\.(\w+) (D2S\d+)", (Path(__file__).parents[1] / "docs" / "language_programs.txt").read_text("utf-8")))


def culprit(function):
    lines, first = inspect.getsourcelines(function)
    for number, line in enumerate(lines, first):
        if "# error: " in line:
            return number, line.partition("# error: ")[2].strip()
    raise AssertionError("no line is marked")


@pytest.mark.parametrize("function", culprits.FUNCTIONS, ids=lambda f: f.__name__)
def test_error(function):
    line, text = culprit(function)
    args = [Tensor([1.0, 2.0]), Tensor(2)][: len(inspect.signature(function).parameters)]
    culprits.python._table.cache_clear()  # another test may have called it
    with pytest.raises(Dy2stError) as caught:
        jit.to_static(function)(*args)
    error = caught.value
    assert error.code == CODES.get(function.__name__, error.code)
    assert error.location is not None
    assert (error.location.file, error.location.line) == (inspect.getfile(function), line), str(error)
    assert error.message.startswith(text), error.message
    assert "^" in str(error)
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    assert files[0] == __file__
    assert inspect.getfile(function) in files
    assert [f for f in files if "/dy2st" in f or "dy2st_runtime" in f][1:] == [], files


def leaves_gradients_off(x):
    y = x * 2
    dy2st.set_grad_enabled(False)
    return y


def test_a_mode_that_a_call_leaves_behind_is_an_error_and_put_back():
    with pytest.raises(StagedValueError, match="leaves its caller with gradients recorded, or not") as caught:
        jit.to_static(leaves_gradients_off)(Tensor([1.0]))
    assert caught.value.location.text.strip() == "return y"
    assert dy2st.is_grad_enabled()


def test_traceback_shows_the_user_s_lines():
    with pytest.raises(IndexError) as caught:
        jit.to_static(culprits.paths.index)(Tensor([1.0, 2.0]))
    text = "".join(traceback.format_exception(caught.value))
    line, _ = culprit(culprits.paths.index)
    assert f'paths.py", line {line}, in index' in text
    assert linecache.getline(culprits.paths.__file__, line).strip() in text


def test_full_tracebacks_can_be_had():
    with config.FULL_TRACEBACK.override(True), pytest.raises(TypeError) as caught:
        jit.to_static(culprits.libraries.numpy_of_staged)(Tensor([1.0]))
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
        raise Custom("negative")
    return x


def test_an_exception_of_the_user_shows_the_line():
    with pytest.raises(Custom, match="negative") as caught:
        jit.to_static(raises_custom)(Tensor([-1.0]))
    assert "in raises_custom" in "".join(caught.value.__notes__)


def test_who_loads_a_model_gets_a_runtime_error_for_an_exception_of_the_user(tmp_path):
    jit.save(jit.to_static(raises_custom), str(tmp_path / "m"), input_spec=[jit.InputSpec([None], "float32", "x")])
    predictor = Predictor(str(tmp_path / "m"))
    np.testing.assert_array_equal(predictor.run({"x": np.array([1.0], np.float32)})[0], [1.0])
    with pytest.raises(RuntimeError, match=r"^Custom: negative$"):
        predictor.run({"x": np.array([-1.0], np.float32)})


def recurses(x, done=()):
    if x.sum() > 10:
        return x
    return recurses(x * 2, (*done, "more"))


def test_recursion_with_other_python_values_each_time_is_a_clear_error():
    with pytest.raises(RecursionLimitError, match="let what changes from call to call be tensors or numbers") as caught:
        jit.to_static(recurses)(Tensor([1.0]))
    assert caught.value.location.function == "recurses"


def test_an_argument_that_does_not_fit_its_spec_names_the_line_of_the_call():
    doubled = jit.to_static(lambda x: x * 2, input_spec=[jit.InputSpec([None, 3], "float32", "x")])
    with pytest.raises(FeedError, match="its InputSpec says") as raised:
        doubled(Tensor([[1.0]]))
    assert raised.value.location.text.strip() == "doubled(Tensor([[1.0]]))"


@pytest.mark.parametrize(
    "function",
    [
        lambda x, n: dy2st.split(x, x.shape[0]),
        lambda x, n: dy2st.argmax(x, axis=n),
        lambda x, n: dy2st.sum(x, axis=[n]),
        lambda x, n: dy2st.nn.functional.softmax(x, axis=n),
        lambda x, n: dy2st.diag(x[0], int(n)),
        lambda x, n: dy2st.nn.functional.normalize(x, float(n)),
    ],
    ids=["parts", "axis", "axes", "attribute", "size", "order"],
)
def test_an_argument_that_must_be_known_says_that_it_is_not(function):
    spec = [jit.InputSpec([None, 3], "float32"), jit.InputSpec([], "int64")]
    with pytest.raises(StagedValueError, match="only known when the program runs"):
        jit.to_static(function, input_spec=spec)(Tensor([[1.0, 2.0, 3.0]]), Tensor(1))


def test_the_axis_of_a_cross_product_is_not_guessed_where_sizes_are_open():
    cross = jit.to_static(lambda x: dy2st.cross(x, x + 1), input_spec=[jit.InputSpec([None, 3], "float32", "x")])
    two, three = Tensor([[1.0, 2.0, 4.0]] * 2), Tensor([[1.0, 2.0, 4.0]] * 3)
    assert cross(two).tolist() == dy2st.cross(two, two + 1).tolist()
    with pytest.raises(ValueError, match="whose size is open, has size 3 as axis 1 has; give the axis"):
        cross(three)


@pytest.mark.parametrize("no_jit", [False, True])
def test_a_mask_of_another_size_is_an_error_where_sizes_are_open(no_jit):
    def write(x, m):
        x = x * 1
        x[m] = 0.0
        return x

    specs = [jit.InputSpec([None, 2], "float32", "x"), jit.InputSpec([None], "bool", "m")]
    for function in (lambda x, m: x[m], write):
        with config.NO_JIT.override(no_jit):
            static = jit.to_static(function, input_spec=specs)
            x, fits, short = Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([True, False]), Tensor([True])
            assert static(x, fits).tolist() == function(x, fits).tolist()
            for called in (function, static):
                with pytest.raises(OutOfRangeError, match="the mask has size 1 on its axis 0, the tensor has 2 there"):
                    called(x, short)


def test_repeats_are_as_many_as_the_slices():
    repeat = jit.to_static(lambda x, n: dy2st.repeat_interleave(x, n, 0), input_spec=[
        jit.InputSpec([None], "float32", "x"), jit.InputSpec([None], "int64", "n")])  # fmt: skip
    assert repeat(Tensor([1.0, 2.0]), Tensor([2])).tolist() == [1.0, 1.0, 2.0, 2.0]
    assert repeat(Tensor([1.0, 2.0]), Tensor([0, 3])).tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(ShapeError):
        repeat(Tensor([1.0, 2.0]), Tensor([2, 3, 4]))
    with pytest.raises(AttributeValueError, match="repeats must be at least 0"):
        repeat(Tensor([1.0, 2.0]), Tensor([2, -1]))


def positive(x):
    for v in x:
        if v > 0:
            yield v


def test_the_hint_says_why_a_function_is_not_converted():
    namespace = {}
    exec("def f(x):\n    return x * 2 if x.sum() > 0 else x", namespace)
    for function, why in (
        (namespace["f"], "'f' are not converted, as the source of 'f' cannot be had: define the function in a file"),
        (lambda x: list(positive(x)), "'positive' are not converted, as it is a generator function: make it"),
    ):
        with pytest.raises(Dy2stError) as caught:
            jit.to_static(function)(Tensor([1.0, 2.0]))
        assert why in str(caught.value)


def test_exceptions_of_a_run_have_what_is_in_their_slots():
    @jit.to_static
    def f(x, n):
        if n == 1:
            raise StopIteration(x * 2, 5)
        if n == 2:
            raise UnicodeDecodeError("utf8", b"abc", 1, 2, "bad")
        if n == 3:
            raise OSError(2, "no", "a.txt")
        return x

    x = Tensor([1.0, 2.0])
    with pytest.raises(StopIteration) as stop:
        f(x, Tensor(1))
    np.testing.assert_array_equal(stop.value.value.numpy(), [2.0, 4.0])
    with pytest.raises(UnicodeDecodeError, match=r"^'utf8' codec can't decode byte 0x62 in position 1: bad"):
        f(x, Tensor(2))
    with pytest.raises(FileNotFoundError, match=r"^\[Errno 2\] no: 'a.txt'"):
        f(x, Tensor(3))


def asked_for_nothing(x):
    if x:
        pass
    return x * 2


def negated_for_nothing(x):
    _ = not x
    return x * 2


def asked_and_then_fails(x):
    _ = x * 2 if x else x
    raise ValueError("behind it")


def added_for_nothing(x):
    _ = (x + paddle_ones(3)).sum().tanh()
    return x * 2


def paddle_ones(n):
    return dy2st.ones([n])


@pytest.mark.parametrize("function", [asked_for_nothing, negated_for_nothing, asked_and_then_fails, added_for_nothing])
def test_sizes_that_do_not_fit_are_an_error_though_nobody_reads_the_result(function):
    static = jit.to_static(function)
    for f in (function, static):
        with pytest.raises(ShapeError, match=r"of a tensor with 2 elements is ambiguous|do not broadcast") as caught:
            f(Tensor([1.0, 2.0]))
        assert caught.value.location.line == function.__code__.co_firstlineno + 1
    if function is not asked_and_then_fails:
        np.testing.assert_array_equal(static(Tensor([3.0])).numpy(), [6.0])


def kept_on_one_path(x):
    found = [x]
    if x.sum() > 0:
        found = [x, x * 2]
    return found


def test_a_mistake_of_the_compiler_is_not_taken_for_what_the_program_raises(monkeypatch):
    static = jit.to_static(lambda x: kept_on_one_path(x) if x.max() > 0 else x)
    monkeypatch.setattr(patterns, "split", ().index)
    with pytest.raises(ValueError, match="not in tuple"):
        static(Tensor([-1.0]))  # though this call does not get to the inner branch


def texts_that_grow(x):
    said = []
    while x.sum() > len(said):
        said.append("more")
    return len(said)


def test_an_assertion_of_the_compiler_is_not_taken_for_what_the_program_raises(monkeypatch):
    static = jit.to_static(lambda x: texts_that_grow(x) if x.max() > 0 else 0)
    monkeypatch.setattr(Options, "place", lambda self, value: None)
    with pytest.raises(AssertionError):
        static(Tensor([-1.0]))  # though this call does not get to the loop


def test_what_is_nested_too_deep_is_no_recursion_of_the_users():
    @jit.to_static
    def nested(x):
        found = [x]
        for _ in range(2000):
            found = [found]
        return found

    with pytest.raises(RecursionLimitError, match="nested deeper than Python, with its limit of"):
        nested(Tensor(1.0))
