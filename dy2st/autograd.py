"""Gradients: `backward`, and functions with a gradient of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .errors import GradientError, ModeError
from .tensor import Tensor, tape
from .tensor import dispatch as _dispatch
from .tensor.autograd import backward as backward
from .tensor.autograd import check_gradient
from .tensor.autograd import grad as grad
from .tensor.autograd import no_grad as no_grad
from .tensor.location import user_location


class PyLayerContext:
    """What `forward` leaves for `backward`: saved tensors, and any attributes."""

    def __init__(self) -> None:
        self._saved: tuple[Tensor, ...] = ()

    def save_for_backward(self, *tensors: Tensor) -> None:
        """Keeps tensors, as they are now."""
        self._saved = tuple(tape.snapshot(t) for t in tensors)

    def saved_tensor(self) -> tuple[Tensor, ...]:
        """The tensors that were kept."""
        return self._saved


class PyLayer:
    """A function with a gradient of one's own. Subclasses define the static methods `forward(ctx, ...)` and `backward(ctx,
    *output_grads)`, which returns a gradient (or None) for each Tensor among the arguments.

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
        wanted = _dispatch.is_grad_enabled() and not all(t.stop_gradient for t in inputs)
        if wanted and not _dispatch.in_dynamic_mode():
            raise ModeError(
                f"{cls.__name__}.backward is Python code; it cannot become part of a program", location=user_location(),
                hint="call it outside the static function, or under no_grad()",
            )  # fmt: skip
        ctx = PyLayerContext()
        with no_grad():
            result = cls.forward(ctx, *args, **kwargs)
        outputs = list(result) if isinstance(result, (tuple, list)) else [result]
        if not wanted:
            return result
        # an input that is returned as it is must not become an output of its own
        outputs = [tape.snapshot(t) if isinstance(t, Tensor) else t for t in outputs]
        tensors = [t if isinstance(t, Tensor) else None for t in outputs]
        for t in tensors:
            if t is not None and t.dtype.startswith("float"):
                t._stop, t._node = False, None

        def backward_fn(grads: Sequence[Tensor | None], needed: Sequence[bool]) -> list[Tensor | None]:
            found = cls.backward(ctx, *grads)
            found = list(found) if isinstance(found, (tuple, list)) else [found]
            if len(found) != len(inputs):
                raise GradientError(f"{cls.__name__}.backward returned {len(found)} gradients for {len(inputs)} inputs")
            for t, g in zip(inputs, found, strict=True):
                if g is not None:
                    check_gradient(g, t, f"what {cls.__name__}.backward returns")
            return found

        tape.FunctionNode(inputs, tensors, backward_fn, cls.__name__, twice=True)
        return type(result)(outputs) if isinstance(result, (tuple, list)) else outputs[0]
