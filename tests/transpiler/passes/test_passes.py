"""Each pass alone: the code before it and after it, where the example in its docstring does not show it."""

import textwrap

import gast
import pytest

from dy2st.transpiler import printer
from dy2st.transpiler.manager import PassManager
from dy2st.transpiler.passes.annotations import Annotations
from dy2st.transpiler.passes.block_state import BlockState
from dy2st.transpiler.passes.break_stmt import BreakStmt
from dy2st.transpiler.passes.calls import Calls
from dy2st.transpiler.passes.continue_stmt import ContinueStmt
from dy2st.transpiler.passes.early_return import EarlyReturn
from dy2st.transpiler.passes.handler_names import HandlerNames
from dy2st.transpiler.passes.list_mutation import ListMutation
from dy2st.transpiler.passes.logical import Logical
from dy2st.transpiler.passes.subscript_assign import SubscriptAssign
from dy2st.transpiler.passes.undefined_reads import UndefinedReads
from dy2st.transpiler.passes.walrus import Walrus

CASES = {
    "return at the end stays": (EarlyReturn, "with a:\n    return 1", "with a:\n    return 1"),
    "return without value needs no variable": (
        EarlyReturn,
        "if a:\n    return\nb()",
        "if a:\n    pass\nelse:\n    b()",
    ),
    "rest goes to the branch that goes on": (
        EarlyReturn,
        "if a:\n    b()\nelse:\n    return 1\nreturn 2",
        "if a:\n    b()\n    retval_ = 2\nelse:\n    retval_ = 1\nreturn retval_",
    ),
    "flag where no branch always leaves": (
        EarlyReturn,
        "if a:\n    if b:\n        return 1\nc()\nreturn 2",
        """
        do_return_ = False
        if a:
            if b:
                retval_ = 1
                do_return_ = True
        if not do_return_:
            c()
            retval_ = 2
        return retval_
        """,
    ),
    "return leaves all loops": (
        EarlyReturn,
        "for i in a:\n    while b:\n        return i\n    c()",
        """
        do_return_ = False
        for i in a:
            retval_ = _dy.Unread('retval_')
            while b:
                retval_ = _dy.Unread('retval_')
                retval_ = i
                do_return_ = True
                break
            if do_return_:
                break
            c()
        if not do_return_:
            retval_ = None
        return retval_
        """,
    ),
    "return in try skips its else": (
        EarlyReturn,
        "try:\n    if a:\n        return 1\nexcept E:\n    b()\nelse:\n    c()",
        """
        do_return_ = False
        try:
            if a:
                retval_ = 1
                do_return_ = True
        except E:
            b()
        else:
            if not do_return_:
                c()
        if not do_return_:
            retval_ = None
        return retval_
        """,
    ),
    "while True": (
        BreakStmt,
        "while True:\n    if a:\n        break\n    b()",
        "break_ = False\nwhile not break_:\n    if a:\n        break_ = True\n    else:\n        b()",
    ),
    "else without break": (BreakStmt, "for i in a:\n    b()\nelse:\n    c()", "for i in a:\n    b()\nc()"),
    "outer loop has the first name": (
        BreakStmt,
        "while a:\n    while b:\n        break\n    break",
        """
        break_ = False
        while not break_ and a:
            break_1 = False
            while not break_1 and b:
                break_1 = True
            break_ = True
        """,
    ),
    "for stops before the next item": (
        BreakStmt,
        "for i in a:\n    break",
        "break_ = False\nfor i in until(a, lambda: not break_):\n    break_ = True",
    ),
    "continue under with needs a flag": (
        ContinueStmt,
        "for i in a:\n    with b:\n        if i:\n            continue\n    c(i)",
        """
        for i in a:
            continue_ = False
            with b:
                if i:
                    continue_ = True
            if not continue_:
                c(i)
        """,
    ),
    "attribute list is written back only if it is another object": (
        ListMutation,
        "if a:\n    b.c.append(1)",
        """
        if a:
            old_ = b.c
            new_ = _dy.list_append(old_, 1)
            if new_ is not old_:
                b.c = new_
        """,
    ),
    "global list is declared": (ListMutation, "if a:\n    g.clear()", """
        global g
        if a:
            old_ = g
            new_ = _dy.list_clear(old_)
            if new_ is not old_:
                if g is old_:
                    g = new_
        """),
    "other calls of these names stay": (
        ListMutation,
        "if a:\n    a.append(1, 2)\n    a.extend(*b)\n    f(a.pop())\n    f().append(1)",
        "if a:\n    a.append(1, 2)\n    a.extend(*b)\n    f(a.pop())\n    f().append(1)",
    ),
    "value comes before container and key": (
        SubscriptAssign,
        "if a:\n    a[f()] = g()",
        "if a:\n    value_ = g()\n    a = _dy.setitem(a, f(), value_)",
    ),
    "parts of a tuple from the left": (
        SubscriptAssign,
        "while a:\n    i, a[i] = b",
        "while a:\n    part_, part_1 = b\n    i = part_\n    a = _dy.setitem(a, i, part_1)",
    ),
    "items outside of blocks": (SubscriptAssign, "a[0] = 1\ndel a[0]", "a = _dy.setitem(a, 0, 1)\na = _dy.delitem(a, 0)"),
    "del": (
        UndefinedReads,
        "x = 1\ndel x\nreturn x",
        "x = _dy.Undefined('x')\nx = 1\n_dy.ld(x, 'x')\nx = _dy.Undefined('x')\nreturn _dy.ld(x, 'x')",
    ),
    "augmented read": (
        UndefinedReads,
        "if a:\n    x = 1\nx += 1",
        "x = _dy.Undefined('x')\nif a:\n    x = 1\n_dy.ld(x, 'x')\nx += 1",
    ),
    "while True sets": (
        UndefinedReads,
        "while True:\n    x = 1\n    if x:\n        break\nreturn x",
        "while True:\n    x = 1\n    if x:\n        break\nreturn x",
    ),
    "read by a function": (
        UndefinedReads,
        "g = lambda: x\nx = 1",
        "x = _dy.Undefined('x')\ng = lambda: _dy.ld(x, 'x')\nx = 1",
    ),
    "handler name used nowhere else stays": (
        HandlerNames,
        "try:\n    a()\nexcept E as e:\n    print(e)",
        "try:\n    a()\nexcept E as e:\n    print(e)",
    ),
    "annotation makes a local variable": (Annotations, "x: int\nreturn x", "x = _dy.Undefined('x')\nreturn x"),
    "operands before a := are held": (
        Walrus,
        "x = a + (b and (c := d))",
        "value_ = a\nvalue_1 = b\nif value_1:\n    c = d\n    value_1 = c\nx = value_ + value_1",
    ),
    "unconditional := stays": (Walrus, "if (x := a) > 1:\n    b", "if (x := a) > 1:\n    b"),
    "loop with exit and := in its test": (
        Walrus,
        "while (x := a):\n    break",
        "while True:\n    x = a\n    if x:\n        pass\n    else:\n        break\n    break",
    ),
    "nested operands": (
        Logical,
        "a and (b or not c)",
        "_dy.and_(lambda: a, lambda: _dy.or_(lambda: b, lambda: _dy.not_(c)))",
    ),
    "runtime calls stay": (Calls, "_dy.ld(f(x), 'x')(1)", "_dy.call(_dy.ld(_dy.call(f)(x), 'x'))(1)"),
}


