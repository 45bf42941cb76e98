"""The passes in their order."""

from __future__ import annotations

from dy2st.transpiler.manager import Pass
from dy2st.transpiler.passes.annotations import Annotations
from dy2st.transpiler.passes.assert_stmt import AssertStmt
from dy2st.transpiler.passes.block_state import BlockState
from dy2st.transpiler.passes.break_stmt import BreakStmt
from dy2st.transpiler.passes.calls import Calls
from dy2st.transpiler.passes.check_unsupported import CheckUnsupported
from dy2st.transpiler.passes.class_read import ClassRead
from dy2st.transpiler.passes.compare import Compare
from dy2st.transpiler.passes.comprehension_walrus import ComprehensionWalrus
from dy2st.transpiler.passes.comprehensions import Comprehensions
from dy2st.transpiler.passes.continue_stmt import ContinueStmt
from dy2st.transpiler.passes.declarations import Declarations
from dy2st.transpiler.passes.early_return import EarlyReturn
from dy2st.transpiler.passes.for_stmt import ForStmt
from dy2st.transpiler.passes.generator_stmts import GeneratorStmts
from dy2st.transpiler.passes.handler_names import HandlerNames
from dy2st.transpiler.passes.if_expr import IfExpr
from dy2st.transpiler.passes.if_stmt import IfStmt
from dy2st.transpiler.passes.list_mutation import ListMutation
from dy2st.transpiler.passes.logical import Logical
from dy2st.transpiler.passes.match_stmt import MatchStmt
from dy2st.transpiler.passes.namespaces import Namespaces
from dy2st.transpiler.passes.raise_stmt import RaiseStmt
from dy2st.transpiler.passes.subscript_assign import SubscriptAssign
from dy2st.transpiler.passes.subscript_read import SubscriptRead
from dy2st.transpiler.passes.super_call import SuperCall
from dy2st.transpiler.passes.tests import Tests
from dy2st.transpiler.passes.texts import Texts
from dy2st.transpiler.passes.try_stmt import TryStmt
from dy2st.transpiler.passes.undefined_reads import UndefinedReads
from dy2st.transpiler.passes.unpacking import Unpacking
from dy2st.transpiler.passes.walrus import Walrus
from dy2st.transpiler.passes.while_stmt import WhileStmt
from dy2st.transpiler.passes.with_stmt import WithStmt

PIPELINE: tuple[type[Pass], ...] = (
    # Sanitize. What is not supported is rejected before anything is changed.
    CheckUnsupported,
    SuperCall,
    Declarations,
    Annotations,
    # Before walrus, as it makes some.
    MatchStmt,
    # Where the user's conditions are, as long as they can be told from what the next passes make of them.
    Tests,
    # Makes functions in which the next pass finds no more `:=` than in those of the user's.
    ComprehensionWalrus,
    # Makes statements of expressions, so before everything that looks at control flow.
    Walrus,
    # Makes names undefined, which the next pass has to know.
    HandlerNames,
    # Needs the user's own control flow: after `break` has become a flag, `while True: x = 1; break`
    # looks as if it might not set x.
    UndefinedReads,
    # A return in a loop becomes a break, so before break. A break may leave code behind it that only a
    # continue jumps to, and a break inside a loop's else belongs to the loop around, so before continue.
    EarlyReturn,
    BreakStmt,
    ContinueStmt,
    # Only inside branches and loops, so after code has moved into branches; they assign variables, so
    # before the state of blocks is computed. pop() assigns to what may be an item, so lists come first.
    ListMutation,
    SubscriptAssign,
    # Only what the user unpacks, so before the functions of blocks, which unpack their state.
    Unpacking,
    # The state of all blocks is computed once, on the last tree that still has ifs, loops and tries.
    BlockState,
    IfStmt,
    WhileStmt,
    ForStmt,
    TryStmt,
    WithStmt,
    # All other statements of that kind have become calls.
    GeneratorStmts,
    # Expressions. They make functions of operands, which the analyses would take for the user's; so last.
    RaiseStmt,
    Namespaces,
    ClassRead,
    SubscriptRead,
    Comprehensions,
    AssertStmt,
    IfExpr,
    Logical,
    Compare,
    Texts,
    Calls,
)
