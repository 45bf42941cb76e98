"""Ops of the user's own: what is known of one, and the record that makes it an op like any other.

A kernel is a function on arrays that Numba compiles. Natively it is one call on the descriptors of its tensors; eager mode and the
reference interpreter call it on arrays. Both are the executor's (`executor.custom_kernels`), which alone knows Numba.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .. import dims
from .. import dtype as dt
from ..errors import AttributeValueError, DTypeError, GradientError, ShapeError
from ..loopir import nodes as n
from . import builder, registry
from .registry import Attr, OpDef, TensorType


@dataclass(eq=False)
class Definition:
    """What a user has said of an op.

    Attributes:
        name: the type of the op; what model files hold.
        function: the kernel, of Python or of Numba.
        tensors: its parameters that are tensors; attrs: those that are numbers, with their defaults.
        infer: the rule for shapes and dtypes; see `custom_op`.
        outputs: how many results it has.
        elementwise: the function is one of numbers.
        run: calls the kernel on arrays, for results of some types.
        gradient: `(b, inputs, outputs, out_grads, attrs)` → gradients, as a rule of `OpDef`; None: there is none.
        cuda: the kernel for CUDA; None: there is none.
    """

    name: str
    function: Any
    tensors: tuple[str, ...]
    attrs: dict[str, int | float | bool]
    infer: Callable[..., Any]
    outputs: int
    elementwise: bool
    run: Callable[[Definition, Sequence[np.ndarray], Sequence[TensorType], dict[str, Any]], tuple[np.ndarray, ...]]
    gradient: Callable[..., tuple] | None = None
    cuda: Any = None

    def types(self, ins: Sequence[TensorType], attrs: dict[str, Any]) -> tuple[TensorType, ...]:
        """The types of the results.

        Raises:
            DTypeError: an input is of a dtype that kernels do not have.
            AttributeValueError: the user's rule gives something else than shapes and dtypes.
        """
        for name, t in zip(self.tensors, ins, strict=True):
            if t.dtype == "float16":
                raise DTypeError(f"{self.name}: {name} is float16, which custom ops do not have", hint="cast it to float32")
        try:
            given = self.infer(*ins, **attrs)
        except TypeError as error:
            if all(dims.known(d) for t in ins for d in t.shape):
                raise
            hint = "such a size can be added, subtracted, multiplied and divided by //, but not compared"
            raise AttributeValueError(f"{self.name}: infer fails where only the run knows a size: {error}", hint=hint) from error
        pairs = [given] if self.outputs == 1 and not isinstance(given, list) else given
        if not isinstance(pairs, list) or len(pairs) != self.outputs:
            raise AttributeValueError(f"{self.name}: infer must give {self.described()}, got {given!r}")
        return tuple(map(self._type, pairs))

    def described(self) -> str:
        """What `infer` gives, in words."""
        return "a pair (shape, dtype)" if self.outputs == 1 else f"a list of {self.outputs} pairs (shape, dtype)"

    def _type(self, pair: Any) -> TensorType:
        try:
            shape, dtype = pair
            sizes = tuple(shape)
        except (TypeError, ValueError):
            raise AttributeValueError(f"{self.name}: infer must give {self.described()}, got {pair!r}") from None
        return TensorType(dt.canonical(dtype), tuple(map(self._size, sizes)))

    def _size(self, size: Any) -> Any:
        if isinstance(size, (dims.Unknown, n.Expr)):
            return size
        if not isinstance(size, (int, np.integer)) or isinstance(size, bool) or size < -1:
            hint = "a size is an int, -1 where it depends on values; x.shape[0] // 2 is one, x.shape[0] / 2 is a float"
            raise AttributeValueError(f"{self.name}: infer gives the size {size!r}", hint=hint)
        return dims.UNKNOWN if size == -1 else int(size)


@dataclass(frozen=True)
class Specialization:
    """A kernel for inputs and results of certain dtypes and ranks."""

    definition: Definition
    ins: tuple[tuple[str, int], ...]
    outs: tuple[tuple[str, int], ...]


SPECIALIZATIONS: dict[str, Specialization] = {}
"""By the name with which native code calls it. The names count up, as no text of a model file may reach generated source."""
_names: dict[Specialization, str] = {}
_count = itertools.count()


def name_of(specialization: Specialization) -> str:
    """The name with which native code calls a kernel."""
    if specialization not in _names:
        name = _names[specialization] = f"custom_{next(_count)}"
        SPECIALIZATIONS[name] = specialization
    return _names[specialization]


def check_result(definition: Definition, wanted: Sequence[TensorType], given: Sequence[np.ndarray]) -> None:
    """Error if a kernel's results are not what `infer` says."""
    for i, (t, array) in enumerate(zip(wanted, given, strict=True)):
        if not dims.admits(dims.to_static(t.shape), array.shape):
            which = "" if definition.outputs == 1 else f" as result {i}"
            raise ShapeError(f"{definition.name} gave shape {dims.show(array.shape)}{which}, its infer says {dims.show(t.shape)}",
                             hint="infer must give the shape that the kernel gives, with -1 for a size that depends on values")  # fmt: skip


