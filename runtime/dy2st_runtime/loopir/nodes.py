"""The nodes of the loop IR: statements, which are lists of plain records, and all `expressions`.

A `Kernel` has tensor arguments and scalar arguments and a body of statements.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from .expressions import INDEX as INDEX
from .expressions import Attr as Attr
from .expressions import Binary as Binary
from .expressions import Call as Call
from .expressions import Cast as Cast
from .expressions import Const as Const
from .expressions import Expr as Expr
from .expressions import Load as Load
from .expressions import Name as Name
from .expressions import Select as Select
from .expressions import Size as Size
from .expressions import Unary as Unary
from .expressions import as_expr as as_expr
from .expressions import binary as binary
from .expressions import call as call
from .expressions import cast as cast
from .expressions import maximum as maximum
from .expressions import minimum as minimum
from .expressions import select as select
from .expressions import select_dim as select_dim
from .expressions import total as total


@dataclass
class Let:
    """Names a value; never assigned again."""

    name: str
    value: Expr


@dataclass
class Var:
    """Declares a mutable local."""

    name: str
    value: Expr


@dataclass
class Assign:
    """Gives a variable its next value. `free`: that is the variable plus a term of a sum, or times a factor of a product, that is as good
    in any order, so that a target may keep several partial ones. All other arithmetic is computed as it is written."""

    name: str
    value: Expr
    free: bool = False


@dataclass
class Store:
    """Writes an element. `atomic_add`: adds to it; on a parallel target without losing another thread's addition."""

    tensor: str
    index: Expr
    value: Expr
    atomic_add: bool = False


@dataclass
class For:
    """`for name in range(start, stop, step)`. `parallel`: the iterations do not depend on each other and are shared
    among threads; at most one level of a kernel is parallel."""

    name: str
    start: Expr
    stop: Expr
    step: Expr
    body: list[Any]
    parallel: bool = False


@dataclass
class While:
    """Runs `setup`, tests `cond`, runs the body, again. `lasting`: nobody knows for how long, so that a target which can looks for signals
    meanwhile, and ends the kernel if the handler of one raises something."""

    setup: list[Any]
    cond: Expr
    body: list[Any]
    lasting: bool = False


@dataclass
class When:
    cond: Expr
    body: list[Any]
    orelse: list[Any] = field(default_factory=list)


@dataclass
class Fail:
    """Ends the kernel with a failure status where the condition holds. The host then replays the op in the reference,
    which raises the exception that eager raises."""

    cond: Expr


@dataclass
class SetShape:
    """Gives an output its sizes and, on the CPU, its memory; comes before the first store to it."""

    tensor: str
    dims: tuple[Expr, ...]


@dataclass
class Gemm:
    """C[m,n] = op(A)[m,k] @ op(B)[k,n], or with `add` C += it; row-major, at flat offsets; ld* are the row strides as stored.

    The body runs for each element of C when it is there, in any order; in it `row` and `column` name the place.
    """

    trans_a: bool
    trans_b: bool
    m: Expr
    n: Expr
    k: Expr
    a: str
    a_offset: Expr
    lda: Expr
    b: str
    b_offset: Expr
    ldb: Expr
    add: bool
    c: str
    c_offset: Expr
    ldc: Expr
    row: str = ""
    column: str = ""
    body: list[Any] = field(default_factory=list)


@dataclass
class NativeCall:
    """Calls a function of the target's library on whole tensors or arrays (by descriptor); a status other than 0 ends the kernel."""

    fn: str
    tensors: tuple[str, ...]
    scalars: tuple[Expr, ...] = ()


@dataclass
class RoutineCall:
    """Calls a routine that the target compiles once for all kernels, with the addresses of tensors' elements and integers. It cannot
    fail. Only for targets that have routines (`Context.routines`). `writes`: those of the tensors that it changes; `work`: how much a
    call is, in the unit of `parallel`."""

    fn: str
    tensors: tuple[str, ...]
    scalars: tuple[Expr, ...]
    writes: tuple[str, ...]
    work: Expr


Stmt = Let | Var | Assign | Store | For | While | When | Fail | SetShape | Gemm | NativeCall | RoutineCall


@dataclass
class TensorArg:
    """A tensor argument: `name` in the kernel, `var` in the Program. `ones`: the axes that are known to have size 1."""

    name: str
    var: str
    dtype: str
    rank: int
    written: bool = False
    ones: tuple[int, ...] = ()


@dataclass
class ScalarArg:
    """A scalar argument with the value of this launch."""

    name: str
    dtype: str
    value: int | float | bool


@dataclass
class Kernel:
    """One launch: arguments and body. `label` names the ops it stands for, for comments and profiles."""

    label: str
    tensors: list[TensorArg] = field(default_factory=list)
    scalars: list[ScalarArg] = field(default_factory=list)
    body: list[Any] = field(default_factory=list)

    @functools.cached_property
    def key(self) -> tuple[Any, ...]:
        """What tells kernels apart that do not do the same, or not to arguments of the same kinds. To be asked for when it is complete."""
        tensors = tuple((t.name, t.dtype, t.rank, t.written, t.ones) for t in self.tensors)
        return self.label, tensors, tuple((s.name, s.dtype) for s in self.scalars), _key(self.body)

    def bound(self, names: Mapping[str, str]) -> Kernel:
        """The same kernel on other variables of the Program."""
        tensors = [TensorArg(t.name, names[t.var], t.dtype, t.rank, t.written, t.ones) for t in self.tensors]
        made = Kernel(self.label, tensors, self.scalars, self.body)
        vars(made)["key"] = self.key  # it knows nothing of these variables, and takes a walk over the body
        return made


_STATEMENTS = set(get_args(Stmt))


def _key(x: Any) -> Any:
    kind = type(x)
    if isinstance(x, Expr):
        return x.key
    if kind is list or kind is tuple:
        return tuple([_key(v) for v in x])
    return (kind, *[_key(v) for v in vars(x).values()]) if kind in _STATEMENTS else x


def holds_lasting(body: list[Any]) -> bool:
    """Whether there is a loop among the statements that may last."""
    return any((isinstance(s, While) and s.lasting) or holds_lasting(_inside(s)) for s in body)


def holds_check(body: list[Any]) -> bool:
    """Whether some statement can end the kernel with a failure."""
    return holds_lasting(body) or any(isinstance(s, (Fail, NativeCall)) or holds_check(_inside(s)) for s in body)


def _inside(s: Any) -> list[Any]:
    return [*getattr(s, "body", ()), *getattr(s, "orelse", ()), *getattr(s, "setup", ())]
