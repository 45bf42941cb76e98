"""Texts with the values of tensors in them: what `str(t)`, f-strings, `format` and `%` give while a function is traced."""

from __future__ import annotations

import json
import operator
import re
import string
from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ...errors import StagedValueError
from ...tensor import Tensor, dispatch
from ...tensor.kinds import resolved, with_number
from ...tensor.location import user_location
from .. import hub, roles
from ..hub import current_tracer, is_staged, need_tracer
from .maybe_none import MaybeNone
from .one_of import OneOf, Options, choose, looked_up, marked
from .staged_list import StagedList
from .trees import flatten

if TYPE_CHECKING:
    pass

ROLE = roles.ACTING

# what stands in the text for the tensor of this number
MARK = re.compile("\0([0-9]+)\0")
# what is left of one in what `repr` gives, and what that would escape in a format
ESCAPED = re.compile(r"\\x00([0-9]+)\\x00")
_QUOTED = re.compile(r"""['"\\]|[^ -~]""")
_FIELD = re.compile(r"%(?:\((?P<key>[^)]*)\))?(?P<flags>[-+ 0#]*)(?P<width>\d*)(?:\.(?P<digits>\d+))?[hlL]?(?P<kind>[a-zA-Z%])")
_STAR = re.compile(r"%(?:\([^)]*\))?[-+ 0#]*(?:\d*\.)?\*")
_SHOWING: dict[str, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii}


class StagedText(str):
    """A text that only the run knows. It may be joined to others, be printed, and be the message of an exception."""

    __slots__ = ()

    def __add__(self, other: Any) -> StagedText:
        return StagedText(str.__add__(self, marked(other)))

    def __radd__(self, other: Any) -> Any:
        return StagedText(str.__add__(other, self)) if isinstance(other, str) else NotImplemented

    def __format__(self, spec: str) -> str:
        """The text, with a width or an alignment if it is that of one tensor."""
        if not spec:
            return StagedText(self)
        mark, tracer = MARK.fullmatch(str(self)), need_tracer("a text")
        tensor, shown = tracer.marked[int(mark[1])] if mark else (None, "")
        if tensor is None or shown:
            _refused("format")(self)
        return tracer.mark(tensor, f"!s:{spec}")

    def __mod__(self, values: Any) -> Any:
        return text(percent(str(self), values))

    def __repr__(self) -> str:
        """The text in quotes, if the values in it are numbers, which have nothing to escape."""
        marked = need_tracer("a text").marked
        for mark in MARK.findall(str(self)):
            tensor, shown = marked[int(mark)]
            is_number = tensor._weak or (tensor.ndim == 0 and shown.endswith(("d", "e", "f", "g", "%")))
            if not is_number or _QUOTED.search(shown):
                raise unknown()
        return StagedText(ESCAPED.sub("\0\\1\0", str.__repr__(self)))


def unknown() -> StagedValueError:
    return StagedValueError(
        "a text with the values of tensors in it is only known when the program runs", location=user_location(3),
        hint="compare and look at the tensors themselves; printing it, and messages of assert and raise, are fine",
    )


def require_known(*values: Any) -> None:
    """StagedValueError if one of these is a text that only the run knows, or a tuple with one: something looks at their characters."""
    if any(isinstance(x, StagedText) for value in values for x in (value if isinstance(value, tuple) else (value,))):
        raise unknown()


def reading(f: Callable, /, *args: Any, **kwargs: Any) -> Any:
    """Calls what looks at the characters of texts: a function of Python's, or a method of a text, which may look for those of others."""
    if args and type(args[0]) is str and not hasattr(f, "__self__"):  # `str.format(template, ...)`
        f, args = getattr(args[0], f.__name__), args[1:]
    name, owner = f.__name__, getattr(f, "__self__", None)
    if args and isinstance(args[0], OneOf) and type(owner) is str and name not in _ALLOWED:  # which texts to look for
        return choose(args[0], lambda one: reading(f, one, *args[1:], **kwargs))
    if name == "join" and args and hasattr(type(args[-1]), "__iter__"):
        # `join` would say of what cannot be iterated over here that nobody can
        args = (*args[:-1], list(map(marked, args[-1])))
    if name in _FORMATTING and type(owner) is str and _is_padded(owner):
        return text(_Fields().vformat(owner, *((args, kwargs) if name == "format" else ((), *args))))
    if name == "replace" and type(owner) is str:
        require_known(*args[:1])
    elif name not in _ALLOWED:
        require_known(*args, *kwargs.values())
    return text(f(*args, **kwargs))


def _refused(name: str) -> Callable[..., NoReturn]:
    def refuse(self: StagedText, *args: Any, **kwargs: Any) -> NoReturn:
        raise unknown()

    refuse.__name__ = name
    return refuse