def function(body):
    return "def f(a, b, self):\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")


@pytest.mark.parametrize("name", CASES)
def test_before_and_after(name):
    kind, before, after = CASES[name]
    text = printer.show(PassManager(gast.parse(function(before))).apply(kind))
    assert text == printer.show(gast.parse(function(after)))


STATES = {
    "live after or carried around": ("x = y = t = 0\nwhile a:\n    t = y\n    y = x + t\nreturn x", ["y"]),
    "loop variable that is read": ("for i in a:\n    t = i\nreturn i", ["i"]),
    "read by an inner function": ("g = lambda: t\nif a:\n    t = 1", ["t"]),
    "read by a handler": ("x = 0\ntry:\n    if a:\n        x = 1\n    x = b()\nexcept E:\n    return x", ["x"]),
    "attributes and items": ("if a:\n    self.h = 1\n    self.d['k'].w = 2\n    b[0] = 1", ["b", "self.h", "self.d['k'].w"]),
    "attribute of what changes itself": ("if a:\n    self = b\n    self.h = 1\nreturn self", ["self"]),
    "attribute under a changing index": ("for i in a:\n    b[i].h = 1", []),
    "container changed by a method": ("x = []\nif a:\n    f(x.pop())\nreturn x", ["x"]),
    "module function is no change": ("if a:\n    np.insert(b, 1, 2)", []),
    "nonlocal of an inner function": (
        "n = 0\ndef g():\n    nonlocal n\n    n += 1\nif a:\n    g()\nreturn n",
        ["n"],
    ),
    "global": ("global n\nif a:\n    n = 1", ["n"]),
    "bound in the test": ("if (n := a):\n    b(n)", []),
    "bound in a loop's test": ("while (n := a()):\n    b(n)", ["n"]),
}


@pytest.mark.parametrize("name", STATES)
def test_state(name):
    body, expected = STATES[name]
    tree = PassManager(gast.parse(function(body))).apply(BlockState)
    (state,) = (n.state for n in gast.walk(tree) if hasattr(n, "state") and not isinstance(n, gast.Try))
    assert state.texts == expected


TRIES = {
    "read behind it": ("try:\n    x = t = a\nexcept E:\n    x = b\nreturn x", ["x"]),
    "read by a handler": ("try:\n    x = a\n    b()\nexcept E:\n    return x", ["x"]),
    "read by else and finally": ("try:\n    x = y = a\nexcept E:\n    y = 1\nelse:\n    b(x)\nfinally:\n    b(y)", ["x", "y"]),
    "the exception is the handler's own": ("try:\n    x = b()\nexcept E as e:\n    x = e\nreturn x", ["x"]),
}


@pytest.mark.parametrize("name", TRIES)
def test_state_of_a_try(name):
    body, expected = TRIES[name]
    tree = PassManager(gast.parse(function(body))).apply(BlockState)
    (state,) = (n.state for n in gast.walk(tree) if isinstance(n, gast.Try))
    assert state.texts == expected
