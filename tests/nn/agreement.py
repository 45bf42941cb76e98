"""A layer gives the same results and gradients eagerly, statically, and statically on the reference interpreter."""

from __future__ import annotations

import numpy as np
from dy2st_runtime import config

import dy2st as paddle
from dy2st import jit
from dy2st.convert.values.trees import flatten
from dy2st.tensor import Tensor


def outcome(call, layer, arrays, seed):
    """The results, and the gradients of floating-point inputs and of the parameters, as arrays."""
    paddle.seed(seed)
    args = [Tensor(a, stop_gradient=not isinstance(a, np.ndarray) or a.dtype.kind != "f") for a in arrays]
    layer.clear_gradients()
    results = [t for t in flatten(call(*args))[0] if isinstance(t, Tensor)]
    loss = None
    for i, t in enumerate(results):
        if not t.stop_gradient:
            # weights that differ, so that gradients do not cancel
            weights = np.cos(np.arange(t.size).reshape(t.shape) + i).astype(t.dtype)
            term = (t * t * Tensor(weights)).sum()
            loss = term if loss is None else loss + term
    if loss is not None:
        loss.backward()
    grads = [t.grad for t in [*args, *layer.parameters()]]
    return [t.numpy() for t in results], [None if g is None else g.numpy() for g in grads]


def agree(layer, calls, spec=None, seed=5, rtol=1e-4, atol=2e-5):
    """Compares `layer(*arrays)` for each of `calls`, in one trace.

    Args:
        spec: shapes with None for open dims; default: all open.

    Returns:
        the results of the last call.
    """
    specs = []
    for i, a in enumerate(calls[0]):
        shape = [None] * np.ndim(a) if spec is None else spec[i]
        specs.append(jit.InputSpec(shape, str(np.asarray(a).dtype), f"x{i}"))
    native = jit.to_static(layer.forward, input_spec=specs)
    with config.NO_JIT.override(True):
        interpreted = jit.to_static(layer.forward, input_spec=specs)
        found = [outcome(interpreted, layer, arrays, seed) for arrays in calls]
    for arrays, other in zip(calls, found, strict=True):
        results, grads = outcome(layer, layer, arrays, seed)
        for name, (r, g) in (("interpreted", other), ("native", outcome(native, layer, arrays, seed))):
            for a, b in zip([*results, *grads], [*r, *g], strict=True):
                assert (a is None) == (b is None), name
                if a is not None:
                    assert a.dtype == b.dtype, name
                    np.testing.assert_allclose(b, a, rtol=rtol, atol=atol, err_msg=name)
    for f in (native, interpreted):
        assert len(f.concrete_programs) == 1, f.explain()
    return results


def normal(*shape, seed=0):
    """Normal numbers as float32."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


class Of(paddle.nn.Layer):
    """A function as a layer."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)
