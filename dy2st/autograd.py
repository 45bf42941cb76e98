"""Gradients: `backward`, and functions with a gradient of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .errors import GradientError, PythonGradientError
from .missing_names import explain_missing as _explain_missing
from .tensor import Tensor, tape
from .tensor import dispatch as _dispatch
from .tensor.autograd import backward as backward
from .tensor.autograd import check_gradient
from .tensor.autograd import grad as grad
from .tensor.autograd import no_grad as no_grad
from .tensor.creation import zeros
from .tensor.location import user_location


class PyLayerContext:
    """What `forward` leaves for `backward`: saved tensors, and any attributes."""

    def __init__(self) -> None:
        self._saved: tuple[Tensor, ...] = ()
        self._without_gradient: tuple[Tensor, ...] = ()
        self._materialize = True

    def save_for_backward(self, *tensors: Tensor) -> None:
        """Keeps tensors, as they are now."""
        self._saved = tuple(tape.snapshot(t) for t in tensors)

    def saved_tensor(self) -> tuple[Tensor, ...]:
        """The tensors that were kept."""
        return self._saved

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """No gradient flows through these results; `backward` gets zeros for them."""
        self._without_gradient = tensors

    def mark_not_inplace(self, *tensors: Tensor) -> None:
        """Of PaddlePaddle's interface, without effect: what `forward` returns is never its argument itself."""

    def set_materialize_grads(self, value: bool) -> None:
        """False: `backward` gets None, not zeros, for a result that has no gradient."""
        self._materialize = bool(value)


class PyLayer:
    """A function with a gradient of one's own. Subclasses define the static methods `forward(ctx, ...)` and `backward(ctx,
    *output_grads)`, which gets the gradient of each Tensor among the results and returns one (or None) for each Tensor among the arguments.

    In a static function `forward` is traced as any code; `backward` is not, so that a gradient through it is an error there.

    Raises:
        GradientError: `backward` returns another number of gradients.
        ShapeError, DTypeError: it returns one that does not fit its input.

    >>> class Double(PyLayer):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     def backward(ctx, dy):
    ...         return dy * 2
    >>> x = Tensor([1.0], stop_gradient=False)
    >>> Double.apply(x).backward()
    >>> x.grad.numpy()
    array([2.], dtype=float32)
    """

    @staticmethod
    def forward(ctx: PyLayerContext, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    @staticmethod
    def backward(ctx: PyLayerContext, *args: Any) -> Any:
        raise NotImplementedError

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Calls `forward` and records it as one step."""
        inputs = [a for a in (*args, *kwargs.values()) if isinstance(a, Tensor)]
        wanted = _dispatch.is_grad_enabled() and not all(t._stops for t in inputs)
        if wanted and not _dispatch.in_dynamic_mode():
            raise PythonGradientError(
                f"{cls.__name__}.backward is Python code; it cannot become part of a program", location=user_location(),
                hint="call it outside of the static function, or under no_grad(); to_static(full_graph=False) runs the statement eagerly",
            )  # fmt: skip
        ctx = PyLayerContext()
        with no_grad():
            result = cls.forward(ctx, *args, **kwargs)
        return _recorded(cls, ctx, inputs, result) if wanted else result


def _recorded(cls: type[PyLayer], ctx: PyLayerContext, inputs: list[Tensor], result: Any) -> Any:
    """The results of `forward` as those of one step."""
    outputs = list(result) if isinstance(result, (tuple, list)) else [result]
    without = [id(t) for t in ctx._without_gradient]
    # an input that is returned as it is must not become an output of its own
    results = [tape.snapshot(t) if isinstance(t, Tensor) else t for t in outputs]
    for old, t in zip(outputs, results, strict=True):
        if isinstance(t, Tensor):
            t._stop, t._node = not t.dtype.startswith("float") or id(old) in without, None
    tensors = [t for t in results if isinstance(t, Tensor)]
    shapes = [(t.shape, t.dtype) for t in tensors]

    def backward_fn(grads: Sequence[Tensor | None], needed: Sequence[bool]) -> list[Tensor | None]:
        given = [zeros(*shape) if g is None and ctx._materialize else g for g, shape in zip(grads, shapes, strict=True)]
        found = cls.backward(ctx, *given)
        found = list(found) if isinstance(found, (tuple, list)) else [found]
        if len(found) != len(inputs):
            raise GradientError(f"{cls.__name__}.backward returned {len(found)} gradients for {len(inputs)} inputs")
        for t, g in zip(inputs, found, strict=True):
            if g is not None:
                check_gradient(g, t, f"what {cls.__name__}.backward returns")
        return found

    tape.FunctionNode(inputs, tensors, backward_fn, cls.__name__, twice=True)
    return type(result)(results) if isinstance(result, (tuple, list)) else results[0]


_explain_missing(__name__)
