"""Names that may have no value, and names that are live, through all kinds of statements."""

import textwrap

import gast
import pytest

from dy2st.transpiler.analysis.activity import FunctionScope, effects
from dy2st.transpiler.analysis.cfg import ControlFlow
from dy2st.transpiler.analysis.liveness import Liveness
from dy2st.transpiler.analysis.reaching_definitions import ReachingDefinitions
from dy2st.transpiler.manager import PassManager

UNSET = {
    # Is x without a value at the last statement?
    "x = 1\nx": False,
    "if a:\n    x = 1\nx": True,
    "if a:\n    x = 1\nelse:\n    x = 2\nx": False,
    "if a:\n    x = 1\nelse:\n    raise E\nx": False,
    "while a:\n    x = 1\nx": True,
    "while a:\n    x = 1\nelse:\n    x = 2\nx": False,
    "while True:\n    x = 1\n    break\nx": False,
    "while a:\n    x = 1\n    break\nx": True,
    "for x in a:\n    pass\nx": True,
    "for i in a:\n    break\nelse:\n    x = 1\nx": True,
    "for i in a:\n    x = 1\n    continue\nelse:\n    x = 2\nx": False,
    "try:\n    x = 1\nexcept E:\n    pass\nx": True,
    "try:\n    x = 1\nexcept E:\n    return\nx": False,
    "try:\n    a()\nexcept E:\n    x = 1\nelse:\n    x = 2\nx": False,
    "try:\n    a()\nfinally:\n    x = 1\nx": False,
    "try:\n    x = 1\nfinally:\n    a()\nx": True,  # no path is told from the one by which an exception comes
    "try:\n    a()\nexcept E as x:\n    return\nx = 1\nx": False,
    "try:\n    x = a()\nexcept E as x:\n    pass\nx": True,
    "with a as x:\n    pass\nx": False,
    "with a:\n    x = 1\nx": True,
    "with a.no_grad():\n    x = 1\nx": False,
    "with scope_guard(a), b:\n    x = 1\nx": True,
    "match a:\n    case [x]:\n        pass\n    case _:\n        x = 1\nx": True,
    "match a:\n    case 1:\n        x = 0\n    case _:\n        x = 1\nx": False,
    "match a:\n    case 1:\n        x = 0\nx": True,
    "x = 1\ndel x\nx": True,
    "(x := a)\nx": False,
    "a and (x := 1)\nx": True,
    "[x := i for i in a]\nx": True,
    "import x.y\nx": False,
    "def x(): pass\nx": False,
    "class x: pass\nx": False,
}


def parse(body):
    tree = gast.parse("def f(a):\n" + textwrap.indent(body, "    "))
    return PassManager(tree), tree.body[0]


@pytest.mark.parametrize("body", UNSET)
def test_maybe_unset(body):
    manager, function = parse(body)
    point = manager.get(ControlFlow).graph(function).entry[function.body[-1]]
    unset = manager.get(ReachingDefinitions).of(function).maybe_unset(point, "x")
    assert unset is UNSET[body]


LIVE = {
    # Is x live behind the first statement?
    "x = 1\nx": True,
    "x = 1\nx = 2\nx": False,
    "x = 1\nif a:\n    x = 2\nx": True,
    "x = 1\nif a:\n    x = 2\nelse:\n    x = 3\nx": False,
    "x = 1\nwhile a:\n    x = 2\nx": True,
    "x = 1\nx += 1": True,
    "x = 1\ntry:\n    x = a()\nexcept E:\n    pass\nx": True,
    "x = 1\ntry:\n    x = a()\nfinally:\n    a()\nx": True,
    "x = 1\ntry:\n    x = a()\nfinally:\n    a(x)": True,
    "x = 1\nwith a:\n    x = 2\nx": True,
    "x = 1\nwith a as x:\n    x": False,
    "x = 1\nfor x in a:\n    x": False,
    "x = 1\nfor i in a:\n    if i:\n        break\n    x = 2\nx": True,
    "x = 1\nfor i in a:\n    return x": True,
    "x = 1\ndel x": False,
    "x = 1\nlambda: x": True,
    "x = 1\nlambda x: x": False,
    "x = 1\n[x for x in a]": False,
    "x = 1\n[i for i in x]": True,
    "x = 1\nclass A:\n    y = x": True,
}


@pytest.mark.parametrize("body", LIVE)
def test_live(body):
    manager, function = parse(body)
    first = manager.get(ControlFlow).graph(function).entry[function.body[0]]
    live = manager.get(Liveness).of(function)
    assert any(live.at(point, "x") for point in first.successors) is LIVE[body]


def test_effects_of_scopes():
    found = effects(
        gast.parse("lambda a, b=c: a + d + (e := 1)\n{k: v for k, v in g if (h := k)}\n(i for j in l for m in n)").body
    )
    assert [n.id for n in found.reads] == ["c", "g", "l"]
    assert [n.id for n in found.captured] == ["d", "n", "i"]
    assert list(found.weak) == ["h"]
    assert list(found.writes) == []


def test_scope_of_a_function_with_classes():
    scope = FunctionScope(
        gast.parse(
            "def f(self):\n    class A:\n        x = self\n        y = x\n        def g(this):\n            return z, x\n    z = x = 1"
        ).body[0]
    )
    assert scope.locals == ["self", "A", "z", "x"]
    assert scope.captured == ["z", "x"]
