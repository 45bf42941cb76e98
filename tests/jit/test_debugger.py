"""A debugger in a static function: it stops while tracing, and steps through the transformed source, which stands in a real file."""

import io
import pdb
import sys

from dy2st import jit
from dy2st.tensor import Tensor


def scripted(monkeypatch, commands):
    """What `breakpoint()` does from now on: runs these commands; returns where their output goes."""
    out = io.StringIO()
    debugger = pdb.Pdb(stdin=io.StringIO("\n".join(commands) + "\n"), stdout=out, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    monkeypatch.setattr(sys, "breakpointhook", lambda: debugger.set_trace(sys._getframe(1)))
    return out


def stops(x):
    y = x * 2
    breakpoint()
    if x.sum() > 0:
        y = y + 1
    return y


def test_breakpoint_stops_while_tracing(monkeypatch):
    out = scripted(monkeypatch, ["p y", "list 1,60", "next", "where", "continue"])
    static = jit.to_static(stops)
    assert static(Tensor([1.0, 2.0])).tolist() == [3.0, 5.0]
    text = out.getvalue()
    assert "Tensor(shape=[-1], dtype=float32" in text
    assert "y = x * 2" in text  # `list` shows the transformed source, in which names are the user's
    assert "_dy.if_stmt(" in text
    assert static.converted.filename in text
    shown = len(text)
    assert static(Tensor([3.0, 2.0])).tolist() == [7.0, 5.0]
    assert len(out.getvalue()) == shown  # the program runs without Python


def test_step_goes_into_a_branch(monkeypatch):
    steps = ["step"] * 60
    out = scripted(monkeypatch, [*steps, "continue"])
    jit.to_static(lambda x: stops(x))(Tensor([1.0]))
    text = out.getvalue()
    assert "if_body()" in text
    assert "--Return--" in text


def test_a_break_point_at_a_line_of_the_transformed_file(monkeypatch):
    static = jit.to_static(stops)
    line = next(i for i, text in enumerate(static.code.splitlines(), 1) if text.strip() == "y = y + 1")
    out = scripted(monkeypatch, [f"break {static.converted.filename}:{line}", "continue", "p y.shape", "clear 1", "continue"])
    assert static(Tensor([1.0, 2.0])).tolist() == [3.0, 5.0]
    assert f"{static.converted.filename}({line})if_body()" in out.getvalue()
    assert "y = y + 1" in out.getvalue()
