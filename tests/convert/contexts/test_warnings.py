"""`warnings.warn` in a function: each call and each iteration warns as eager mode does, in order."""

import warnings

import numpy as np
import pytest

import dy2st
from dy2st import Tensor, jit
from dy2st.errors import StagedValueError
from dy2st.static import InputSpec


def checked(v):
    if v > 2:
        warnings.warn(f"{v.item():.1f} is large", RuntimeWarning, stacklevel=2)
    return v * 2


def halved(x, n):
    warnings.warn("begun", stacklevel=1)
    for i in range(n):
        if x.sum() > 3:
            warnings.warn(FutureWarning(f"at {i}"), stacklevel=1)
            x = x / 2
    return x + checked(x.sum())


CALLS = [([8.0, 16.0], 3), ([8.0, 16.0], 2), ([-1.0, 0.5], 1)]


def warned(f, action="always"):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter(action)
        for values, n in CALLS:
            f(Tensor(np.float32(values)), Tensor(np.array(n)))
    return [(str(w.message), w.category, w.filename, w.lineno) for w in found]


def test_each_run_warns():
    static = jit.to_static(halved)
    expected = warned(halved)
    assert len(expected) > len(CALLS)
    assert warned(static) == expected
    assert warned(static) == expected


def test_a_place_is_shown_once_where_the_filter_says_so():
    def twice(x):
        warnings.warn("a", stacklevel=1)
        return x

    static = jit.to_static(twice)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        static(Tensor(1.0))
        static(Tensor(2.0))
    assert len(found) == 1


def test_a_warning_that_is_an_error_is_raised():
    static = jit.to_static(halved)
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            warnings.simplefilter("ignore", UserWarning)
            warnings.simplefilter("ignore", FutureWarning)
            with pytest.raises(RuntimeWarning, match=r"6\.0 is large"):
                static(Tensor(np.float32([2.0, 4.0])), Tensor(np.array(0)))


def test_what_a_function_catches_itself_is_a_matter_of_its_own():
    def quiet(x):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            warnings.warn("a", stacklevel=1)
        return x + len(found)

    static = jit.to_static(quiet)
    for _ in range(2):
        assert static(Tensor(1.0)).item() == quiet(Tensor(1.0)).item() == 2


def test_a_saved_program_warns(tmp_path):
    class Model(dy2st.nn.Layer):
        def forward(self, x):
            if x.sum() > 3:
                warnings.warn(f"{x.sum().item():.1f} is large", stacklevel=1)
            return x

    jit.save(Model(), str(tmp_path / "model"), input_spec=[InputSpec([None], "float32")])
    loaded = jit.load(str(tmp_path / "model"))
    with pytest.warns(UserWarning, match="4.0 is large"):
        loaded(Tensor(np.float32([1.0, 3.0])))
    loaded(Tensor(np.float32([1.0])))


class OwnWarning(UserWarning):
    """One that the runtime does not have."""


@pytest.mark.parametrize(("warn", "words"), [
    (lambda: warnings.warn("a", OwnWarning, stacklevel=1), "a warning of the class 'OwnWarning'"),
    (lambda: warnings.warn("a", stacklevel=9), "stacklevel=9, of who calls the static function,"),
    (lambda: warnings.warn("a", UserWarning, 1, None), "more than a message, a category and stacklevel"),
])  # fmt: skip
def test_what_a_program_cannot_say_is_refused(warn, words):
    def f(x):
        warn()
        return x

    with pytest.raises(StagedValueError, match=words):
        jit.to_static(f)(Tensor(1.0))


@pytest.mark.parametrize(
    "show",
    [
        lambda: warnings.warn_explicit("low", UserWarning, "model.py", 3),
        lambda: warnings.showwarning(UserWarning("low"), UserWarning, "model.py", 3),
    ],
    ids=["warn_explicit", "showwarning"],
)
def test_what_shows_a_warning_by_itself_is_refused(show):
    def f(x):
        if x.sum() > 0:
            show()
        return x

    with warnings.catch_warnings(record=True) as found, pytest.raises(StagedValueError, match="would be done once"):
        jit.to_static(f)(Tensor(1.0))
    assert not found
