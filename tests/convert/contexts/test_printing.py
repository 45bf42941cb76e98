"""What code prints that runs as it is: each call prints it, as in eager mode, and in its place."""

import builtins
import contextlib
import functools
import io
import logging
import pprint
import sys
import threading
import traceback
import warnings

import pytest
from dy2st_runtime import config

from dy2st import Tensor, jit, to_tensor


@contextlib.contextmanager
def announced(name, x):
    print("begin", name)
    yield x * 2
    print("end", name, x.sum())


def by_managers(x):
    for i in range(3):
        with announced(i, x) as y:
            if y.sum() > 6:
                break
            print("between")
            x = x + y
    return x


def by_a_generator_function(x):
    def items():
        print("first", x)
        yield 1
        print("second", end="!\n")
        yield 2

    for k in items():
        if x.sum() > 0:
            x = x + k
    return x


def numbered(x):
    for i in range(2):
        print("number", i, x.sum(), [x])
        yield i


def by_a_generator_function_of_the_module(x):
    for i in numbered(x):
        x = x * 2 + i
    return x


@jit.not_to_static
def as_it_is(x):
    print("as it is", x.sum())
    return x + 1


def by_what_is_not_converted(x):
    while x.sum() < 6:
        x = as_it_is(x)
    return x


class Base:
    def __init_subclass__(cls):
        print("subclass", cls.__name__)


def by_a_body_of_a_class(x):
    class Inner(Base):
        print("body")

    return x * len(Inner.__name__)


class Hashed:
    def __hash__(self):
        print("hashed")
        return 3

    def __call__(self, x):
        print("called")
        return x * 2


def by_special_methods(x):
    found = Hashed()
    return found(x) * {found: 2}[found]


def in_lines(x):
    pprint.pprint({"b": [1, 2], "a": "text"}, width=12)
    pprint.pp({"b": 1, "a": 2})
    return x


def under_other_names(x):
    show, shown = print, {"print": print}
    shown["print"]("one", x.mean())
    functools.partial(print, "two", sep="-")(3)
    (show if x.sum() > 0 else shown["print"])("three")
    return x


def with_separators_of_the_run(x):
    print(1, x.mean(), "b", sep=f" {float(x[0]):.1f} ", end=f"|{int(x[1])}\n")
    print(sep=str(x[0].item()), end=f"{float(x[0])}")
    print("c", sep=f"{float(x[0])}", end=None, flush=True)
    return x


def of_exceptions_without_lines(x):
    try:
        if x.sum() > 0:
            raise ValueError(f"sum {float(x.sum()):.1f}")
    except ValueError as error:
        traceback.print_exc(limit=0)
        print(*traceback.format_exception_only(error), traceback.format_exc(limit=0))
    return x


def of_texts_that_a_path_chooses(x):
    kind = "large" if x[0] > 2 else "it's \"small\""
    print(kind, x.sum(), kind, sep="|", end=kind + "\n")
    print([kind, 1], {"k": (kind,)}, f"{kind!r:>12}" if x.ndim > 1 else f"{kind:>12}|{kind:.2}", "%s %r" % (kind, kind))  # noqa: UP031
    print(["one", "two"][int(x.argmax())], None if kind == "large" else "b", sep=kind)
    sys.stdout.write(kind)
    state = "begun"
    for i in range(int(x[1]) + 2):
        print(i, state)
        state = "odd" if i % 2 == 1 else "even"
    logging.getLogger(kind if x.ndim > 1 else "a").info("%s", state)
    return x


def by_methods_of_the_output(x):
    x = x * sys.stdout.write("abc")
    sys.stdout.writelines(["a", f"{float(x[0]):.2f}\n"])
    if x.sum() > 0:
        sys.stdout.write(f"{x.sum()}")
    pprint.PrettyPrinter(width=12).pprint([1000, 2000, 3000])
    return x


@pytest.mark.parametrize(
    "function",
    [
        by_managers, by_a_generator_function, by_a_generator_function_of_the_module, by_what_is_not_converted, by_a_body_of_a_class,
        by_special_methods, in_lines, under_other_names, with_separators_of_the_run, by_methods_of_the_output,
        of_exceptions_without_lines, of_texts_that_a_path_chooses,
    ],
    ids=lambda f: f.__name__,
)
def test_each_call_prints_it(function, capsys):
    static = jit.to_static(function)
    with config.NO_JIT.override(True):
        for values in ([1.0, 1.5], [-1.0, 0.5], [1.0, 1.5], [3.0, 4.0]):
            expected = function(Tensor(values, stop_gradient=False)).numpy()
            text = capsys.readouterr().out
            assert static(Tensor(values, stop_gradient=False)).numpy().tolist() == expected.tolist()
            assert capsys.readouterr().out == text


def encoded():
    return io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n")


@pytest.mark.parametrize("opened", [encoded, io.StringIO])
def test_the_output_may_be_any_file(opened):
    static, shown = jit.to_static(by_methods_of_the_output), []
    with config.NO_JIT.override(True):
        for function in (by_methods_of_the_output, static, by_methods_of_the_output, static):
            with contextlib.redirect_stdout(opened()) as file:
                function(Tensor([1.0, 1.5]))
            file.seek(0)
            shown.append(file.read())
    assert shown[0].startswith("abca3.00\nTensor")
    assert shown == shown[:1] * 4


def test_print_is_pythons_own_after_a_trace_and_in_other_threads(capsys):
    before = builtins.print
    library: dict = {"__name__": "numpy", "threading": threading, "builtins": builtins}  # into which no trace looks
    exec(
        "def in_another_thread():\n"
        "    thread = threading.Thread(target=builtins.print, args=('another thread',))\n"
        "    thread.start()\n"
        "    thread.join()\n",
        library,
    )
    in_another_thread = library["in_another_thread"]

    def function(x):
        in_another_thread()
        return x

    static = jit.to_static(function)
    static(Tensor([1.0]))
    assert capsys.readouterr().out == "another thread\n"
    assert builtins.print is before


@pytest.mark.parametrize("steps", [0, 3])
def test_a_second_backward_prints_nothing(steps, capsys, caplog):
    def f(x):
        print("before", x)
        for i in range(steps):
            if x.sum() > i:
                print("in the loop", x)
                logging.warning("logged %s", i)
                warnings.warn(f"warned of {i}", stacklevel=1)
        return (x * x).sum()

    found = []
    for g in (f, jit.to_static(f)):
        x = to_tensor([1.0, 2.0], stop_gradient=False)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            loss = g(x)
            loss.backward(retain_graph=True)
            loss.backward(retain_graph=True)
            print("between")
            loss.backward()
        found.append((capsys.readouterr().out, caplog.messages, [str(w.message) for w in warned], x.grad.numpy().tolist()))
        caplog.clear()
    assert found[0] == found[1]
    assert found[0][3] == [6.0, 12.0]


def test_a_warning_says_what_a_path_has_chosen():
    def f(x):
        name = "high" if x.sum() > 0 else "low"
        warnings.warn(f"{name} loss {float(x.sum()):.1f}", stacklevel=1)
        return name

    static = jit.to_static(f)
    for value in (1.0, -1.0, 2.0):
        for call in (f, static):
            with pytest.warns(UserWarning, match=f"^{'high' if value > 0 else 'low'} loss {value:.1f}$") as said:
                assert call(Tensor([value])) == ("high" if value > 0 else "low")
            assert len(said) == 1
