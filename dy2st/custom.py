"""`custom_op` on Tensors, with a gradient: an op of the user's own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dy2st_runtime import custom as _runtime
from dy2st_runtime.ir import Block, IRBuilder, Variable

from .errors import GradientError
from .static.recorder import ProgramRecorder
from .tensor import Tensor, dispatch
from .tensor.autograd import check_gradient
from .tensor.creation import zeros_like
from .tensor.promotion import as_tensor


class CustomOp(_runtime.CustomOp):
    """An op of the user's own; see `custom_op`."""

    def __call__(self, *tensors: Any, **attrs: int | float | bool) -> Any:
        """The results for tensors: one, or a tuple. In a static function a part of its Program.

        Raises:
            TypeError: it takes another number of tensors.
        """
        names = self._definition.tensors
        if len(tensors) != len(names):
            raise TypeError(f"{self.name} takes {len(names)} tensors ({', '.join(names)}), got {len(tensors)}; attributes are given by "
                            "keyword")  # fmt: skip
        outs = dispatch.ops.apply(self._record, tuple(map(as_tensor, tensors)), self._record.complete_attrs(attrs))
        return outs[0] if len(outs) == 1 else outs

    def gradient(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Decorator for the rule of the gradient: `rule(*inputs, *outputs, *out_grads, **attrs)`, all Tensors, returns the gradient of each
        input, or None for one that has none. It is composed of functions of dy2st, other custom ops among them. Its `if` and `while` are
        Python's: a loop on data belongs into a kernel. The gradient of a result that nothing depends on is zero.

        Raises:
            GradientError: when a gradient is taken: the rule returns another number of gradients.
        """

        def gradient(b: Any, ins: tuple, outs: tuple, douts: tuple, attrs: dict[str, Any]) -> tuple:
            if isinstance(ins[0], Tensor):
                return self._asked(rule, ins, outs, douts, attrs)
            recorder = _Inside(b)
            with dispatch.recording(recorder):
                xs, ys, dys = ([None if v is None else Tensor.wrap(v) for v in values] for values in (ins, outs, douts))
                found = self._asked(rule, xs, ys, dys, attrs)
                return tuple(None if g is None else recorder.lift(g) for g in found)

        self._definition.gradient = gradient
        return rule

    def _asked(self, rule: Callable[..., Any], ins: Sequence[Any], outs: Sequence[Any], douts: Sequence[Any],
               attrs: dict[str, Any]) -> tuple[Tensor | None, ...]:  # fmt: skip
        """What the rule gives for Tensors; a None among `douts` is a gradient of zero."""
        given = rule(*ins, *outs, *(zeros_like(o) if d is None else d for o, d in zip(outs, douts, strict=True)), **attrs)
        found = tuple(given) if isinstance(given, (tuple, list)) else (given,)
        if len(found) != len(ins):
            raise GradientError(f"the gradient of the custom op {self.name} gives {len(found)} gradients for {len(ins)} tensors",
                                hint="return one for each tensor, None for one without a gradient")  # fmt: skip
        for x, g in zip(ins, found, strict=True):
            if g is not None:
                check_gradient(g, x, f"what the gradient of {self.name} gives")
        return found


class _Inside(ProgramRecorder):
    """Where the functions of dy2st in a rule go: to the builder that writes the gradient of a Program."""

    def __init__(self, builder: IRBuilder):
        super().__init__(lambda: builder.block)
        self._of_gradient = builder

    @contextlib.contextmanager
    def inside(self, block: Block) -> Iterator[Block]:
        with self._of_gradient.inside(block):
            yield block

    def wrap(self, v: Variable, requires: bool) -> Tensor:
        return Tensor.wrap(v, v.stop_gradient)

    def _builder(self) -> IRBuilder:
        return self._of_gradient


def custom_op(function: Any = None, *, infer: Callable[..., Any] | None = None, outputs: int = 1, elementwise: bool = False,
              name: str | None = None) -> Any:  # fmt: skip
    """Makes an op of a function that Numba can compile, for Tensors. A decorator.

    Numba compiles the function, a *kernel*: it takes arrays of NumPy, in C order, which it must not write to, and returns one new array or
    a tuple of `outputs`. Its parameters without a default are tensors; those with a default, which is an int, a float or a bool, are
    attributes, given by keyword. It may be a plain function or what `numba.njit` gives, but not `njit(parallel=True)`.

    The op runs eagerly and in static functions, natively in their loops and branches, without Python. A model file holds its name only: who
    loads the file runs the definition first (in a deployment with `dy2st_runtime.custom_op`). `op.gradient` gives it a gradient,
    `dy2st.testing.check_op` checks all of it. For users of `paddle.utils.cpp_extension` and `paddle.autograd.PyLayer`.

    Args:
        infer: the types of the results, from those of the tensors (each with `shape` and `dtype`) and the attributes by keyword: a pair
            (shape, dtype), or a list of them if there are several outputs. A size that depends on values is -1. A size that only the run
            knows can be added, subtracted, multiplied and divided by `//`, but not compared. The rule depends on nothing else.
        outputs: how many results there are.
        elementwise: the function is one of numbers. It is applied to the elements of its tensors, which broadcast, and `infer` may be left
            out: the result has the dtype of the first tensor.
        name: the type of the op; that of the function if it is left out.

    Returns:
        CustomOp: a callable on tensors, with the attributes as keywords.

    Raises:
        AttributeValueError: the function or an argument is none of these, or the name is that of another op.
        CompileError: when it is called: Numba cannot compile the kernel for the tensors' dtypes.

    >>> import numpy as np
    >>> import dy2st as paddle
    >>> @custom_op(infer=lambda x: (x.shape, x.dtype))
    ... def running_max(x):
    ...     out = np.empty_like(x)
    ...     largest = -np.inf
    ...     for i in range(len(x)):
    ...         largest = max(largest, x[i])
    ...         out[i] = largest
    ...     return out
    >>> @custom_op(infer=lambda x, out, dout: (x.shape, x.dtype))
    ... def running_max_grad(x, out, dout):
    ...     dx = np.zeros_like(x)
    ...     at = 0
    ...     for i in range(len(x)):
    ...         if x[i] == out[i]:
    ...             at = i
    ...         dx[at] += dout[i]
    ...     return dx
    >>> @running_max.gradient
    ... def rule(x, out, dout):
    ...     return running_max_grad(x, out, dout)
    >>> x = paddle.to_tensor([1.0, 3.0, 2.0], stop_gradient=False)
    >>> y = paddle.jit.to_static(lambda x: running_max(x))(x)
    >>> y.sum().backward()
    >>> y.numpy(), x.grad.numpy()
    (array([1., 3., 3.], dtype=float32), array([1., 2., 0.], dtype=float32))
    """
    return _runtime.decorated(CustomOp, function, infer=infer, outputs=outputs, elementwise=elementwise, name=name)
