"""Passes and analyses: what is declared, kept and dropped; and the tools below them."""

import ast

import gast
import pytest
from dy2st_runtime.errors import Location

from dy2st.transpiler import nodes, origin, printer, templates
from dy2st.transpiler.manager import Analysis, Context, Pass, PassManager
from dy2st.transpiler.names import Namer, identifiers, qualified


class Count(Analysis):
    runs = 0

    def __init__(self, tree, manager):
        Count.runs += 1
        self.names = sum(isinstance(n, gast.Name) for n in gast.walk(tree))


class Look(Pass):
    requires = (Count,)

    def run(self, tree):
        self.analysis(Count)
        return tree


class Rename(Pass):
    def visit_Name(self, node):
        return nodes.name("y") if node.id == "x" else node


class Undeclared(Pass):
    def run(self, tree):
        self.analysis(Count)


def test_analyses_are_kept_until_the_tree_changes():
    Count.runs = 0
    manager = PassManager(gast.parse("def f(): return x"))
    manager.apply(Look)
    manager.apply(Look)
    assert Count.runs == 1
    manager.apply(Rename)
    manager.apply(Look)
    assert Count.runs == 2
    manager.apply(Rename)  # changes nothing
    manager.apply(Look)
    assert Count.runs == 2


def test_undeclared_analysis():
    with pytest.raises(AssertionError, match="Undeclared does not declare Count"):
        PassManager(gast.parse("x")).apply(Undeclared)


def test_passes_leave_alone_what_does_not_run_in_the_function():
    source = (
        "@x\ndef f(a: x=x) -> x:\n    @x\n    class A(x):\n        b = x\n        @x\n        def g(self, c=x):\n            return x\n"
        "    x"
    )
    text = printer.show(PassManager(gast.parse(source)).apply(Rename))
    assert text.replace("y", "x") == printer.show(gast.parse(source))
    # the decorator and the default of f, the decorator and the base of A, the body of g, the last line
    assert text.count("y") == 6


def test_templates_keep_origins():
    value = gast.parse("a + b").body[0].value
    origin.Stamper("user.py", ["a + b\n"]).stamp(value)
    at = gast.parse("z").body[0]
    at.origin = Location("user.py", 7)
    (assign,) = templates.statements("x = -value", at=at, value=value)
    assert origin.of(assign).line == origin.of(assign.value).line == 7
    assert origin.of(assign.value.operand.left).line == 1
    (again,) = templates.statements("value, value", at=at, value=value)
    assert again.value.elts[0] is not again.value.elts[1]


def test_templates_do_not_change_the_text():
    at = gast.parse("z").body[0]
    for _ in range(2):
        (node,) = templates.statements("def name(): body", at=at, name="f", body=[gast.Pass()])
        assert printer.show(node) == "def f():\n    pass"


def test_namer_is_fixed():
    tree = gast.parse("def f(a):\n  import b.c as d, e.g\n  global h\n  match a:\n    case {'x': i, **j}: k = 1\n    case [*l]: pass")
    used = set(identifiers(tree))
    assert used >= set("fadehijkl")
    namer = Namer(used)
    assert [namer.fresh(n) for n in ("a", "a", "x_", "x_")] == ["a_1", "a_2", "x_", "x_1"]
    assert [namer.shared(n) for n in ("x_", "x_", "a")] == ["x_2", "x_2", "a_3"]
    assert namer.generated == ["a_1", "a_2", "x_", "x_1", "x_2", "a_3"]


@pytest.mark.parametrize("text", ["f()", "f().x", "a[1:2]", "a[f()]", "a[1.5]", "(x + y).z", "a[-1]"])
def test_no_qualified_name(text):
    assert qualified(gast.parse(text, mode="eval").body) is None


HARD_TO_PRINT = [
    "match x:\n    case [1, *r] if r:\n        pass\n    case {'a': b, **c} | C(d, e=f):\n        pass",
    "try:\n    pass\nexcept* E as e:\n    pass",
    "f'{x!r:>{w}} {{}} {d[\"k\"]}'",
    "f'{f(\"a\")}' 'b' f\"{x:%Y-%m}\"",
    "x = 'a\\n' '\\t\"\\'' \"\\x00é🎉\"",
    "x = '''long''' * 3 + \"" + "word " * 60 + '"',
    "x = -1 ** 2, (-1) ** 2, 1e400, -0.0, 1j, 10 ** 20",
    "(yield)",
    "x = (lambda a, /, b=1, *c, d, **e: a), lambda: (yield), lambda *, k: k",
    "a[1:2, ::3, ...], a[()], a[b, *c], a[(x := 1)]",
    "print(*a, **b, c=1); del a, (b, c); a.b[c] += (yield x)",
    "async def f():\n    async with a as b, c:\n        async for x in y: await z",
    "not (a and (b or c)) in d, a < (b < c), (a, *b), {**a, 'k': v}, {*a}, [i for j in k if l for i in j]",
    "x: int = 1; (y): int; z.w: str",
    "with (a as b, c as (d, e)): pass",
    "for x, in y: pass\nelse: pass",
    "raise A from None",
    "if a:\n    pass\nelif b:\n    pass\nelse:\n    pass",
    "x = a if b else (c if d else e), (a if b else c) if d else e",
    "x = (yield from a) + (b := c)",
    '"""doc"""\nx = """a\n    b"""',
]


@pytest.mark.parametrize("text", HARD_TO_PRINT)
def test_printed_text_means_the_tree(text):
    try:
        tree = gast.parse(text)
    except SyntaxError:
        pytest.skip("not in this Python's grammar")
    printed = printer.print_tree(tree).text
    assert dumped(printed) == dumped(text)


def dumped(text):
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            node.kind = None  # u"text"
    return ast.dump(tree)


def test_astor_prints_what_it_can(monkeypatch):
    used = []
    monkeypatch.setattr(printer, "_astor", lambda tree: used.append("astor") or "wrong = 1")
    assert printer.print_tree(gast.parse("right = 1")).text == "right = 1\n"
    assert used == ["astor"]


def test_context_errors_have_a_place():
    node = gast.parse("x").body[0]
    node.origin = Location("user.py", 3, 4, 5, "f", "    x")
    error = Context(node).error(node, "message", "hint")
    assert str(error) == "[D2S020] message\n  user.py:3:5 in f\n    x\n    ^\n  hint: hint"
    assert error.at(Location("other.py", 1)).location.line == 3


def test_each_pass_can_be_dumped():
    from dy2st_runtime import config

    from dy2st.transpiler.pipeline import PIPELINE

    assert [s for s in config.STAGES if s in {p.pass_name() for p in PIPELINE}] == [p.pass_name() for p in PIPELINE]
