"""Our way between the two kinds of trees is gast's."""

import ast
from pathlib import Path

import gast
import pytest

from dy2st.transpiler import nodes
from dy2st.transpiler.manager import PassManager
from dy2st.transpiler.passes.walrus import Walrus
from dy2st.transpiler.printer import show
from dy2st.transpiler.trees import to_ast, to_gast

HERE = Path(__file__).parent
FILES = [*sorted(HERE.glob("*.py")), *sorted((HERE.parent / "programs").glob("*.py"))]
RARE = """
@decorated(1)
class C(B, metaclass=M):
    def f(self, a: int, /, b: list[str] = [], *args: str, c, d=None, **kw: float) -> dict:
        try:
            del a.b[1:2, ::3], c
        except E as e:
            raise F(e) from None
        except (G, H):
            a.x @= -~b ** +c if not d else lambda *, k=1: k
        else:
            x: int
            (y): int = 0
        with open(f) as (g, *h), i:
            nonlocal_ = [*a, f"{b!r:>{c}} {{}}", ..., 1j, b"x"], {**a, 1: 2}, {1, 2}
        match a:
            case {"k": [1, *_], **rest} | C(x=0, y=None) as p if p > 0 <= 1 in q:
                return (yield p)
            case -1.5 | "a" | [*others]:
                import m.n as o
        async def g():
            async for i in [j async for j in k if j]:
                await i
            async with l: pass
"""


@pytest.mark.parametrize("text", [RARE, *(f.read_text() for f in FILES)], ids=["rare", *(f.name for f in FILES)])
def test_both_directions_are_those_of_gast(text):
    tree = ast.parse(text)
    ours, theirs = to_gast(tree), gast.ast_to_gast(tree)
    assert gast.dump(ours, include_attributes=True) == gast.dump(theirs, include_attributes=True)
    assert ast.dump(to_ast(ours, [None])) == ast.dump(gast.gast_to_ast(theirs))


def test_a_tree_shares_no_nodes_but_contexts_and_operators():
    tree = to_gast(ast.parse(RARE))
    found = list(nodes.walk(tree))
    assert len(found) == len(set(map(id, found)))


def test_line_numbers_tell_the_places():
    tree = to_gast(ast.parse("x = f(y)"))
    tree.body[0].value.origin = "there"
    places = [None]
    plain = to_ast(tree, places)
    assert places == [None, "there"]
    assert (plain.body[0].value.lineno, plain.body[0].lineno) == (1, 0)


def test_passes_can_do_with_shared_operators():
    tree = to_gast(ast.parse("def f(a):\n    return 0 < (b := a) < g(a)"))
    manager = PassManager(tree)
    assert "if value_1:\n        value_3 = g(a)" in show(manager.apply(Walrus))
