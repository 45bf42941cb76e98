"""Which names a code object reads and assigns: all that can be known of it without running it."""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .bytecode import OPNAMES, Instruction, gets_item, instructions, is_inplace

_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
_READS = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "IMPORT_FROM")
_ASSIGNS = ("STORE_GLOBAL", "DELETE_GLOBAL")
_REBINDS = ("STORE_DEREF", "DELETE_DEREF")
_CHANGES = ("STORE_ATTR", "DELETE_ATTR")
_LOADS = ("LOAD_FAST", "STORE_FAST_LOAD_FAST")
_NAMED = (*_GLOBALS, *_READS, "LOAD_DEREF")
_BINDS = (*_ASSIGNS, *_REBINDS, *_CHANGES)
_SWAPS = ("SWAP", "ROT_TWO")
_ITEMS = ("STORE_SUBSCR", "DELETE_SUBSCR")
_CONSTANTS = ("LOAD_CONST", "LOAD_SMALL_INT")
_OTHERS = ("IMPORT_NAME", "MATCH_CLASS", "COMPARE_OP", "CONTAINS_OP", "FORMAT_", "INPLACE_", "BINARY_OP", *_ITEMS)
# what says nothing but by what is before or behind it
_SILENT = frozenset(name for name in OPNAMES if not name.startswith((*_NAMED, *_BINDS, *_OTHERS)))
# methods that change a list, dict, set, deque, Counter, array or file in memory, and functions that do
_METHODS = {
    "add", "append", "appendleft", "at", "byteswap", "clear", "copyto", "delitem", "difference_update", "discard", "extend", "extendleft",
    "fill", "frombytes", "fromfile", "fromlist", "fromunicode", "heapify", "heappop", "heappush", "heappushpop", "heapreplace", "insert",
    "insort", "insort_left", "insort_right", "intersection_update", "move_to_end", "partition", "pop", "popitem", "popleft", "put",
    "put_along_axis", "putmask", "read", "readinto", "readline", "readlines", "remove", "resize", "reverse", "rotate", "seek",
    "setdefault", "setitem", "shuffle", "sort", "subtract", "symmetric_difference_update", "truncate", "update", "write", "writelines",
    *(f"{under}{name}{under}" for under in ("", "__") for name in ("iadd", "iand", "iconcat", "imul", "ior", "isub", "ixor")),
    "__delitem__", "__setitem__",
}  # fmt: skip
_ADDING = {"add", "append", "appendleft", "extend", "extendleft", "update"}
# what reads attributes that it does not name
_SWEEPING = {"vars", "dir", "__dict__", "asdict", "astuple", "attrgetter", "getmembers"}
_TEXTS = {"str", "repr", "format", "print", "ascii"}
# what changes attributes that it does not name
_SETTING = {"setattr", "delattr", "__setattr__", "__delattr__"}
# what leads to variables of modules
_SPACES = {"globals", "vars", "dir", "__dict__", "__globals__", "f_globals", "modules", "import_module", "__import__", "exec", "eval"}
_BY_KEY = _SPACES | _SETTING
# methods of what a class has for an attribute, as `Point.x.__set__`
_OF_DESCRIPTORS = {"__set__", "__delete__"}
# what finds out that an attribute is missing
_ASKING = {"AttributeError", "hasattr", "getattr"}


@dataclass(frozen=True)
class Names:
    """The names in a code object and in the functions inside it.

    Attributes:
        globals, attributes: variables of the module, and attributes, that are read.
        assigned, changed: those that are assigned or deleted.
        given: those of `changed` that are set of anything but the first parameter of a method, so maybe of a class that has none of
            that name; `given_first`: that are set of the first parameter of this function.
        rebound: variables of a function around that are.
        modules: what is imported.
        chains: globals with the attributes that are read of them, in turn: `nn.functional.relu`.
        looked: the names that are read for more than appending to what they stand for.
        handled: those that are read for more than an item too: what they stand for may be iterated over, or get other names.
        items_looked: names and constant keys (None for any other, and for negative ones) of items that are read for more than appending
            to them.
        items: whether items of containers are changed.
        sets_by_key, reads_by_key: whether variables of modules may be set, or read, that have no name here.
        sweeping: whether attributes may be read that have no name here.
        asking: whether it may count that an attribute is missing.
        comparing, formatting: whether values may be compared; made a text.
    """

    globals: frozenset[str]
    attributes: frozenset[str]
    assigned: frozenset[str]
    changed: frozenset[str]
    given: frozenset[str]
    given_first: frozenset[str]
    rebound: frozenset[str]
    modules: frozenset[str]
    chains: frozenset[tuple[str, ...]]
    looked: frozenset[str]
    handled: frozenset[str]
    items_looked: frozenset[tuple[str, Any]]
    items: bool
    sets_by_key: bool
    reads_by_key: bool
    sweeping: bool
    asking: bool
    comparing: bool
    formatting: bool


