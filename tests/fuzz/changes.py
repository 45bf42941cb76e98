"""The corpus (`tests/programs`), and changes of its programs at random."""

from __future__ import annotations

import ast
import copy
import functools
import importlib
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

PROGRAMS = Path(__file__).parent.parent / "programs"


@dataclass(frozen=True)
class Case:
    """A function of the corpus, with the arguments of its calls: a list stands for a tensor, an int for one of integers."""

    module: str
    name: str
    calls: Sequence[tuple[Any, ...]]


@functools.cache
def corpus() -> list[Case]:
    """All functions of the corpus."""
    modules = [importlib.import_module(f"tests.programs.{path.stem}") for path in sorted(PROGRAMS.glob("*.py"))]
    return [Case(m.__name__.rpartition(".")[2], f.__name__, calls) for m in modules for f, calls, _ in m.CASES
            if isinstance(f, FunctionType) and f.__module__ == m.__name__]  # fmt: skip


@functools.cache
def _tree(module: str) -> ast.Module:
    return ast.parse((PROGRAMS / f"{module}.py").read_text())


def sliced(module: str, name: str) -> ast.Module:
    """What a function of a module needs of it, itself included."""
    body = _tree(module).body
    needed, kept = {name}, set()
    while new := [i for i, node in enumerate(body) if i not in kept and _defines(node) & needed]:
        kept.update(new)
        needed.update(n.id for i in new for n in ast.walk(body[i]) if isinstance(n, ast.Name))
    return ast.Module([copy.deepcopy(n) for i, n in enumerate(body) if i in kept or isinstance(n, (ast.Import, ast.ImportFrom))], [])


def _defines(node: ast.stmt) -> set[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}


def statements(text: str) -> list[ast.stmt]:
    return ast.parse(text).body


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


_IN_PLACE = (
    "{a}[0] = {b}", "{a} += 1", "{a} *= 2", "{a}.append({b})", "{a}.pop()", "{a}['k'] = {b}", "del {a}[0]", "{a}.clear()", "{a}.reverse()",
    "{a}.insert(0, {b})", "{a}.extend([{b}, {b}])", "{a}.add_({a} * 0 + 1)", "{a}[-1] = {a}[0]", "{a}[:1] = [{b}]", "{a}.update(k={b})",
    "{a}.v = {b}", "{a}, {b} = {b}, {a}", "{a} = {a}[1:]", "{a} = list({a})", "{a} = {{'k': {a}}}", "{a} = ({a}, {b})", "{a} = [{a}, {b}]",
    "{a} = {a}[0]", "{a} = dict({a})", "{a} = sorted({a})", "{a} = max({a})", "{a} = [*{a}, *{a}]", "{a} = list(reversed({a}))",
    "{a} = list(zip({a}, {a}))", "{a} = [v for v in {a}]", "{a} = [v for v in {a} if v > 0]", "{a} = dict(enumerate({a}))", "del {a}",
)  # fmt: skip
_KEPT = (
    "KEPT.append({a})", "KEPT[0] = {a}", "KEPT[1].append({a})", "KEPT[2]['k'] = {a}", "KEPT.insert(3, {a})", "KEPT[2]['n'] += 1",
    "{a} = KEPT[0]", "{a} = KEPT[1]", "{a} = KEPT[2]",
)  # fmt: skip
_GATHERED = (
    ("[]", "{s}.append({a})"), ("{}", "{s}['k'] = {a}"), ("{}", "{s}[len({s})] = {a}"), ("[None]", "{s}[0] = {a}"), ("()", "{s} += ({a},)"),
    ("[[]]", "{s}[0].append({a})"), ("{'l': []}", "{s}['l'].append({a})"), ("[0]", "{s}[0] += {a}"), ("None", "{s} = {a}"),
)  # fmt: skip
_TWICE = (
    "{r} = {f}({args})\nreturn {r}, {f}({args})",
    "{r} = None\nif {c}:\n    {r} = {f}({args})\nreturn {r}",
    "{r} = []\nfor {v} in range(2):\n    {r}.append({f}({args}))\nreturn {r}",
    "{r} = [{f}({args})]\nif {c}:\n    {r}[0] = {f}({args})\nreturn {r}",
)