def register(definition: Definition) -> type[OpDef]:
    """Enters an op into the table of ops. It takes the place of a custom op of this name, as when a cell of a notebook runs again.

    Raises:
        AttributeValueError: the name is that of an op of PaddlePaddle's or of dy2st's.
    """
    name = definition.name
    before = registry.all_ops().get(name)
    if before is not None:
        if not issubclass(before, CustomOp):
            raise AttributeValueError(f"there is an op {name!r} already", hint="give yours another name: custom_op(name=...)")
        registry.forget(name)
        builder.forget(name)
    return registry.register(type(name, (CustomOp,), {
        "type": name,
        "definition": definition,
        "inputs": definition.tensors,
        "outputs": ("Out",) if definition.outputs == 1 else tuple(f"Out{i}" for i in range(definition.outputs)),
        "attrs": {key: _attribute(value) for key, value in definition.attrs.items()},
    }))  # fmt: skip


def _attribute(default: int | float | bool) -> Attr:
    if isinstance(default, bool):
        return registry.Bool(default)
    return registry.Long(default) if isinstance(default, int) else registry.Float64(default)


def bits(value: int | float | bool) -> int:
    """A number as the 64 bits in which native code gets it."""
    return int(np.float64(value).view(np.int64)) if isinstance(value, float) else int(value)


class CustomOp(OpDef):
    """Base of the records of custom ops."""

    definition: ClassVar[Definition]
    may_raise = True

    @classmethod
    def infer(cls, *ins: TensorType, **attrs: Any) -> tuple[TensorType, ...]:
        return cls.definition.types(ins, attrs)

    @classmethod
    def reference(cls, *ins: np.ndarray, **attrs: Any) -> tuple[np.ndarray, ...]:
        wanted = cls.definition.types(tuple(map(TensorType.of, ins)), attrs)
        given = cls.definition.run(cls.definition, ins, wanted, attrs)
        check_result(cls.definition, wanted, given)
        return given

    @classmethod
    def lower(cls, cx: Any, *variables: Any, **attrs: Any) -> None:
        count = len(cls.input_slots)
        ins, outs = variables[:count], variables[count:]
        with cx.kernel(ins, outs, shapes=False) as (k, in_refs, out_refs):
            refs = {v.name: ref for v, ref in zip(variables, (*in_refs, *out_refs), strict=True)}
            sizes: list[Any] = []
            for _, t in cx.infer_symbolically(k, refs):
                sizes += [n.as_expr(-1 if isinstance(d, dims.Unknown) else d, n.INDEX) for d in t.shape]
            fn = name_of(Specialization(cls.definition, *(tuple((v.dtype, len(v.shape)) for v in vs) for vs in (ins, outs))))
            scalars = [*sizes, *(k.attr(bits(value)) for value in attrs.values())]
            k.emit(n.NativeCall(fn, tuple(ref.name for ref in (*out_refs, *in_refs)), tuple(scalars)))

    @classmethod
    def grad(cls, b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        if cls.definition.gradient is None:
            raise GradientError(f"the custom op {cls.type} has no gradient", hint=f"give it one (@{cls.type}.gradient), or call it under "
                                "no_grad() or on x.detach()")  # fmt: skip
        return cls.definition.gradient(b, ins, outs, douts, attrs)