@functools.lru_cache(4096)
def names_of(code: types.CodeType) -> Names:
    """The names in a code object."""
    variables: set[str] = set()
    attributes: set[str] = set()
    assigned: set[str] = set()
    changed: set[str] = set()
    given: set[str] = set()
    given_first: set[str] = set()
    rebound: set[str] = set()
    modules: set[str] = set()
    chains: set[tuple[str, ...]] = set()
    items = sweeping = comparing = formatting = False
    looked: set[str] = set()
    handled: set[str] = set()
    items_looked: set[tuple[str, Any]] = set()
    for part in codes_in(code):
        last: Any = None
        chain: tuple[str, ...] = ()
        for i, second, third, fourth in _windows(part):
            if i.opname in _SILENT:
                last, chain = i, ()
                continue
            if i.opname.startswith((*_GLOBALS, *_READS, "LOAD_DEREF")) and not _appends(second):
                looked.add(i.argval)
                if third is None or not (second.opname.startswith("LOAD_") and gets_item(third)):
                    handled.add(i.argval)
                elif not _appends(fourth):
                    items_looked.add((i.argval, _key(second)))
            if i.opname in _GLOBALS or not i.opname.startswith(_READS):
                chain = (i.argval,) if i.opname in _GLOBALS else ()
            elif chain:
                chain = (*chain, i.argval)
                chains.add(chain)
            if i.opname in _GLOBALS:
                variables.add(i.argval)
            elif i.opname.startswith(_READS):
                attributes.add(i.argval)
            elif i.opname in _ASSIGNS:
                assigned.add(i.argval)
            elif i.opname in _CHANGES:
                changed.add(i.argval)
                if not is_first_parameter(last, part):
                    if not last.opname.startswith(_SWAPS):  # otherwise it is `+=`, of what is there
                        given.add(i.argval)
                elif part is code:
                    given_first.add(i.argval)
                elif not is_in_class(getattr(part, "co_qualname", "")):  # Python 3.10 does not know
                    given.add(i.argval)
            elif i.opname in _REBINDS and i.argval in part.co_freevars:
                rebound.add(i.argval)
            elif i.opname == "IMPORT_NAME":
                modules.add(i.argval)
            items = items or i.opname in _ITEMS or is_inplace(i)
            sweeping = sweeping or i.opname == "MATCH_CLASS"
            comparing = comparing or i.opname in ("COMPARE_OP", "CONTAINS_OP")
            formatting = formatting or i.opname.startswith("FORMAT_")
            last = i
    seen = variables | attributes
    texts = {c for part in codes_in(code) for c in part.co_consts if isinstance(c, str) and c.isidentifier()}
    # `getattr(x, "name")`, `super().__getattribute__("name")`, `globals()["name"]`
    by_text = [(attributes, {"getattr", "hasattr", "__getattribute__", "__getattr__"}), (variables, {"globals"})]
    for found in [found for found, functions in by_text if not seen.isdisjoint(functions)]:
        found |= texts
        looked |= texts
        handled |= texts
    if not seen.isdisjoint(_SETTING):
        changed |= texts
        given |= texts
        items = True
    if not attributes.isdisjoint(_OF_DESCRIPTORS):
        changed |= attributes
    return Names(
        frozenset(variables), frozenset(attributes), frozenset(assigned), frozenset(changed), frozenset(given),
        frozenset(given_first), frozenset(rebound), frozenset(modules), _longest(chains),
        frozenset(looked), frozenset(handled), frozenset(items_looked), items or not seen.isdisjoint(_METHODS),
        not seen.isdisjoint(_BY_KEY), not seen.isdisjoint(_SPACES),
        sweeping or not seen.isdisjoint(_SWEEPING),
        not variables.isdisjoint(_ASKING), comparing, formatting or not seen.isdisjoint(_TEXTS),
    )  # fmt: skip


def reads_first(code: types.CodeType, name: str) -> bool:
    """Whether code, or a function inside it, reads a variable or attribute before it assigns that, in the order of its lines."""
    for part in codes_in(code):
        first = next((i for i in instructions(part) if i.argval == name and i.opname.startswith((*_NAMED, *_BINDS))), None)
        if first is not None and first.opname.startswith(_NAMED):
            return True
    return False


def looks_into(code: types.CodeType, name: str) -> bool:
    """Whether code, or a function inside it, looks at what is in a container of this name before it empties that, or sets an item."""
    for part in codes_in(code):
        for i, second, third, _ in _windows(part):
            if i.argval != name or not i.opname.startswith(_NAMED):
                continue
            method = second.argval if second is not None and second.opname.startswith(_READS) else None
            if method == "clear" or (third is not None and third.opname == "STORE_SUBSCR"):
                break
            if method not in _ADDING:
                return True
    return False


def _key(i: Instruction) -> Any:
    """The constant key that an instruction loads, None for any other; of a negative index the length tells which item it is."""
    if i.opname not in _CONSTANTS or (isinstance(i.argval, int) and i.argval < 0):
        return None
    return i.argval


def _longest(chains: set[tuple[str, ...]]) -> frozenset[tuple[str, ...]]:
    """Those that are not the beginning of others."""
    return frozenset(chains - {c[:-1] for c in chains})


def _windows(code: types.CodeType) -> Iterator[tuple[Instruction, Any, Any, Any]]:
    """Each instruction with the three after it; None behind the last."""
    padded: list[Any] = [*instructions(code), None, None, None]
    return zip(padded, padded[1:], padded[2:], padded[3:], strict=False)


def is_first_parameter(i: Instruction | dis.Instruction, code: types.CodeType) -> bool:
    """Whether an instruction loads the first parameter of the function."""
    if not i.opname.startswith(_LOADS) or not code.co_argcount:
        return False
    loaded = i.argval[-1] if isinstance(i.argval, tuple) else i.argval  # newer Pythons load two at once
    return loaded == code.co_varnames[0]


def is_in_class(qualname: str) -> bool:
    """Whether the name of a function says that it is in a class."""
    around = qualname.rpartition(".")[0]
    return bool(around) and not around.endswith("<locals>")


def _appends(i: Instruction | None) -> bool:
    return i is not None and i.opname.startswith(_READS) and i.argval in ("append", "extend")


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code itself, and that of the functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_in(constant)
