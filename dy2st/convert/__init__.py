"""What transformed code calls, under the name `_dy`.

Each function is plain Python on Python values. On symbolic tensors it writes ops, with blocks for branches and loop bodies.
"""

from __future__ import annotations

from builtins import slice as slice  # by this name it may be anything in the user's code
from sys import modules as _modules
from typing import Any

from .attempts import known_kinds as known_kinds
from .attributes import reached as reached
from .attributes import stored as stored
from .builtin_functions import class_of as class_of
from .calls import call as call
from .comprehensions import comprehension_test as comprehension_test
from .comprehensions import dict_comp as dict_comp
from .comprehensions import list_comp as list_comp
from .comprehensions import list_join as list_join
from .elsewhere import Elsewhere as Elsewhere
from .for_stmt import for_stmt as for_stmt
from .generators import generator as generator
from .hub import complete as _complete
from .hub import current_tracer as _current_tracer
from .if_stmt import if_expr as if_expr
from .if_stmt import if_stmt as if_stmt
from .items import getitem as getitem
from .items import getslice as getslice
from .items import item_for as item_for
from .iterators import advanced as advanced
from .iterators import iterated as iterated
from .logical import and_ as and_
from .logical import and_test as and_test
from .logical import compare as compare
from .logical import compare_chain as compare_chain
from .logical import is_none as is_none
from .logical import not_ as not_
from .logical import or_ as or_
from .logical import or_test as or_test
from .loops import while_stmt as while_stmt
from .managers import Through as Through
from .managers import except_star as except_star
from .managers import manager as manager
from .managers import tried as tried
from .matching import match_class as match_class
from .matching import match_mapping as match_mapping
from .matching import match_others as match_others
from .matching import match_part as match_part
from .matching import match_rest as match_rest
from .matching import match_sequence as match_sequence
from .maybe_attribute import is_absent as is_absent
from .membership import in_ as in_
from .membership import not_in as not_in
from .mutation import delitem as delitem
from .mutation import list_append as list_append
from .mutation import list_clear as list_clear
from .mutation import list_extend as list_extend
from .mutation import list_insert as list_insert
from .mutation import list_pop as list_pop
from .mutation import setitem as setitem
from .onlooking import onlooker as onlooker
from .printing import assert_stmt as assert_stmt
from .raising import caused as caused
from .raising import exception as exception
from .spaces import space as space
from .spaces import space_get as space_get
from .spaces import space_item as space_item
from .spaces import space_run as space_run
from .texts import percent as percent
from .texts import percent_of as percent_of
from .texts import shown as shown
from .texts import text as text
from .tries import try_stmt as try_stmt
from .undefined import Dead as Dead
from .undefined import Undefined as Undefined
from .undefined import Unread as Unread
from .undefined import ldu as ldu
from .unpacking import unpack as unpack
from .unpacking import unpacked as unpacked
from .unpacking import unpacked_rest as unpacked_rest


def ld(x: Any, name: str) -> Any:
    """The value of the variable `name`; UndefinedError if it has none, at run time where only that can tell."""
    tracer = _current_tracer()
    if tracer is not None:
        return tracer.defined(x, name)
    if isinstance(x, Undefined):
        raise x.error()
    return x


_complete(_modules[__name__])
