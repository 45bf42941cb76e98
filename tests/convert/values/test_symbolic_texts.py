# ruff: noqa: UP031, UP032, F507
"""`%` on texts gives what Python gives, in eager mode and at run time."""

import pytest
from dy2st_runtime import config

import dy2st
from dy2st import convert as dy
from dy2st import jit
from dy2st.convert.values.symbolic_texts import StagedText


def messages(x, n):
    print("%.2f|%8.3f|%-8.1f|%+d|%05d|%5d|%g" % (float(x.sum()), x.sum(), x.max(), int(n), n, n, float(x.mean())))
    print("%d%% of %s" % (n, "all"), "%s" % n, "%e" % x.sum(), "%(a).1f %(b)s" % {"a": x.max(), "b": 3})
    print("{:.1f} and {}".format(float(x.sum()), 3) + " " + ", ".join([f"{n:>4}", str(int(n))]))
    print(f"{n!r:>6}|{float(x[0])!s:<8}|{x!r:>80}|{x[0]!s:^70}|", f"{int(n)!s:>5}", "{:<7}|".format(str(float(x[1]))))
    print("%-5s|%5s|%5r|%.2s|" % (int(n), n, float(x[0]), str(int(n))), "%6s" % f"{x.max().item()}")
    return x


@pytest.mark.parametrize("interpreted", [False, True])
def test_texts_are_those_of_eager_mode(capsys, interpreted):
    with config.NO_JIT.override(interpreted):
        static = jit.to_static(messages)
        for values, n in (([1.0, 2.5], 3), ([-1.0, -200.125], -40)):
            messages(dy2st.to_tensor(values), dy2st.to_tensor(n))
            expected = capsys.readouterr().out
            static(dy2st.to_tensor(values), dy2st.to_tensor(n))
            assert capsys.readouterr().out == expected


def test_percent_without_tensors_is_python_s():
    assert dy.percent("%d of %s", (3, "x")) == "3 of x"
    assert dy.percent(7, 4) == 3
    assert type(dy.text("plain")) is str


def too_few(x):
    return "%d %d" % (x.sum(),)


def too_many(x):
    return "%d" % (x.sum(), 1)


@pytest.mark.parametrize("function", [too_few, too_many])
def test_wrong_number_of_arguments(function):
    x = dy2st.to_tensor([1.0])
    with pytest.raises(TypeError) as expected:
        function(x)
    with pytest.raises(TypeError, match=str(expected.value)):
        jit.to_static(function)(x)


def test_a_staged_text_stays_one():
    mark = StagedText("\0000\000")
    for joined in (mark + "a", "a" + mark, dy.text(f"a{mark}b")):
        assert isinstance(joined, StagedText)
