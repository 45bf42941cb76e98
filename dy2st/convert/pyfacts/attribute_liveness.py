"""Attributes that a method assigns before any code reads them (`self.last = h`): what they were before the call makes no difference."""

from __future__ import annotations

import dis
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...tensor import Tensor
from .attribute_lookup import MISSING, dict_of
from .code_names import codes_in, is_first_parameter, names_of


class Overwritten:
    """What is known of them while a function is traced.

    The code of the method says that it assigns the attribute on each way through, and does not name it before. Other functions may read it
    if they are called when it has its new value.
    """

    def __init__(self) -> None:
        # by the dict of the attributes and the name: the dict, the old value, and the method that assigns it
        self._found: dict[tuple[int, str], tuple[dict[str, Any], Any, types.FunctionType]] = {}
        self._late: set[tuple[tuple[int, str], int]] = set()
        self._early: set[tuple[tuple[int, str], int]] = set()

    def enter(self, function: Any, owner: Any, always: bool) -> None:
        """A function, or a method of an object, is about to be called.

        Args:
            always: in each run, not only where a branch or loop that is being traced comes by.
        """
        if not isinstance(function, types.FunctionType):
            return
        for key, (attributes, old, method) in self._found.items():
            if function is not method:
                is_late = attributes.get(key[1], MISSING) is not old
                (self._late if is_late else self._early).add((key, id(function)))
        names = assigned_first(function.__code__) if always and owner is not None else ()
        own = dict_of(owner) if names else None
        if type(own) is not dict:
            return
        for name in names:
            key, old = (id(own), name), own.get(name, MISSING)
            if key not in self._found and (old is None or old is MISSING or isinstance(old, Tensor)):
                self._found[key] = own, old, function

    def names(self, functions: Iterable[types.FunctionType]) -> Callable[[tuple[int, str]], bool]:
        """Tells of an attribute, given by the id of the dict and its name, whether it is one of them.

        Args:
            functions: all that the call can reach.
        """
        known = list(functions)

        def told(key: tuple[int, str]) -> bool:
            found = self._found.get(key)
            if found is None:
                return False
            readers = [f for f in known if f is not found[2] and key[1] in names_of(f.__code__).attributes]
            return all((key, id(f)) in self._late and (key, id(f)) not in self._early for f in readers)

        return told


_codes: dict[int, tuple[types.CodeType, frozenset[str]]] = {}
_MOST = 4096


def assigned_first(code: types.CodeType) -> frozenset[str]:
    """The attributes of its first parameter that a function assigns on each way to its end, and does not name before.

    >>> def forward(self, x):
    ...     self.last = x + 1
    ...     if x > 0:
    ...         self.some = x
    ...     self.steps += 1
    ...     if x > 1:
    ...         return self.last
    ...     self.late = x
    >>> assigned_first(forward.__code__)
    frozenset({'last'})
    """
    known = _codes.get(id(code))
    if known is None:
        if len(_codes) >= _MOST:
            _codes.clear()
        known = _codes[id(code)] = code, frozenset(_assigned_first(code))
    return known[1]


def _assigned_first(code: types.CodeType) -> Iterator[str]:
    texts = {c for part in codes_in(code) for c in part.co_consts if isinstance(c, str)}
    named: set[Any] = set()
    leads_to, last = -1, None
    caught = _caught(code)
    for i in dis.get_instructions(code):
        if i.opname.startswith("RETURN_"):
            return
        if i.opcode in _JUMPS:
            leads_to = max(leads_to, i.argval)
        is_first = i.opname == "STORE_ATTR" and i.argval not in named and i.argval not in texts
        always = leads_to <= i.offset and not any(i.offset in part for part in caught)
        if is_first and always and last is not None and is_first_parameter(last, code):
            yield i.argval
        if isinstance(i.argval, types.CodeType):
            for part in codes_in(i.argval):
                named |= {*part.co_names}
        elif isinstance(i.argval, str):
            named.add(i.argval)
        last = i


_JUMPS = frozenset((*dis.hasjabs, *dis.hasjrel))


def _caught(code: types.CodeType) -> list[range]:
    """Where an exception is caught; before Python 3.11 the instructions that begin such a part lead behind it, as jumps do."""
    return [range(e.start, e.end) for e in getattr(dis.Bytecode(code), "exception_entries", ())]
