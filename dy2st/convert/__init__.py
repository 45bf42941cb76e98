"""What transformed code calls, under the name `_dy`.

Each function is plain Python on Python values. On symbolic tensors it writes ops, with blocks for branches and loop bodies.
"""

from __future__ import annotations

from builtins import slice as slice  # by this name it may be anything in the user's code
from sys import modules as _modules
from typing import Any

from .builtins.builtin_functions import class_of as class_of
from .builtins.match_stmt import match_class as match_class
from .builtins.match_stmt import match_mapping as match_mapping
from .builtins.match_stmt import match_others as match_others
from .builtins.match_stmt import match_part as match_part
from .builtins.match_stmt import match_rest as match_rest
from .builtins.match_stmt import match_sequence as match_sequence
from .calls.calls import call as call
from .contexts.context_managers import Through as Through
from .contexts.context_managers import except_star as except_star
from .contexts.context_managers import manager as manager
from .contexts.context_managers import tried as tried
from .contexts.foreign_handlers import enclosing_handler as enclosing_handler
from .contexts.printing import assert_stmt as assert_stmt
from .control.comprehensions import comprehension_test as comprehension_test
from .control.comprehensions import dict_comp as dict_comp
from .control.comprehensions import list_comp as list_comp
from .control.comprehensions import list_join as list_join
from .control.for_stmt import for_stmt as for_stmt
from .control.generators import generator as generator
from .control.if_stmt import if_expr as if_expr
from .control.if_stmt import if_stmt as if_stmt
from .control.logical import and_ as and_
from .control.logical import and_test as and_test
from .control.logical import compare as compare
from .control.logical import compare_chain as compare_chain
from .control.logical import is_none as is_none
from .control.logical import not_ as not_
from .control.logical import or_ as or_
from .control.logical import or_test as or_test
from .control.membership import in_ as in_
from .control.membership import not_in as not_in
from .control.mutation import delitem as delitem
from .control.mutation import list_append as list_append
from .control.mutation import list_clear as list_clear
from .control.mutation import list_extend as list_extend
from .control.mutation import list_insert as list_insert
from .control.mutation import list_pop as list_pop
from .control.mutation import setitem as setitem
from .control.symbolic_items import getitem as getitem
from .control.symbolic_items import getslice as getslice
from .control.symbolic_items import item_for as item_for
from .control.try_stmt import try_stmt as try_stmt
from .control.unpacking import unpack as unpack
from .control.unpacking import unpacked as unpacked
from .control.unpacking import unpacked_rest as unpacked_rest
from .control.while_stmt import while_stmt as while_stmt
from .guards.namespaces import space as space
from .guards.namespaces import space_get as space_get
from .guards.namespaces import space_item as space_item
from .guards.namespaces import space_run as space_run
from .guards.structural_state import StructuralState as StructuralState
from .hub import complete as _complete
from .hub import current_tracer as _current_tracer
from .iteration.outer_iterators import advanced as advanced
from .iteration.outer_iterators import iterated as iterated
from .pyfacts.undefined import Dead as Dead
from .pyfacts.undefined import Undefined as Undefined
from .pyfacts.undefined import Unread as Unread
from .pyfacts.undefined import ldu as ldu
from .trace.active_tries import known_kinds as known_kinds
from .trace.raising import caused as caused
from .trace.raising import exception as exception
from .values.attributes import reached as reached
from .values.attributes import stored as stored
from .values.maybe_attribute import is_absent as is_absent
from .values.symbolic_texts import percent as percent
from .values.symbolic_texts import percent_of as percent_of
from .values.symbolic_texts import shown as shown
from .values.symbolic_texts import text as text


def ld(x: Any, name: str) -> Any:
    """The value of the variable `name`; UndefinedError if it has none, at run time where only that can tell."""
    tracer = _current_tracer()
    if tracer is not None:
        return tracer.defined(x, name)
    if isinstance(x, Undefined):
        raise x.error()
    return x


_complete(_modules[__name__])
