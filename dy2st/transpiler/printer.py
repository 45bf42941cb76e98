"""From the tree to text, and the proof that the text means the tree.

astor prints; where it does not know a node (`match`, `except*`) or its text does not parse back to an
equal tree (some f-strings), the standard library prints.
"""

from __future__ import annotations

import ast
import sys
import warnings

import gast

from dy2st.transpiler import nodes

with warnings.catch_warnings():
    # astor asks for node classes that newer Pythons only keep as deprecated names.
    warnings.simplefilter("ignore", DeprecationWarning)
    import astor
    from astor.code_gen import SourceGenerator, set_precedence

# Not part of what the text means: the parser fills these in by itself.
_IGNORED = frozenset({"ctx", "kind", "type_comment", "type_ignores"})


def print_tree(tree: gast.Module) -> tuple[str, gast.Module]:
    """The text of a module, and the text parsed again (same shape as the tree, with positions).

    Raises:
        SyntaxError: the text is beyond the limits of the parser (100 levels of indentation).
    """
    plain = gast.gast_to_ast(nodes.copy(tree))
    ast.fix_missing_locations(plain)
    failure: Exception | None = None
    for printer in (_astor, ast.unparse):
        try:
            text = printer(plain)
            again = gast.parse(text)
        except (AttributeError, SyntaxError, AssertionError, ValueError) as error:
            failure = error  # a node that this printer does not know: the next one does
            continue
        if equal(tree, again):
            return text.rstrip("\n") + "\n", again
    raise failure or AssertionError(f"no printer prints this tree:\n{ast.unparse(plain)}")


def show(tree: gast.AST) -> str:
    """The text of a tree in the middle of the pipeline, for people."""
    shown = _Readable().visit(nodes.copy(tree))
    text = ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(shown)))
    # Python 3.10 puts a space there; the text is for people and should not depend on who runs it.
    return text.replace("lambda :", "lambda:") if sys.version_info < (3, 11) else text


def _astor(tree: ast.AST) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # as at its import
        # Lines are not wrapped: one statement, one line, so that lines can be compared side by side.
        return astor.to_source(tree, pretty_source="".join, source_generator_class=_Generator)


class _Generator(SourceGenerator):
    def visit_Lambda(self, node: ast.Lambda) -> None:
        # astor puts a space before the colon of a lambda without parameters.
        if any((node.args.args, node.args.posonlyargs, node.args.vararg, node.args.kwonlyargs, node.args.kwarg)):
            super().visit_Lambda(node)
            return
        with self.delimit(node) as delimiters:
            set_precedence(delimiters.p, node.body)
            self.write("lambda: ", node.body)


class _Readable(gast.NodeTransformer):
    """What has no syntax of its own is shown as a call."""

    def visit_ForUntil(self, node: nodes.ForUntil) -> gast.For:
        self.generic_visit(node)
        until = nodes.call(nodes.name("until"), node.iter, nodes.thunk(node.extra_test))
        return gast.For(node.target, until, node.body, node.orelse, None)


def equal(a: object, b: object) -> bool:
    """Whether two trees are the same but for positions, contexts and notes.

    >>> equal(gast.parse("x = (1)"), gast.parse("x=1")), equal(gast.parse("x = 1"), gast.parse("x = 1.0"))
    (True, False)
    """
    if isinstance(a, gast.AST) and isinstance(b, gast.AST):
        if type(a).__name__ != type(b).__name__:
            return False
        return all(equal(getattr(a, f, None) or None, getattr(b, f, None) or None) for f in a._fields if f not in _IGNORED) \
            if not isinstance(a, gast.Constant) else _same_constant(a.value, b.value)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(equal, a, b))
    return type(a) is type(b) and a == b


def _same_constant(a: object, b: object) -> bool:
    # repr tells -0.0 from 0.0 and lets nan equal itself.
    return type(a) is type(b) and ((a == b and repr(a) == repr(b)) or repr(a) == repr(b))
