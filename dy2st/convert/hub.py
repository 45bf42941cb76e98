"""The ground of the package: the tracer that is active, and the primitives that code below their definition calls.

Imports go one way, from the primitives of Python's statements and operators down to the kinds of values. Some values need primitives all
the same: the entries of a list of dynamic length are compared by what `==` means for tensors. The module that defines such a primitive
registers it here, and code below calls it as `hub.compare(...)`. Code above the definition imports it from there.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import StagedValueError
from ..static.recorder import ProgramRecorder
from ..tensor import Tensor, dispatch
from ..tensor.location import user_location

if TYPE_CHECKING:
    from .builtins.builtin_functions import type_ as type_
    from .calls.calls import call as call
    from .calls.calls import is_called_unconverted as is_called_unconverted
    from .calls.calls import is_ignored as is_ignored
    from .calls.calls import why_unconverted as why_unconverted
    from .contexts.foreign_handlers import enclosing_handler as enclosing_handler
    from .control.comprehensions import list_ as list_
    from .control.comprehensions import list_comp as list_comp
    from .control.for_stmt import for_stmt as for_stmt
    from .control.generators import generator as generator
    from .control.if_stmt import if_expr as if_expr
    from .control.if_stmt import if_stmt as if_stmt
    from .control.if_stmt import merge as merge
    from .control.if_stmt import stage_cond as stage_cond
    from .control.join import is_option as is_option
    from .control.logical import and_ as and_
    from .control.logical import compare as compare
    from .control.logical import is_none as is_none
    from .control.logical import not_ as not_
    from .control.logical import or_test as or_test
    from .control.membership import in_ as in_
    from .control.sorting import list_count as list_count
    from .control.sorting import list_index as list_index
    from .control.sorting import list_remove as list_remove
    from .control.sorting import list_sort as list_sort
    from .control.symbolic_items import getitem as getitem
    from .iteration.outer_iterators import next_ as next_
    from .regions.choice_mutation import note_item as note_item
    from .regions.list_promotion import promote as promote
    from .trace.raising import is_of_python as is_of_python
    from .trace.raising import raise_where as raise_where
    from .trace.tracer import Tracer
    from .values.join_types import listed as listed
    from .values.join_types import same as same
    from .values.record_layout import stacked as stacked
    from .values.text_choices import joined_texts as joined_texts
    from .values.text_choices import shown_chosen as shown_chosen

F = TypeVar("F", bound=Callable)

PRIMITIVES = frozenset({
    "and_", "call", "compare", "for_stmt", "generator", "getitem", "if_expr", "if_stmt", "in_", "is_called_unconverted",
    "is_ignored", "is_none", "is_of_python", "is_option", "joined_texts", "list_", "list_comp", "list_count",
    "list_index", "list_remove", "list_sort", "listed", "merge", "next_", "not_", "note_item", "enclosing_handler", "or_test",
    "promote", "raise_where", "same", "shown_chosen", "stacked", "stage_cond", "type_", "why_unconverted",
})  # fmt: skip
"""Their names: those that are imported above for the type checker."""
runtime: ModuleType
"""The package itself, which converted code has as `_dy`; set when it is complete."""
BUILTINS: dict[Any, Callable] = {}
"""What stands for functions and classes of Python's, by these; filled by `builtin_functions`."""


def primitive(function: F) -> F:
    """Registers the definition of a primitive, under its name. A decorator."""
    assert function.__name__ in PRIMITIVES - globals().keys(), function.__name__
    globals()[function.__name__] = function
    return function


def complete(package: ModuleType) -> None:
    """The package has all that converted code calls, and every primitive its definition."""
    global runtime
    runtime = package
    assert globals().keys() >= PRIMITIVES, PRIMITIVES - globals().keys()


class TracerBase(ProgramRecorder):
    """What a `Tracer` is to code below it."""


def current_tracer() -> Tracer | None:
    """The active tracer of this thread; None outside of traced functions."""
    recorder = dispatch.current_recorder()
    return recorder if isinstance(recorder, TracerBase) else None  # type: ignore[return-value]


def need_tracer(what: str) -> Tracer:
    """The active tracer; StagedValueError if a symbolic tensor met Python control flow outside of one."""
    tracer = current_tracer()
    if tracer is None:
        raise StagedValueError(
            f"{what} depends on a tensor of a program that is built by hand", location=user_location(2),
            hint="use static.cond and static.while_loop, or call a function decorated with to_static",
        )  # fmt: skip
    return tracer


def is_staged(x: Any) -> bool:
    """Whether a value is only known when the program runs: a symbolic tensor, or any tensor while tracing."""
    return isinstance(x, Tensor) and (x.is_symbolic or not dispatch.in_dynamic_mode())


def renamed(t: Tensor, stop_gradient: bool = True) -> Tensor:
    """Another object for the value that a staged tensor has now. One of the outside becomes a variable first, whose value each run reads:
    its array in another object would be that of the first call for ever."""
    recorder = dispatch.current_recorder()
    assert isinstance(recorder, ProgramRecorder)
    return Tensor.wrap(t._value if t.is_symbolic else recorder.lift(t), stop_gradient)