# all else that looks at the characters
_FORMATTING = {"format", "format_map"}
_ALLOWED = {"join", *_FORMATTING}
_OPERATORS = ("eq", "ne", "lt", "le", "gt", "ge", "hash", "len", "contains", "getitem", "iter", "mul", "rmul")
for _name in (*(n for n in vars(str) if not n.startswith("_") and n not in _ALLOWED), *(f"__{n}__" for n in _OPERATORS)):
    setattr(StagedText, _name, _refused(_name))
StagedText.__name__ = "str"  # what Python calls it, in errors of the user's code


def is_marked(x: Any) -> bool:
    """Whether a value is a text in which marks stand for what only the run knows."""
    return isinstance(x, str) and MARK.search(x) is not None


def text(x: Any) -> Any:
    """The text, as one that only the run knows, or as one of several, if that is so."""
    return one_of_texts(x) if type(x) in (str, StagedText) and is_marked(x) else x


def shown(value: Any, how: str, spec: str) -> str:
    """`f"{value!how:spec}"`, which Python would pad and cut as if the marks were the text.

    Raises:
        StagedValueError: only the run knows how long the text is, or how it is to be shown.
    """
    require_known(spec)
    return format(text(_SHOWING[how](value)) if how else value, spec)


class _Fields(string.Formatter):
    """`str.format`, which pads and cuts texts, too."""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        return text(super().convert_field(value, conversion))

    def format_field(self, value: Any, format_spec: str) -> str:
        return shown(value, "", text(format_spec))


def _is_padded(template: str) -> bool:
    """Whether a field of a template shows a text of a value in some width, or has a width that is a value."""
    try:
        fields = list(string.Formatter().parse(template))
    except ValueError:  # which `format` says itself
        return False
    return any(spec and (how or "{" in spec) for _, _, spec, how in fields)


def percent(template: Any, values: Any) -> Any:
    """`template % values`."""
    if type(template) is not str:
        return template % values
    if not any(is_staged(x) or isinstance(x, StagedText) for x in flatten(values)[0]):
        result = template % values
        if type(text(result)) is str:  # what an object says of itself may have tensors in it
            return result
    if _STAR.search(template):
        raise StagedValueError("the width '*' is not supported in a text with tensors", location=user_location(2), hint="use an f-string")
    if "%" in _FIELD.sub("", template):
        return template % values  # Python says what is wrong with it
    given = list(values) if isinstance(values, tuple) else [values]
    used = 0

    def field(match: re.Match) -> str:
        nonlocal used
        kind, key = match["kind"], match["key"]
        if kind == "%":
            return "%"
        if key is not None:
            value = values[key]
        elif used < len(given):
            value, used = given[used], used + 1
        else:
            raise TypeError("not enough arguments for format string")
        if is_staged(value):
            return _formatted(value, match)
        if kind in _SHOWING:
            return _padded(value if isinstance(value, StagedText) and kind == "s" else text(_SHOWING[kind](value)), match)
        return match[0] % ({key: value} if key is not None else (value,))

    result = text(_FIELD.sub(field, template))
    if used < len(given) and not _is_mapping(values):
        raise TypeError("not all arguments converted during string formatting")
    return result


def _is_mapping(values: Any) -> bool:
    """Whether `%` takes it for what has entries by key, of which not all need be shown: also a list, and a tensor."""
    if isinstance(values, (tuple, str)):
        return False
    if isinstance(values, Tensor) and values._weak:
        if values._kinds is not None and values._kinds.mixed:
            raise values._kinds.fail("a number that no field shows is an error, and a tensor is not")
        return False
    return hasattr(type(values), "__getitem__")


def percent_of(template: Any, values: Any) -> Any:
    """What `template %= values` makes of the template."""
    return percent(template, values) if type(template) is str else operator.imod(template, values)


def _padded(value: str, field: re.Match) -> str:
    digits = "" if field["digits"] is None else f".{field['digits']}"
    return format(value, f"{'<' if '-' in field['flags'] else '>'}{field['width']}{digits}" if field["width"] or digits else "")


def _formatted(value: Tensor, field: re.Match) -> str:
    kind, flags = field["kind"], field["flags"]
    if kind in "di":
        value, kind = hub.BUILTINS[int](value), "d"
    elif kind in "eEfFgG":
        value = hub.BUILTINS[float](value)
    elif kind in _SHOWING:
        return _padded(str(value), field)
    else:
        raise StagedValueError(
            f"{field[0]!r} of a tensor is not supported while tracing", location=user_location(3), hint="use an f-string"
        )
    # format() wants: align, sign, alternate form, zeros, width, digits
    zeros = "0" if "0" in flags and "-" not in flags else ""
    align = "" if zeros or not field["width"] else "<" if "-" in flags else ">"
    sign = "+" if "+" in flags else " " if " " in flags else ""
    alternate = "#" if "#" in flags else ""
    digits = f".{field['digits']}" if field["digits"] is not None and kind != "d" else ""
    return format(value, f"{align}{sign}{alternate}{zeros}{field['width']}{digits}{kind}")