class Changed:
    """A module, of which a function or one that it calls is changed."""

    def __init__(self, rng: random.Random, tree: ast.Module, case: Case):
        self.rng, self.tree = rng, tree
        self.main = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == case.name)
        values = dict(zip((a.arg for a in self.main.args.args), case.calls[0] if case.calls else (), strict=False))
        self.tensors = [name for name, v in values.items() if isinstance(v, list)]
        self.ints = [name for name, v in values.items() if type(v) is int]
        self.count = 0
        self.fn = self.main

    def once(self, change: Callable[[Changed, list, int, int], None]) -> None:
        """Makes a change once, somewhere."""
        r = self.rng
        self.fn = self.main if r.random() < 0.6 else r.choice([n for n in ast.walk(self.tree) if isinstance(n, ast.FunctionDef)])
        self.names = _locals(self.fn)
        block = r.choice([*_blocks(self.fn)])
        start = r.randrange(len(block))
        change(self, block, start, min(len(block), start + r.choice((1, 1, 2, 3))))

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}_"

    def condition(self) -> ast.expr:
        """A test of an argument."""
        own = {a.arg for a in self.fn.args.args} if self.fn is not self.main else {*self.tensors, *self.ints}
        k = self.rng.choice(("0", "1", "-1", "0.5", "2", "-10"))
        found = [text.format(t, k) for t in self.tensors if t in own
                 for text in ("{}.sum() > {}", "{}.mean() < {}", "({} > {}).any()", "{}.max() > {}")]  # fmt: skip
        found += [text.format(n, k) for n in self.ints if n in own for text in ("{} > {}", "{} % 2 == 0")]
        return expression(self.rng.choice(found or [f"{p} is None" for p in sorted(own)] or ["True"]))

    def name(self) -> str:
        """A variable; more often than not one that surely has a value."""
        given = [a.arg for a in self.fn.args.args]
        return self.rng.choice((given if self.rng.random() < 0.4 else self.names) or ["nothing"])

    # ---- around statements ----
    def branch(self, block: list, i: int, j: int) -> None:
        block[i:j] = [ast.If(self.condition(), block[i:j], [])]

    def two_branches(self, block: list, i: int, j: int) -> None:
        other = copy.deepcopy(self.rng.choice(self.rng.choice([*_blocks(self.fn)])))
        block[i:j] = [ast.If(self.condition(), block[i:j], [other])]

    def loop(self, block: list, i: int, j: int) -> None:
        over = ["range(2)", *(f"range({n})" for n in self.ints), *self.tensors] if self.fn is self.main else ["range(2)"]
        block[i:j] = [ast.For(ast.Name(self.fresh("i"), ast.Store()), expression(self.rng.choice(over)), block[i:j], [])]

    def loop_over_a_variable(self, block: list, i: int, j: int) -> None:
        block[i:j] = [ast.For(ast.Name(self.name(), ast.Store()), expression(self.name()), block[i:j], [])]

    def counted_loop(self, block: list, i: int, j: int) -> None:
        n = self.fresh("n")
        start, loop = statements(f"{n} = 0\nwhile {n} < {self.rng.choice((2, 3))} and {ast.unparse(self.condition())}:\n    {n} = {n} + 1")
        loop.body += block[i:j]
        block[i:j] = [start, loop]

    def attempt(self, block: list, i: int, j: int) -> None:
        (found,) = statements(f"try:\n    0\nexcept (ValueError, IndexError, KeyError, TypeError) as {self.fresh('e')}:\n    pass")
        found.body = block[i:j]
        if self.rng.random() < 0.5:
            found.handlers[0].body = [copy.deepcopy(self.rng.choice(block))]
        block[i:j] = [found]

    def at_last(self, block: list, i: int, j: int) -> None:
        block[i:j] = [ast.Try(block[i:j], [], [], [copy.deepcopy(self.rng.choice(block))])]

    def without_gradients(self, block: list, i: int, j: int) -> None:
        (found,) = statements("with __import__('dy2st').no_grad():\n    0")
        found.body = block[i:j]
        block[i:j] = [found]

    def inner_function(self, block: list, i: int, j: int) -> None:
        f = self.fresh("f")
        inner, call = statements(f"def {f}():\n    0\n{self.fresh('r')} = {f}()")
        inner.body = block[i:j]
        block[i:j] = [inner, call]

    # ---- statements ----
    def leave(self, block: list, i: int, j: int) -> None:
        ways = [*statements("while 1:\n    break\n    continue")[0].body] if _is_in_a_loop(self.fn, block) else []
        block[i:i] = [ast.If(self.condition(), [self.rng.choice([*ways, ast.Return(expression(self.name()))])], [])]

    def fail(self, block: list, i: int, j: int) -> None:
        block[i:i] = [ast.If(self.condition(), statements("raise ValueError('m')"), [])]

    def swap(self, block: list, i: int, j: int) -> None:
        k = self.rng.randrange(len(block))
        block[i], block[k] = block[k], block[i]

    def repeat(self, block: list, i: int, j: int) -> None:
        block[j:j] = copy.deepcopy(block[i:j])

    def remove(self, block: list, i: int, j: int) -> None:
        if len(block) > 1:
            del block[i]

    def copy_elsewhere(self, block: list, i: int, j: int) -> None:
        other = self.rng.choice([*_blocks(self.fn)])
        other.insert(self.rng.randrange(len(other) + 1), copy.deepcopy(block[i]))

    def of_another_program(self, block: list, i: int, j: int) -> None:
        case = self.rng.choice(corpus())
        (other,) = (n for n in _tree(case.module).body if isinstance(n, ast.FunctionDef) and n.name == case.name)
        found = self.rng.choice([*_blocks(other)])
        k = self.rng.randrange(len(found))
        new = [s for s in copy.deepcopy(found[k : k + 3]) if not isinstance(s, (ast.Return, ast.Break, ast.Continue))]
        named = {a.arg: self.name() for a in other.args.args if a.arg not in self.names}
        for n in (n for s in new for n in ast.walk(s) if isinstance(n, ast.Name)):
            n.id = named.get(n.id, n.id)
        block[i:i] = new

    def in_place(self, block: list, i: int, j: int) -> None:
        block[i:i] = statements(self.rng.choice(_IN_PLACE).format(a=self.name(), b=self.name()))

    def keep(self, block: list, i: int, j: int) -> None:
        block[i:i] = statements(self.rng.choice(_KEPT).format(a=self.name()))
        if not any("KEPT" in _defines(n) for n in self.tree.body):
            behind = next(i for i, n in enumerate(self.tree.body) if not isinstance(n, (ast.Import, ast.ImportFrom)))
            self.tree.body[behind:behind] = statements("KEPT = [1, [], {'n': 0}]")

    def gather(self, block: list, i: int, j: int) -> None:
        s = self.fresh("s")
        start, change = self.rng.choice(_GATHERED)
        block[i:i] = statements(change.format(s=s, a=self.name()))
        self.fn.body[:0] = statements(f"{s} = {start}")
        self.returned_too(s, 0.7)

    def call_twice(self, block: list, i: int, j: int) -> None:
        self.fn = self.main
        inner = copy.deepcopy(self.main)
        inner.name = self.fresh("inner")
        self.tree.body.insert(self.tree.body.index(self.main), inner)
        text = self.rng.choice(_TWICE).format(
            r=self.fresh("r"), v=self.fresh("v"), f=inner.name, args=", ".join(a.arg for a in self.main.args.args),
            c=ast.unparse(self.condition()),
        )  # fmt: skip
        self.main.body = statements(text)

    # ---- expressions ----
    def _loads(self) -> list[ast.Name]:
        return [n for n in ast.walk(self.fn) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id in self.names]

    def other_variable(self, block: list, i: int, j: int) -> None:
        if loads := self._loads():
            self.rng.choice(loads).id = self.name()

    def second_name(self, block: list, i: int, j: int) -> None:
        name, alias = self.name(), self.fresh("alias")
        also = f" if {ast.unparse(self.condition())} else {self.rng.choice(['None', self.name()])}" if self.rng.random() < 0.5 else ""
        for n in self._loads():
            if n.id == name and self.rng.random() < 0.4:
                n.id = alias
        block[i:i] = statements(f"{alias} = {name}{also}")

    def other_condition(self, block: list, i: int, j: int) -> None:
        if found := [n for n in ast.walk(self.fn) if isinstance(n, (ast.If, ast.IfExp))]:
            self.rng.choice(found).test = self.condition()

    def other_number(self, block: list, i: int, j: int) -> None:
        if found := [n for n in ast.walk(self.fn) if isinstance(n, ast.Constant) and type(n.value) in (int, float)]:
            self.rng.choice(found).value += self.rng.choice((1, -1, 2))

    def return_too(self, block: list, i: int, j: int) -> None:
        self.returned_too(self.name(), 0.5)

    def returned_too(self, name: str, share: float) -> None:
        for n in ast.walk(self.fn):
            if isinstance(n, ast.Return) and n.value is not None and self.rng.random() < share:
                n.value = ast.Tuple([n.value, ast.Name(name, ast.Load())], ast.Load())

    def box(self, block: list, i: int, j: int) -> None:
        """A variable becomes an item of a list or dict."""
        name, box = self.name(), self.fresh("box")
        start, item = self.rng.choice((("[None]", f"{box}[0]"), ("{}", f"{box}['v']")))
        parameter = name in {a.arg for a in self.fn.args.args}

        class Boxed(ast.NodeTransformer):
            def visit_Name(self, node: ast.Name) -> ast.expr:
                if node.id != name:
                    return node
                return ast.Subscript(ast.Name(box, ast.Load()), expression(item).slice, node.ctx)  # type: ignore[attr-defined]

        self.fn.body = [Boxed().visit(s) for s in self.fn.body]
        self.fn.body[:0] = statements(f"{box} = {start}" + f"\n{item} = {name}" * parameter)

    def in_a_lambda(self, block: list, i: int, j: int) -> None:
        if found := [n for n in ast.walk(self.fn) if isinstance(n, (ast.Assign, ast.Return)) and n.value is not None]:
            n = self.rng.choice(found)
            call = expression("(lambda: 0)()")
            call.func.body = n.value  # type: ignore[attr-defined]
            n.value = call


