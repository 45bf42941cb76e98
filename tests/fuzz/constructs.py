"""Changes of mutants that bring a construct of the language in: closures, attributes, globals, generators, context managers, and others."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable

from .changes import CHANGES, Changed, expression, statements

Change = Callable[[Changed, list, int, int], None]

_OUTSIDE = {
    "Held_": "class Held_:\n    pass",
    "Pair_": """
@__import__('dataclasses').dataclass
class Pair_:
    v: object
    rest: list = __import__('dataclasses').field(default_factory=list)
""",
    "Two_": "class Two_(__import__('typing').NamedTuple):\n    v: object\n    w: object = None",
    "Manager_": """
class Manager_:
    def __init__(self, seen, kind=()):
        self.seen, self.kind = seen, kind
    def __enter__(self):
        self.seen.append('in')
        return self
    def __exit__(self, kind, value, traceback):
        self.seen.append(str(value))
        return isinstance(value, self.kind)
""",
    "managed_": """
@__import__('contextlib').contextmanager
def managed_(seen):
    seen.append('in')
    try:
        yield seen
    finally:
        seen.append('out')
""",
}  # fmt: skip
"""What stands in the module where a change needs it, by name."""

_EXPRESSIONS = (
    "[HOLE for {v} in range(2)][-1]", "{{{v}: HOLE for {v} in range(2)}}[1]", "next(HOLE for {v} in range(2))", "[HOLE for {v} in {a}]",
    "[{v} for {v} in HOLE]", "[HOLE][0]", "{{'k': HOLE}}['k']", "{{'k': HOLE}}.get({a}, HOLE)", "(HOLE if {c} else {a})",
    "(HOLE if {c} else None)", "(HOLE if {c} else HOLE)", "({a} and HOLE)", "(HOLE or {a})", "(HOLE and {a})", "({c} and HOLE)",
    "(HOLE, {a})[{c}]", "(lambda *a_, **k_: a_[0])(HOLE, {a}, k={a})", "(lambda {v}=HOLE: {v})()", "({v} := HOLE)", "[*[HOLE], {a}][0]",
    "[HOLE, *[{a}]][:1][0]", "list(map(lambda s_: s_, [HOLE, {a}]))[0]", "sorted([HOLE, {a}], key=lambda s_: s_.sum())[0]",
    "max(HOLE, {a})", "sum([HOLE, {a}])", "__import__('copy').copy(HOLE)", "__import__('copy').deepcopy(HOLE)",
    "__import__('functools').partial(lambda s_, t_: s_, HOLE)({a})", "list(zip([HOLE], [{a}]))[0][0]", "[HOLE, {a}].pop(0)",
    "dict(k=HOLE).pop('k')", "type('T_', (), {{'v': HOLE}}).v", "(lambda: (yield HOLE))", "list(filter(None, [HOLE, {a}]))[0]",
    "[HOLE, {a}][{a}]", "list(dict.fromkeys([HOLE]))[0]", "getattr(HOLE, 'T', {a})", "[HOLE] * 2", "(HOLE == {a})", "(HOLE is {a})",
    "(HOLE in [{a}])", "len(HOLE)", "isinstance(HOLE, (int, float))", "f'{{HOLE}}'", "[HOLE, {a}][-1:]",
    "list(enumerate([HOLE, {a}]))[-1]", "any([HOLE, {a}])", "(not HOLE)", "({a} < HOLE)", "HOLE.shape[0]", "int(HOLE)",
    "float(HOLE.sum())",
)  # fmt: skip

_STATEMENTS = (
    "{a}, *{b} = [{a}, {b}, {b}]", "({a}, {b}), = [({b}, {a})]", "{a} = {b} = {a}", "{a}: object = {b}", "print({a})",
    "print(f'{{{a}}}')", "assert {c}, 'm'", "assert {c}, {a}", "{a} -= {b}", "{a} |= {b}", "{a}[{b}] = {a}", "{a}[:] = [{b}, {a}]",
    "{a}.sort()", "{a}.remove({b})", "{a}.setdefault('k', []).append({b})", "{a}.v.append({b})", "{a} = {{{a}: {b}}}", "{a} = set([{a}])",
    "{a} = iter({a})", "{a} = next({a}, {b})", "{a} = enumerate({a})", "{a} = zip({a}, {b})", "{a} = map(lambda s_: s_ * 2, {a})",
    "{a} = (lambda: {a})", "{a} = (lambda s_={a}: s_)", "{a} = {a}()", "setattr({a}, 'v', {b})", "{a} = getattr({a}, 'v', {b})",
    "del {a}.v", "{a} = {a} if isinstance({a}, list) else [{a}]", "{a} = {a} if {a} is not None else {b}",
    "for {v}, {a} in enumerate([{a}, {b}]): pass", "for {a}, {b} in [({b}, {a}), ({a}, {b})]: pass",
    "match {a}:\n    case [{v}, *{b}]:\n        {a} = {v}\n    case None:\n"
    "        {a} = {b}\n    case {{'k': {v}}}:\n        {b} = {v}\n    case _:\n        pass",
    "for {v} in {a}.items():\n    {b} = {v}", "for {v} in list({a}):\n    {a}.append({v})", "for {v} in reversed({a}):\n    {b} = {v}",
    "while {a}:\n    {b} = {a}.pop()", "{a} = {a}.copy()", "{a} = [{b}] * 2", "{a} = [[{b}] for _ in range(2)]", "{a} = tuple({a})",
    "{a}.__dict__['v'] = {b}", "vars({a}).update(v={b})", "{a} = Held_()\n{a}.v = [{b}]", "{a} = Pair_({a}, [{b}])",
    "{a} = Two_({a}, {b})", "{a} = {a}._replace(v={b})", "{a} = __import__('dataclasses').replace({a}, v={b})",
    "{a} = __import__('collections').deque([{a}, {b}], 2)", "{a} = __import__('collections').defaultdict(list)\n{a}[0].append({b})",
    "{a} = __import__('collections').Counter([1, 1])", "{a}.appendleft({b})", "{a}, {b} = {a}", "{a} = {b}.v", "{a} = {a}.v",
    "{a}.v = {a}", "{a} = [{a}]\n{a}.append({a}[0])", "{a} = {a}.sum()", "{a} = {a}.detach()", "{a}.stop_gradient = True",
    "{a} = {a}.astype('int64')", "{a} = int({a}.sum())", "{a} = bool({a}.sum() > 0)", "{a} = {a}.shape", "{a}[0] += {b}",
    "{a}[0].append({b})", "{a}[0], {b} = {b}, {a}[0]", "raise ValueError({a})", "{a} = ValueError({a})\nraise {a}", "return {a}",
)  # fmt: skip


def outside(c: Changed, texts: Iterable[ast.stmt]) -> None:
    """What new statements name of the module is put there."""
    names = {n.id for s in texts for n in ast.walk(s) if isinstance(n, ast.Name)} & _OUTSIDE.keys()
    defined = {n.name for n in c.tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    behind = next(i for i, n in enumerate(c.tree.body) if not isinstance(n, (ast.Import, ast.ImportFrom)))
    c.tree.body[behind:behind] = [s for name in sorted(names - defined) for s in statements(_OUTSIDE[name])]


def _stored(block: Iterable[ast.stmt]) -> set[str]:
    return {n.id for s in block for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Del))}


def _as_function(c: Changed, body: list[ast.stmt], end: str = "") -> tuple[str, ast.stmt]:
    """A function of statements, whose variables are those of the function around."""
    name = c.fresh("f")
    (inner,) = statements(f"def {name}():\n    0\n    {end}")
    assert isinstance(inner, ast.FunctionDef)
    names = sorted(_stored(body))
    inner.body[:1] = [*([ast.Nonlocal(names)] if names else []), *body]
    rest = [s for s in c.fn.body if s not in body]
    bound = {a.arg for a in c.fn.args.args} | _stored(rest)
    unset = [n for n in names if n not in _parameters(c) and (n not in bound or c.rng.random() < 0.2)]
    c.fn.body[:0] = [s for n in unset for s in statements(f"{n} = None")]
    return name, inner


def _parameters(c: Changed) -> set[str]:
    return {a.arg for a in c.fn.args.args}


def closure(c: Changed, block: list, i: int, j: int) -> None:
    body = block[i:j]
    name, inner = _as_function(c, body)
    k = block.index(body[0])
    block[k : k + len(body)] = [inner, *statements(c.rng.choice((f"{name}()", f"{c.name()} = {name}()", f"for _ in range(2): {name}()")))]


def generator(c: Changed, block: list, i: int, j: int) -> None:
    """Statements run where a generator is asked for an item."""
    body = block[i:j]
    given = c.rng.choice(("yield {a}", "yield {a}\n    yield {b}", "yield from [{a}, {b}]"))
    name, inner = _as_function(c, body, given.format(a=c.name(), b=c.name()))
    k = block.index(body[0])
    use = c.rng.choice((
        "for {v} in {f}(): pass", "{v} = list({f}())", "{v} = next({f}())", "{a} = [s_ for s_ in {f}()]", "{a} = max({f}())",
        "{v} = {f}()\n{a} = next({v})\n{a} = next({v}, {a})", "for {a} in {f}():\n    if {c}:\n        break", "{a} = sum({f}())",
    ))  # fmt: skip
    block[k : k + len(body)] = [inner, *statements(use.format(f=name, a=c.name(), v=c.fresh("v"), c=ast.unparse(c.condition())))]


def wrapped(c: Changed, block: list, i: int, j: int) -> None:
    """An expression becomes a part of another one."""
    found = [n for n in ast.walk(c.fn) if isinstance(n, (ast.Assign, ast.Return, ast.Expr, ast.AugAssign)) and n.value is not None]
    if not found:
        return
    n = c.rng.choice(found)
    inner = [v for v in ast.walk(n.value) if isinstance(v, ast.expr) and not isinstance(v, (ast.Slice, ast.Starred))
             and not isinstance(getattr(v, "ctx", None), (ast.Store, ast.Del))]  # fmt: skip
    hole = c.rng.choice(inner) if c.rng.random() < 0.4 else n.value
    new = expression(c.rng.choice(_EXPRESSIONS).format(a=c.name(), v=c.fresh("v"), c=ast.unparse(c.condition())))

    class Filled(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return copy.deepcopy(hole) if node.id == "HOLE" else node

    made = Filled().visit(new)

    class Put(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return made if node is hole else self.generic_visit(node)

    n.value = Put().visit(n.value)


def statement(c: Changed, block: list, i: int, j: int) -> None:
    new = statements(c.rng.choice(_STATEMENTS).format(a=c.name(), b=c.name(), v=c.fresh("v"), c=ast.unparse(c.condition())))
    outside(c, new)
    block[i:i] = new


def in_an_object(c: Changed, block: list, i: int, j: int) -> None:
    """A variable becomes an attribute."""
    name, held = c.name(), c.fresh("held")

    class Held(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return ast.Attribute(ast.Name(held, ast.Load()), "v", node.ctx) if node.id == name else node

    c.fn.body = [Held().visit(s) for s in c.fn.body]
    start = c.rng.choice((f"{held} = Held_()", f"{held} = Pair_(None)", f"{held} = Held_()\n{held}.v = None"))
    new = statements(start + (f"\n{held}.v = {name}" if name in _parameters(c) else ""))
    outside(c, new)
    c.fn.body[:0] = new


def in_a_global(c: Changed, block: list, i: int, j: int) -> None:
    """A variable becomes one of the module, which the next call finds as it was left."""
    name, kept = c.name(), c.fresh("KEPT")

    class Named(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return ast.Name(kept, node.ctx) if node.id == name else node

    c.fn.body = [Named().visit(s) for s in c.fn.body]
    given = f"{kept} = {name}" if c.rng.random() < 0.7 else f"if {kept} is None:\n    {kept} = {name}"
    c.fn.body[:0] = statements(f"global {kept}" + (f"\n{given}" if name in _parameters(c) else ""))
    behind = next(i for i, n in enumerate(c.tree.body) if not isinstance(n, (ast.Import, ast.ImportFrom)))
    c.tree.body[behind:behind] = statements(f"{kept} = {c.rng.choice(('None', '0', '[]', '1.5'))}")


def managed(c: Changed, block: list, i: int, j: int) -> None:
    seen = c.fresh("s")
    way = c.rng.choice((
        "Manager_({s})", "Manager_({s}, (ValueError, IndexError, KeyError))", "managed_({s})", "Manager_({s}, Exception) as {v}",
    ))  # fmt: skip
    new = statements(f"with {way.format(s=seen, v=c.fresh('v'))}:\n    0")
    outside(c, new)
    new[0].body = block[i:j]  # type: ignore[attr-defined]
    block[i:j] = new
    c.fn.body[:0] = statements(f"{seen} = []")
    c.returned_too(seen, 0.7)


def recursive(c: Changed, block: list, i: int, j: int) -> None:
    """The function calls itself, with a smaller argument."""
    c.fn = c.main
    own = [a.arg for a in c.main.args.args]
    smaller = [(n, f"{n} > 0", f"{n} - 1") for n in c.ints] + [(t, f"{t}.sum() > -6", f"{t} - 4") for t in c.tensors]
    if not smaller or (block is not c.main.body and c.rng.random() < 0.7):
        return
    name, test, less = c.rng.choice(smaller)
    call = f"{c.main.name}({', '.join(less if a == name else a for a in own)})"
    use = c.rng.choice(("return {f}", "{a} = {f}", "{v} = {f}", "return {f}, {a}", "{a} = [{f}, {a}]"))
    block[i:i] = statements(f"if {test}:\n    {use.format(f=call, a=c.name(), v=c.fresh('v'))}")


def endless_loop(c: Changed, block: list, i: int, j: int) -> None:
    """A loop that only `break` ends."""
    n, body = c.fresh("n"), block[i:j]
    start, loop = statements(f"{n} = 0\nwhile True:\n    {n} += 1\n    if {n} > 2 or {ast.unparse(c.condition())}:\n        break")
    k = c.rng.choice((1, 2))
    loop.body[k:k] = body  # type: ignore[attr-defined]
    block[i:j] = [start, loop]


def otherwise(c: Changed, block: list, i: int, j: int) -> None:
    """Statements behind a loop, or a `try`, that comes to its end."""
    text = c.rng.choice((
        "for {v} in range(2):\n    if {c}:\n        break\nelse:\n    0", "while {c}:\n    break\nelse:\n    0",
        "try:\n    if {c}:\n        raise KeyError('k')\nexcept KeyError as {v}:\n    {a} = {v}\nelse:\n    0",
        "try:\n    if {c}:\n        raise KeyError('k')\nexcept KeyError:\n    0\nfinally:\n    {a} = {b}",
        "try:\n    if {c}:\n        raise KeyError({a})\n    {b} = {a}\nexcept (KeyError, ValueError) as {v}:\n"
        "    if {d}:\n        raise ValueError('n') from {v}\n    0",
    ))  # fmt: skip
    c1, c2 = (ast.unparse(c.condition()) for _ in range(2))
    new = statements(text.format(v=c.fresh("v"), a=c.name(), b=c.name(), c=c1, d=c2))
    for inner in (b for s in new for n in ast.walk(s) for field in ("body", "orelse") if isinstance(b := getattr(n, field, None), list)):
        for k, s in enumerate(inner):
            if isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant):
                inner[k : k + 1] = block[i:j]
                break
    block[i:j] = new


ALL: list[Change] = [
    *CHANGES, closure, closure, generator, *[wrapped] * 5, *[statement] * 5, in_an_object, in_an_object, in_a_global, in_a_global, managed,
    recursive, endless_loop, otherwise, otherwise,
]  # fmt: skip
