"""Debuggers, profilers and coverage in a static function: they find the user's file, lines and variables, while it is traced."""

import bdb
import cProfile
import inspect
import io
import pdb
import pstats
import subprocess
import sys
import types

import pytest

import dy2st as paddle
from dy2st import jit
from dy2st.tensor import Tensor


def scripted(monkeypatch, commands):
    """What `breakpoint()` does from now on: runs these commands; returns where their output goes."""
    out = io.StringIO()
    debugger = pdb.Pdb(stdin=io.StringIO("\n".join(commands) + "\n"), stdout=out, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    monkeypatch.setattr(sys, "breakpointhook", lambda: debugger.set_trace(sys._getframe(1)))
    return out


def line_of(function, text):
    """The number of the line of a function that has this text."""
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


def stops(x):
    y = x * 2
    breakpoint()
    if x.sum() > 0:
        y = y + 1
    return y


def test_breakpoint_stops_while_tracing(monkeypatch):
    out = scripted(monkeypatch, ["p y", "list", "next", "where", "continue"])
    static = jit.to_static(stops)
    assert static(Tensor([1.0, 2.0])).tolist() == [3.0, 5.0]
    text = out.getvalue()
    assert "Tensor(shape=[-1], dtype=float32" in text
    assert "        y = y + 1" in text  # `list` shows the user's source
    assert f"{__file__}({line_of(stops, 'if x.sum()')})stops()" in text
    assert "_dy." not in text
    shown = len(text)
    assert static(Tensor([3.0, 2.0])).tolist() == [7.0, 5.0]
    assert len(out.getvalue()) == shown  # the program runs without Python


class Stepping:
    """Makes steps until a text is shown; on the way it goes through dy2st."""

    def __init__(self, text):
        self.text, self.shown, self.steps = text, False, 0

    def write(self, text):
        self.shown = self.shown or self.text in text

    def flush(self):
        pass

    def readline(self):
        self.steps += 1
        return "continue\n" if self.shown or self.steps > 100_000 else "step\n"


def test_step_goes_into_a_branch(monkeypatch):
    user = Stepping(f"{__file__}({line_of(stops, 'y = y + 1')})if_body()")
    debugger = pdb.Pdb(stdin=user, stdout=user, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    monkeypatch.setattr(sys, "breakpointhook", lambda: debugger.set_trace(sys._getframe(1)))
    assert jit.to_static(stops)(Tensor([1.0])).tolist() == [3.0]
    assert user.shown


def test_a_break_point_at_a_line_of_the_users_file(monkeypatch):
    line = line_of(stops, "y = y + 1")
    out = scripted(monkeypatch, [f"break {__file__}:{line}", "continue", "p y.shape", "clear 1", "continue"])
    assert jit.to_static(stops)(Tensor([1.0, 2.0])).tolist() == [3.0, 5.0]
    assert out.getvalue().count(f"{__file__}({line})if_body()") == 1
    assert "y = y + 1" in out.getvalue()


def nested(x, n):
    total = x * 0
    for i in range(n):
        y = x * i
        if y.sum() > 1:
            breakpoint()
            total = total + y
    return total


def test_a_body_that_is_traced_several_times_stops_once_and_shows_all_variables(monkeypatch):
    out = scripted(monkeypatch, ["p y.shape, i.dtype, n.shape, x.shape", "up", "continue"])
    static = jit.to_static(nested)
    assert static(paddle.to_tensor([1.0]), paddle.to_tensor(3)).tolist() == [2.0]
    text = out.getvalue()
    assert text.count(")if_body()") == 1
    assert "([1], 'int64', [], [1])" in text


def unrolled(x):
    for k in (1, 2, 3):
        x = x * k
        breakpoint()
        x = x + 1
    return x


def test_each_round_of_a_loop_of_python_stops(monkeypatch):
    out = scripted(monkeypatch, ["p 'round', k", "continue"] * 3)
    jit.to_static(unrolled)(paddle.to_tensor([1.0]))
    assert [text for text in ("('round', 1)", "('round', 2)", "('round', 3)") if text not in out.getvalue()] == []


def by_name(x):
    if x.sum() > 0:
        pdb.set_trace()
        x = x + 1
    return x


def test_set_trace_of_pdb(monkeypatch):
    out = io.StringIO()
    debugger = pdb.Pdb(stdin=io.StringIO("where\ncontinue\n"), stdout=out, nosigint=True, readrc=False)
    debugger.use_rawinput = False

    def set_trace():
        debugger.set_trace(sys._getframe(1))

    set_trace.__module__ = "pdb"
    monkeypatch.setattr(pdb, "set_trace", set_trace)
    assert jit.to_static(by_name)(paddle.to_tensor([1.0])).tolist() == [2.0]
    first = line_of(by_name, "pdb.set_trace()")  # from Python 3.13 on it stops there, before at the next line
    assert any(f"{__file__}({line})if_body()" in out.getvalue() for line in (first, first + 1))


_PROGRAM = """\
import dy2st as paddle

class Net(paddle.nn.Layer):
    @paddle.jit.to_static
    def forward(self, x, n):
        total = x * 0
        while n > 0:
            y = x + total
            if y.sum() > 1:
                total = total + y
            n = n - 1
        return doubled(total)

def doubled(t):
    both = [v * 2 for v in (t, t)]
    return both[0]

print(Net()(paddle.ones([2, 2]), paddle.to_tensor(2)).shape)
"""


def test_pdb_as_a_program(tmp_path):
    file = tmp_path / "model.py"
    file.write_text(_PROGRAM)
    commands = ["b 10", "b doubled", "c", "p 'in branch', y.dtype, n.dtype", "clear 1", "c", "p 'in function', t.dtype", "c", "q"]
    done = subprocess.run([sys.executable, "-m", "pdb", str(file)], input="\n".join(commands), capture_output=True, text=True, check=False)
    assert f"{file}(10)if_body()" in done.stdout
    assert "('in branch', 'float32', 'int64')" in done.stdout
    assert f"{file}(15)doubled()" in done.stdout
    assert "('in function', 'float32')" in done.stdout
    assert "[2, 2]" in done.stdout


def both_ways(x, n):
    y = x * 2
    for i in range(n):
        if i % 2 == 0:
            y = y + i
        else:
            y = (y
                 - 1)  # fmt: skip
    return y


def executed_lines(run):
    """The lines of this file that `coverage` would find executed."""
    found = set()

    def local(frame, event, arg):
        if event == "line":
            found.add(frame.f_lineno)
        return local

    before = sys.gettrace()
    sys.settrace(lambda frame, event, arg: local if frame.f_code.co_filename == __file__ else None)
    try:
        run()
    finally:
        sys.settrace(before)
    return found


def test_coverage_finds_the_users_lines():
    static = jit.to_static(both_ways)
    found = executed_lines(lambda: static(paddle.to_tensor([1.0]), paddle.to_tensor(3)))
    first = line_of(both_ways, "y = x * 2")
    assert {first, first + 1, first + 2, first + 3, first + 5, first + 7} <= found


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is new in Python 3.12")
def test_monitoring_finds_the_users_lines():
    static, found = jit.to_static(both_ways), set()
    monitoring = sys.monitoring
    monitoring.use_tool_id(monitoring.COVERAGE_ID, "test")
    try:
        monitoring.register_callback(monitoring.COVERAGE_ID, monitoring.events.LINE,
                                     lambda code, line: code.co_filename == __file__ and found.add(line))  # fmt: skip
        monitoring.set_events(monitoring.COVERAGE_ID, monitoring.events.LINE)
        static(paddle.to_tensor([1.0]), paddle.to_tensor(3))
    finally:
        monitoring.set_events(monitoring.COVERAGE_ID, 0)
        monitoring.free_tool_id(monitoring.COVERAGE_ID)
    first = line_of(both_ways, "y = x * 2")
    assert {first, first + 1, first + 2, first + 3, first + 5, first + 7} <= found


def test_profiles_name_the_users_function():
    profile = cProfile.Profile()
    profile.runcall(jit.to_static(both_ways), paddle.to_tensor([1.0]), paddle.to_tensor(3))
    assert (__file__, both_ways.__code__.co_firstlineno, "both_ways") in pstats.Stats(profile).stats


def test_the_source_of_a_converted_function_is_the_users():
    fn = jit.to_static(both_ways).converted.fn
    assert inspect.getsource(fn) == inspect.getsource(both_ways)
    assert inspect.getsourcefile(fn) == __file__


def summed(x):
    total = x[0] * 0
    for row in x:
        if row > 0:
            breakpoint()
            total = total + row
    return total


def first_of_many(x):
    for i in range(100):
        if x.sum() > i:
            breakpoint()
            x = x + 1
        if x.sum() > 50:
            break
    return x


def halved(x):
    if x.sum() < 1:
        breakpoint()
        return x
    return halved(x / 2)


@pytest.mark.parametrize("function", [stops, summed, first_of_many, halved], ids=lambda f: f.__name__)
def test_quit_ends_the_call(function, monkeypatch):
    """Not a branch of the run, nor one try of several to trace the function."""
    out = scripted(monkeypatch, ["quit"])
    before = sys.gettrace()
    with pytest.raises(bdb.BdbQuit):
        jit.to_static(function)(Tensor([1.0, 2.0]))
    sys.settrace(before)
    assert out.getvalue().count("(Pdb)") == 1


def test_quit_ends_a_call_that_is_traced_anew_for_another_number(monkeypatch):
    settings = types.SimpleNamespace(scale=1.0)

    def scaled(x):
        y = x * settings.scale
        breakpoint()
        return y + settings.scale

    scripted(monkeypatch, ["continue"])
    static = jit.to_static(scaled)
    assert static(Tensor([1.0])).tolist() == [2.0]
    settings.scale = 2.0
    scripted(monkeypatch, ["quit"])
    before = sys.gettrace()
    with pytest.raises(bdb.BdbQuit):
        static(Tensor([1.0]))
    sys.settrace(before)


def test_quit_ends_a_loop_that_would_be_unrolled_where_it_cannot_be_staged(monkeypatch):
    scripted(monkeypatch, ["continue", "quit"])
    before = sys.gettrace()
    with pytest.raises(bdb.BdbQuit):
        jit.to_static(first_of_many)(Tensor([1.0, 2.0]))
    sys.settrace(before)
