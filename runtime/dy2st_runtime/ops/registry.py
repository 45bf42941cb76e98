"""What an op is: one record that holds its shape and dtype rule, its NumPy reference, its lowering and its gradient.

    @register
    class Relu(Elementwise):
        type = "relu"
        inputs = ("X",)
        outputs = ("Out",)
        ...

The slots, the attributes and their defaults are PaddlePaddle's. A slot `"X*"` takes a list, `"Bias?"` may be absent.
All rules get the slots' values by position, inputs first, in the order of `inputs` (a list for `"X*"`, None for an
absent `"Bias?"`), and the attributes by keyword:

- `infer(*inputs, **attrs)`: `TensorType`s (or None) → one TensorType, or a tuple, one for each output slot. Dims follow `dims`.
- `reference(*inputs, **attrs)`: NumPy arrays → one array or a tuple. The definition of the op; it raises what eager raises.
- `lower(cx, *inputs, *outputs, **attrs)`: Variables → kernels; see `lowering.context`.
- `grad(b, inputs, outputs, out_grads, **attrs)`: tuples in the order of the slots → a tuple with a gradient (or None) for each
  input slot; an entry may be a function without arguments that is called only if this gradient is needed. `b` makes ops:
  `b.elementwise_mul(x, y)`, or any op by name with slots and attributes, `b.op("reduce_sum", X=x, dim=[0])`. It is eager or
  static alike; a value has `.shape` (-1 = open) and `.dtype`. An `out_grads` entry is None where no gradient flows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .. import dims, dtype, quiet
from ..errors import (
    AttributeValueError,
    DTypeError,
    Dy2stError,
    GradientError,
    IntegerRangeError,
    ShapeError,
    UnknownOpError,
)
from . import calling

ndarray, places = np.ndarray, quiet.places


@dataclass(frozen=True)
class TensorType:
    """A dtype and a shape of dims. `kind`: "dense", or "array" for a TensorArray, a list of tensors of this
    dtype and rank (shape is then that of the entries)."""

    dtype: str
    shape: tuple[Any, ...]
    kind: str = "dense"

    @property
    def rank(self) -> int:
        return len(self.shape)

    @staticmethod
    def of(array: np.ndarray) -> TensorType:
        """The exact type of an array: with it a reference makes the checks that `infer` makes."""
        return TensorType(dtype.name_of(array), array.shape)

    def with_shape(self, shape: Iterable[Any]) -> TensorType:
        return TensorType(self.dtype, tuple(shape), self.kind)

    def with_dtype(self, name: str) -> TensorType:
        return TensorType(name, self.shape, self.kind)

    def __str__(self) -> str:
        text = f"{self.dtype}{dims.show(self.shape)}"
        return f"array<{text}>" if self.kind == "array" else text


@dataclass(frozen=True)
class Attr:
    """An attribute: its kind (a name of Paddle's AttrType, or DTYPE: held as a name, stored as Paddle's code) and default.

    `required` has no default. One of our `own`, which Paddle's op does not have, is stored only where it is not the default.
    """

    kind: str
    default: Any = None
    required: bool = False
    own: bool = False

    def check(self, op: str, name: str, value: Any) -> Any:
        """The value in canonical form; AttributeValueError if it is of another kind."""
        try:
            return _COERCE[self.kind](value)
        except (TypeError, ValueError) as error:
            if isinstance(error, Dy2stError) and self.kind != "DTYPE":
                raise  # a tensor, which says itself why it is no number, or none yet
            raise AttributeValueError(f"{op}: attribute {name!r} must be {self.kind}, got {value!r}") from None


_LIMIT = 2**63


def _int(v: Any) -> int:
    if type(v) is not int:
        if isinstance(v, (str, bytes)) or int(v) != v:
            raise TypeError
        v = int(v)
    if -_LIMIT <= v < _LIMIT:
        return v
    raise IntegerRangeError(f"{v} is no integer of 64 bits")


def _str(v: Any) -> str:
    if not isinstance(v, str):
        raise TypeError
    return v


def _dtype(v: Any) -> str | None:
    if type(v) is str and v in dtype.CODES:
        return v
    if type(v) is not str and isinstance(v, int) and v == -1:
        return None
    return dtype.canonical(v)


def _list(one: Callable[[Any], Any], exact: type) -> Callable[[Any], list]:
    def convert(v: Any) -> list:
        if type(v) is list or type(v) is tuple:
            for e in v:
                if type(e) is not exact:
                    return [one(e) for e in v]
            return [*v]
        if isinstance(v, (str, bytes)):
            raise TypeError
        return [one(e) for e in (v if isinstance(v, Iterable) else [v])]

    return convert


_int_list = _list(_int, int)


def _ints(v: Any) -> list[int]:
    found = _int_list(v)
    if found and (max(found) >= _LIMIT or min(found) < -_LIMIT):
        raise IntegerRangeError(f"{found} are no integers of 64 bits")
    return found


_COERCE: dict[str, Callable[[Any], Any]] = {
    "INT": _int,
    "LONG": _int,
    "FLOAT": float,
    "FLOAT64": float,
    "BOOLEAN": bool,
    "STRING": _str,
    "INTS": _ints,
    "LONGS": _ints,
    "FLOATS": _list(float, float),
    "FLOAT64S": _list(float, float),
    "BOOLEANS": _list(bool, bool),
    "STRINGS": _list(_str, str),
    "DTYPE": _dtype,
    "BLOCK": lambda v: v,
    "FUNCTION": lambda v: v,
}


_EXACT = {"FLOAT": float, "FLOAT64": float, "BOOLEAN": bool, "STRING": str}
"""The class of which a value is in canonical form already."""


def Int(default: int = 0) -> Attr:
    return Attr("INT", default)


def Long(default: int = 0) -> Attr:
    return Attr("LONG", default)


def Float(default: float = 0.0) -> Attr:
    return Attr("FLOAT", default)


def Float64(default: float = 0.0) -> Attr:
    return Attr("FLOAT64", default)


def Bool(default: bool = False, *, own: bool = False) -> Attr:
    return Attr("BOOLEAN", default, own=own)


def Str(default: str = "", *, own: bool = False) -> Attr:
    return Attr("STRING", default, own=own)


def Ints(default: Iterable[int] = ()) -> Attr:
    return Attr("INTS", list(default))


def Longs(default: Iterable[int] = ()) -> Attr:
    return Attr("LONGS", list(default))


def Floats(default: Iterable[float] = ()) -> Attr:
    return Attr("FLOATS", list(default))


def Float64s(default: Iterable[float] = ()) -> Attr:
    return Attr("FLOAT64S", list(default))


def Bools(default: Iterable[bool] = ()) -> Attr:
    return Attr("BOOLEANS", list(default))


def Strs(default: Iterable[str] = ()) -> Attr:
    return Attr("STRINGS", list(default))


def DType(default: str | None = "float32") -> Attr:
    """A dtype by name; None (Paddle's -1) leaves it to the op."""
    return Attr("DTYPE", default)


def SubBlock() -> Attr:
    return Attr("BLOCK", None, required=True)


def Callee() -> Attr:
    """A function of the Program."""
    return Attr("FUNCTION", None, required=True)


@dataclass(frozen=True)
class Slot:
    name: str
    many: bool = False
    optional: bool = False

    @staticmethod
    def parse(text: str) -> Slot:
        return Slot(text.rstrip("*?"), many="*" in text, optional="?" in text)


class Completion:
    """Fills in the defaults beside attributes of which some names are given, and checks the values of these.

    Args:
        op: the record.
        names: those that are given.

    Attributes:
        constant: all attributes where none is given and none is a list: the same dict each time; else None.
        complete: makes all attributes of those that are given, which may have more names, that are not looked at.

    Raises:
        AttributeValueError: the op has no attribute of a name, or one that it requires is not among them.
    """

    __slots__ = ("_coercions", "_defaults", "_fresh", "_op", "complete", "constant")

    def __init__(self, op: type[OpDef], names: Iterable[str]):
        self._op = op
        names = list(names)
        for name in names:
            if name not in op.attrs:
                raise AttributeValueError(f"{op.type} has no attribute {name!r}", hint=f"it has: {', '.join(op.attrs) or 'none'}")
        for name, attr in op.attrs.items():
            if attr.required and name not in names:
                raise AttributeValueError(f"{op.type}: attribute {name!r} is required")
        self._defaults = {name: attr.default for name, attr in op.attrs.items()}
        self._fresh = [name for name, default in self._defaults.items() if isinstance(default, list) and name not in names]
        kinds = [(name, op.attrs[name].kind) for name in names]
        self._coercions = [(name, _EXACT.get(kind), _COERCE[kind]) for name, kind in kinds]
        self.constant = None if self._fresh or names else self._defaults
        is_one = len(names) == 1 and not self._fresh
        self.complete = _completes_one(op, self._defaults, *self._coercions[0]) if is_one else self._complete

    def _complete(self, given: dict[str, Any]) -> dict[str, Any]:
        full = self._defaults.copy()
        for name in self._fresh:  # nobody shares a list
            full[name] = full[name].copy()
        name, value = "", None
        try:
            for name, exact, coerce in self._coercions:
                value = given[name]
                full[name] = value if type(value) is exact or value is None else coerce(value)
        except (TypeError, ValueError):
            self._op.attrs[name].check(self._op.type, name, value)  # raises, and says what is wrong
            raise
        return full


def _completes_one(op: type[OpDef], defaults: dict[str, Any], name: str, exact: type | None,
                   coerce: Callable[[Any], Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:  # fmt: skip
    """`Completion.complete` of one attribute, in half the time: most ops of eager mode have one."""

    def complete(given: dict[str, Any]) -> dict[str, Any]:
        full = defaults.copy()
        value = given[name]
        if type(value) is not exact and value is not None:
            try:
                value = coerce(value)
            except (TypeError, ValueError):
                op.attrs[name].check(op.type, name, value)  # raises, and says what is wrong
                raise
        full[name] = value
        return full

    return complete


class OpDef:
    """Base of all op records. Subclasses are namespaces of static rules; they are never instantiated."""

    type: ClassVar[str]
    title: ClassVar[str]
    """What users call the op, for errors: `add` for `elementwise_add`. Default: made of the type."""
    inputs: ClassVar[tuple[str, ...]] = ("X",)
    outputs: ClassVar[tuple[str, ...]] = ("Out",)
    attrs: ClassVar[dict[str, Attr]] = {}

    differentiable: ClassVar[bool] = True
    """False: the outputs never carry a gradient (comparisons, integer results)."""
    effect: ClassVar[bool] = False
    """True: must run, in order, even if no output is used (assert, print, random draws)."""
    may_raise: ClassVar[bool] = False
    """True: can fail at run time because of values, not only because of shapes (index, assert, integer division)."""
    raises_for: ClassVar[str] = ""
    """The input slot whose values, with the shapes, decide whether the op fails: `values_fit` tells. Empty: there is no such slot."""
    sizes_in: ClassVar[frozenset[str]] = frozenset()
    """Input slots whose values are sizes or counts of the output, and may not fit: it fails then as it does because of shapes."""
    of_one_shape: ClassVar[str] = ""
    """Not empty: an elementwise op whose operands must be of one shape, rather than broadcast; what errors call them."""
    any_count_fits: ClassVar[bool] = False
    """True: of these all fit that are no less than zero."""
    host: ClassVar[bool] = False
    """True: the driver stops and the host runs the op by its reference (print)."""
    inplace: ClassVar[dict[str, str]] = {}
    """Output slot → input slot whose variable it updates: the two have the same name in a hand-built program."""
    view: ClassVar[dict[str, str]] = {}
    """Output slot → input slot whose elements it shows unchanged in C order (reshape): no copy is needed."""
    shape_only: ClassVar[frozenset[str]] = frozenset()
    """Input slots of which only the shape is read, so that their data need not be kept."""
    handles_absent: ClassVar[bool] = False
    """True: the op runs even if an input is absent; otherwise it is skipped and its outputs are absent too."""
    never_absent: ClassVar[bool] = False
    """True: the outputs are present even where an input is absent."""
    takes_arrays: ClassVar[bool] = False
    """True: an input may be a TensorArray."""
    only_moves: ClassVar[bool] = False
    """True: the reference moves elements and computes with none, so that NumPy has nothing to warn of and need not be made quiet for it."""
    checks: ClassVar[bool] = False
    """True: `check_operands` says before the reference runs what that does not see."""
    kernel_from: ClassVar[int] = 0
    """From so many elements on eager mode runs the op's kernels, as its reference takes longer; 0: never."""
    kernel_alone: ClassVar[bool] = True
    """Whether the reference takes so much longer that eager mode loads LLVM for this op alone; else its kernels run where others do."""
    add_grad: ClassVar[Callable[..., None] | None] = None
    """Of an op that reads a part of its first input: `add_grad(sum, inputs, attrs, out_grad)` adds to an array of the shape of that input
    what `grad` gives for it, without making it; the sums of eager mode."""

    input_slots: ClassVar[tuple[Slot, ...]]
    output_slots: ClassVar[tuple[Slot, ...]]
    input_names: ClassVar[tuple[str, ...]]
    output_names: ClassVar[tuple[str, ...]]
    block_attrs: ClassVar[tuple[str, ...]]
    list_attrs: ClassVar[bool]
    """Whether an attribute is a list."""
    quick: ClassVar[calling.Evaluate | None] = None
    """What `compute` calls where NumPy is quiet, in its fastest form, for complete attributes; None where it does more than that."""
    only_output: ClassVar[int | None]
    """The position of the output slot that is not optional, if there is one only."""
    _completions: ClassVar[dict[tuple[str, ...], Completion]]

    infer: ClassVar[Callable[..., Any]]
    reference: ClassVar[Callable[..., Any]]
    lower: ClassVar[Callable[..., None]]
    grad: ClassVar[Callable[..., tuple]]

    @classmethod
    def complete_attrs(cls, given: dict[str, Any]) -> dict[str, Any]:
        """The attributes with defaults filled in and kinds checked; an unknown name is an error."""
        return cls.completion(tuple(given)).complete(given)

    @classmethod
    def completion(cls, names: tuple[str, ...]) -> Completion:
        """What completes attributes of which these are given, worked out once."""
        found = cls._completions.get(names)
        if found is None:
            found = cls._completions[names] = Completion(cls, names)
        return found

    @classmethod
    def changes(cls, attrs: dict[str, Any]) -> dict[str, str]:
        """`inplace` without the slots that keep, with these attributes, the value they had."""
        return cls.inplace

    @classmethod
    def infer_types(cls, ins: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, ...]:
        """`infer` with its result as a tuple, one entry for each output slot."""
        try:
            return _as_tuple(cls.infer(*ins, **attrs))
        except (ShapeError, DTypeError, AttributeValueError) as error:
            raise error.of(cls.operands(ins)) from error.__cause__

    @classmethod
    def evaluate(cls, ins: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """`reference`, of inputs and attributes as ops keep them."""
        return cls.reference(*ins, **attrs)

    @classmethod
    def check_operands(cls, ins: tuple[Any, ...], attrs: dict[str, Any]) -> None:
        """Error if the operands do not fit. Called before the reference where `checks` says so."""

    @classmethod
    def compute(cls, ins: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """What `reference` gives, as it gives it: `results` makes a tuple of it. NumPy's warnings about infinity and NaN are off."""
        try:
            if cls.checks:
                cls.check_operands(ins, attrs)
            if cls.host:  # code of the user's may run in it
                with np.errstate(all="ignore"):
                    return cls.evaluate(ins, attrs)
            try:
                place = places.pop()
            except IndexError:
                place = quiet.new_place()
            try:
                return place.run(cls.evaluate, ins, attrs)
            finally:
                places.append(place)
        except (ShapeError, DTypeError, AttributeValueError) as error:
            raise error.of(cls.operands(ins)) from error.__cause__

    @classmethod
    def settled(cls, ins: tuple[Any, ...], attrs: dict[str, Any]) -> calling.Evaluate:
        """What `quick` calls once operands of the dtypes and shapes of these have passed its checks, for operands of these and for these
        attributes."""
        return _unchecked(cls)

    @classmethod
    def run_reference(cls, ins: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, ...]:
        """`compute` with its result as a tuple, one entry for each output slot."""
        return results(cls.compute(ins, attrs))

    @classmethod
    def operands(cls, ins: tuple[Any, ...]) -> list[tuple[str, str, str]]:
        """Name, dtype and shape of each input, for errors; of the tensors in a list by number."""
        found = []
        for slot, value in zip(cls.input_slots, ins, strict=True):
            for i, x in enumerate(value if isinstance(value, list) else [value]):
                if isinstance(x, (np.ndarray, TensorType)):
                    name = f"{slot.name}[{i}]" if slot.many else slot.name
                    found.append((name, str(x.dtype), dims.show(x.shape)))
        return found

    @classmethod
    def elements(cls, ins: tuple[Any, ...], attrs: dict[str, Any]) -> int:
        """How many elements an op works on: those of its largest input, unless the record knows better."""
        return max((x.size for x in ins if isinstance(x, np.ndarray)), default=0)

    @classmethod
    def may_raise_for(cls, ins: Sequence[TensorType], attrs: dict[str, Any]) -> bool:
        """Whether an op with inputs of these types can fail because of values: `may_raise`, unless the record knows better."""
        return cls.may_raise

    @classmethod
    def values_fit(cls, values: np.ndarray, ins: Sequence[Any], attrs: dict[str, Any]) -> bool:
        """Of an op with `raises_for`: whether it does not fail.

        Args:
            values: what is in that slot.
            ins: the inputs, or what has their shapes.
        """
        raise NotImplementedError


def results(outs: Any) -> tuple[Any, ...]:
    """What a reference gives as a tuple, one entry for each output slot. A NumPy scalar (what NumPy makes of 0-d operands) is an array
    again."""
    if type(outs) is not tuple:
        outs = (outs,)
    for out in outs:
        if type(out) is not ndarray and out is not None:
            break
    else:
        return outs
    return tuple([[_as_array(v) for v in out] if isinstance(out, list) else _as_array(out) for out in outs])


def _as_array(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, np.generic) else value


def _as_tuple(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


_table: dict[str, type[OpDef]] = {}


def register(cls: type[OpDef]) -> type[OpDef]:
    """Class decorator: enters an op into the table; a second op of the same name is an error."""
    if cls.type in _table:
        raise ValueError(f"op {cls.type!r} is registered twice: {_table[cls.type].__qualname__}, {cls.__qualname__}")
    if "title" not in vars(cls):
        cls.title = cls.type.removeprefix("elementwise_").removeprefix("reduce_").removesuffix("_v2")
    cls.input_slots = tuple(map(Slot.parse, cls.inputs))
    cls.output_slots = tuple(map(Slot.parse, cls.outputs))
    cls.input_names, cls.output_names = (tuple(slot.name for slot in slots) for slots in (cls.input_slots, cls.output_slots))
    cls.block_attrs = tuple(name for name, attr in cls.attrs.items() if attr.kind == "BLOCK")
    always = [i for i, slot in enumerate(cls.output_slots) if not slot.optional]
    cls.only_output = always[0] if len(always) == 1 else None
    cls.list_attrs = any(isinstance(attr.default, list) for attr in cls.attrs.values())
    if not cls.host:
        cls.quick = functools.partial(_first_call, cls)
    cls._completions = {}
    if not hasattr(cls, "grad"):
        if cls.differentiable:
            raise ValueError(f"op {cls.type!r} has no gradient rule; say differentiable = False if it has none")
        cls.grad = staticmethod(_no_grad(cls.type))
    for part in ("infer", "reference", "lower"):
        if not hasattr(cls, part):
            raise ValueError(f"op {cls.type!r} lacks {part}")
    _table[cls.type] = cls
    return cls


def _first_call(op: type[OpDef], ins: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """`quick` of an op that has not run yet. It is made then, as most ops of a process never run eagerly."""
    evaluate, check = _unchecked(op), op.check_operands

    def checked(ins: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        check(ins, attrs)
        return evaluate(ins, attrs)

    op.quick = checked if op.checks else evaluate
    return op.quick(ins, attrs)


def _unchecked(op: type[OpDef]) -> calling.Evaluate:
    if op.evaluate.__func__ is OpDef.evaluate.__func__:  # type: ignore[attr-defined]
        return calling.written_out(op.reference, len(op.inputs), tuple(op.attrs), op.type)
    return op.evaluate


def _no_grad(name: str) -> Callable[..., tuple]:
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        raise GradientError(f"{name} has no gradient")

    return grad


def get(op_type: str) -> type[OpDef]:
    """The record of an op; UnknownOpError if there is none."""
    try:
        return _table[op_type]
    except KeyError:
        import difflib

        close = difflib.get_close_matches(op_type, _table, 3)
        raise UnknownOpError(
            f"op {op_type!r} is not supported", hint=f"similar names: {', '.join(close)}" if close else None
        ) from None


def forget(op_type: str) -> None:
    """Takes an op out of the table; Programs that have it keep its record."""
    del _table[op_type]


def all_ops() -> dict[str, type[OpDef]]:
    """Every registered op by name, in order of registration."""
    return dict(_table)
