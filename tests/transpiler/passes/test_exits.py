"""Blocks of many exits: cut into sections, which do not nest."""

import textwrap

import gast

from dy2st.transpiler import nodes, printer
from dy2st.transpiler.manager import PassManager
from dy2st.transpiler.names import Namer
from dy2st.transpiler.origin import SourceMap
from dy2st.transpiler.passes import exits
from dy2st.transpiler.passes.break_stmt import BreakStmt
from dy2st.transpiler.passes.continue_stmt import ContinueStmt
from dy2st.transpiler.passes.early_return import EarlyReturn


def lowered(text, most, monkeypatch):
    monkeypatch.setattr(exits, "MOST_NESTED", most)
    manager = PassManager(gast.parse(textwrap.dedent(text)))
    for kind in (EarlyReturn, BreakStmt, ContinueStmt):
        tree = manager.apply(kind)
    return tree


def same(tree, text):
    assert printer.show(tree) == printer.show(gast.parse(textwrap.dedent(text)))


def test_returns(monkeypatch):
    """What only later sections read is dead once the flag is set; what a section changes is not the value that is returned."""
    before = """\
    def f(a, b):
        t = a
        if a > 1:
            return a
        t = g(b)
        if a > 2:
            return b
        return t
    """
    after = """\
    def f(a, b):
        do_return_ = False
        retval_ = _dy.Dead('retval_')
        t = a
        if a > 1:
            retval_ = a
            do_return_ = True
        if not do_return_:
            retval_ = _dy.Dead('retval_')
            t = g(b)
            if a > 2:
                retval_ = b
                do_return_ = True
                t = _dy.Dead('t')
        else:
            t = _dy.Dead('t')
        if not do_return_:
            retval_ = _dy.Dead('retval_')
            retval_ = t
        return retval_
    """
    same(lowered(before, 1, monkeypatch), after)


def test_what_the_loop_carries_is_alive(monkeypatch):
    before = """\
    def f(a, b):
        while a:
            t = b
            if a > 1:
                break
            a = a - t
            if a > 2:
                break
            b = b + t
        return b
    """
    after = """\
    def f(a, b):
        break_ = False
        while not break_ and a:
            t = b
            if a > 1:
                break_ = True
                t = _dy.Dead('t')
            if not break_:
                a = a - t
                if a > 2:
                    break_ = True
                else:
                    b = b + t
        return b
    """
    same(lowered(before, 1, monkeypatch), after)


def test_a_value_on_its_way_out_of_two_loops_is_kept(monkeypatch):
    """No section begins between a loop and the `break` that hands on its `return`."""
    before = """\
    def f(a, b):
        for x in a:
            for y in b:
                if x == y:
                    return x
            if x:
                break
            g(x)
    """
    text = printer.show(lowered(before, 1, monkeypatch))
    start = text.index("if do_return_:")
    assert "_dy.Dead('retval_')" not in text[text.index("for y") : start]


def depth(block):
    return max((1 + max(map(depth, nodes.blocks(s)), default=-1) for s in block if nodes.blocks(s)), default=0)


def test_depth_does_not_grow(monkeypatch):
    for words in (["return y"], ["break"], ["continue"], ["break", "continue", "return y"]):
        found = []
        for count in (60, 240):
            steps = "".join(f"if x > {i}:\n    {words[i % len(words)]}\ny = y + x\n" for i in range(count))
            text = f"def f(x, y):\n    while x < 3:\n        x += 1\n{textwrap.indent(steps, ' ' * 8)}    return y\n"
            found.append(depth(lowered(text, exits.MOST_NESTED, monkeypatch).body[0].body))
        assert found[0] == found[1] < 40


def test_numbered_functions_are_no_variables():
    namer = Namer([])
    for base in ("if_body", "if_body", "else_body", "else_body", "break_", "break_", "get_state"):
        namer.fresh(base)
    found = SourceMap("model.py", [], namer.generated)
    assert found.functions == {"if_body", "if_body_1", "else_body", "else_body_1", "get_state"}
    assert found.variables == {"break_", "break_1"}