_C = Changed
CHANGES: list[Callable[[Changed, list, int, int], None]] = [
    *[_C.branch] * 3, _C.two_branches, _C.loop, _C.loop, _C.loop_over_a_variable, _C.counted_loop, _C.attempt, _C.at_last,
    _C.without_gradients, _C.inner_function, _C.leave, _C.leave, _C.fail, _C.swap, _C.repeat, _C.remove, _C.copy_elsewhere,
    *[_C.of_another_program] * 2, *[_C.in_place] * 4, _C.keep, _C.keep, _C.gather, _C.gather, _C.call_twice,
    *[_C.other_variable] * 3, *[_C.second_name] * 2, _C.other_condition, _C.other_number, *[_C.return_too] * 2, _C.box, _C.in_a_lambda,
]  # fmt: skip


def _locals(fn: ast.FunctionDef) -> list[str]:
    stored = {n.id for n in ast.walk(fn) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return sorted(stored | {a.arg for a in fn.args.args})


def _blocks(owner: Any) -> Iterator[list[ast.stmt]]:
    """The lists of statements in a function, without those of functions and classes inside."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(owner, field, None)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            yield block
            for s in block:
                if not isinstance(s, (ast.FunctionDef, ast.ClassDef)):
                    yield from _blocks(s)
    for part in (*getattr(owner, "handlers", ()), *getattr(owner, "cases", ())):
        yield from _blocks(part)


def _is_in_a_loop(fn: ast.FunctionDef, block: list[ast.stmt]) -> bool:
    loops = [n for n in ast.walk(fn) if isinstance(n, (ast.For, ast.While))]
    return any(block is inner for loop in loops for inner in _blocks(ast.Module(loop.body, [])))