CHOICE = "|"  # see the runtime's `ops.message`


MOST = 16
"""How many texts one of several may be. With more it can only be shown: in a loop each iteration might make others."""


def options_of_mark(shown: str) -> list[str] | None:
    """The texts that the part with this spec may be; None if it is that of a tensor."""
    return json.loads(shown[len(CHOICE) :]) if shown.startswith(CHOICE) else None  # type: ignore[no-any-return]


def one_of_texts(said: str) -> Any:
    """A text with marks as one of several texts, if the run only chooses one; else the same, as one that only the run knows."""
    if (tracer := current_tracer()) is None:
        return StagedText(said)
    pieces = MARK.split(said)
    parts = [tracer.marked[int(n)] for n in pieces[1::2]]
    options = [texts for _, shown in parts if (texts := options_of_mark(shown)) is not None]
    if len(options) < len(parts):
        return StagedText(said)
    # each mark has a tensor of its own: what is chosen by one number has one variable
    by = [id(index._value) for index, _ in parts]
    indices = {key: index for key, (index, _) in zip(by, parts, strict=True)}
    counts = dict(zip(by, map(len, options), strict=True))
    if prod(counts.values()) > MOST:
        return StagedText(said)
    made = []
    for numbers in product(*map(range, counts.values())):
        chosen = dict(zip(counts, numbers, strict=True))
        texts = [texts[chosen[key]] for key, texts in zip(by, options, strict=True)]
        made.append(pieces[0] + "".join(map("".join, zip(texts, pieces[2::2], strict=True))))
    return _one_of(list(indices.values()), list(counts.values()), made)


def _one_of(indices: Sequence[Tensor], counts: Sequence[int], made: Sequence[str]) -> Any:
    """One of the texts, of which there is one for all numbers below each of `counts`: the run knows these, the `indices`."""
    texts = list(dict.fromkeys(made))
    if len(texts) == 1:
        return texts[0]
    at = indices[0]
    for index, count in zip(indices[1:], counts[1:], strict=True):
        at = at * count + index
    if len(texts) < len(made):
        at = looked_up([texts.index(t) for t in made], at)
    return OneOf(at, Options(texts))


def texts(values: Any, sep: str = "") -> tuple[list[str], list[str], list[Tensor]]:
    """Literal parts, specs and tensors of values shown one after the other; see the runtime's `ops.message`."""
    tracer = need_tracer("a text")
    parts: list[str] = [""]
    specs: list[str] = []
    tensors: list[Tensor] = []
    for i, value in enumerate(values):
        if i:
            parts[-1] += sep
        if any(isinstance(x, StagedList) for x in flatten(value)[0]):
            raise StagedValueError(
                "a list of dynamic length cannot be printed while tracing", location=user_location(3),
                hint="print its entries one by one in a loop, or return it and print it outside",
            )  # fmt: skip
        said = format(value) if is_staged(value) else str(value)
        if ESCAPED.search(said):  # what a library gives may be a text of Python's with tensors in it
            raise unknown()
        pieces = MARK.split(said)
        parts[-1] += pieces[0]
        for number, piece in zip(pieces[1::2], pieces[2::2], strict=True):
            tensor, shown = tracer.marked[int(number)]
            beside: list[tuple[str, Tensor]] = []
            if isinstance(tensor, MaybeNone):
                beside, tensor = [("?", tensor.is_none)], _filled(tensor)
            if tensor._kinds is not None and tensor._kinds.number is not None:
                beside.append((f"#{tensor._kinds.class_name}", tensor._kinds.number))
                tensor = resolved(tensor)
            for spec, flag in beside:
                specs.append(spec)
                tensors.append(flag)
                parts.append("")
            how = "" if options_of_mark(shown) is not None else "=" if tensor._weak else "" if tensor._stops else "^"
            specs.append(how + shown)
            tensors.append(tensor)
            parts.append(piece)
    return parts, specs, tensors


def _filled(value: MaybeNone) -> Tensor:
    """The value, or zeros where it is None, so that what shows it runs."""
    bare, tracer = value.bare(), need_tracer("a text")
    zeros = dispatch.constant(np.zeros([0] * bare.ndim, bare.dtype))
    filled = bare.alike(tracer.lift(dispatch.ops.op("fill_absent", X=resolved(bare), Like=zeros)))
    if filled._kinds is None or filled._kinds.number is None:
        return filled
    return with_number(filled, dispatch.ops.op("fill_absent", X=filled._kinds.number, Like=value.is_none))
