"""What tests of state share: calls one after the other, eagerly and statically, with what they leave behind each."""

from collections import deque

import numpy as np
from dy2st_runtime import config

from dy2st import jit, to_tensor
from dy2st.tensor import Tensor


def seen(value, known=None):
    """A value, and all that is in it, as what can be compared; one object in two places of a structure is known as one."""
    known = {} if known is None else known
    if isinstance(value, Tensor):
        return known.setdefault(id(value), len(known)), value.dtype, value.tolist()
    if isinstance(value, (bool, int, float, str, type(None), type)):
        return type(value), value
    if not isinstance(value, tuple):
        if id(value) in known:
            return known[id(value)]
        known[id(value)] = len(known)
    if isinstance(value, dict):
        return type(value), [(key, seen(v, known)) for key, v in value.items()]
    if isinstance(value, (list, tuple, deque)):
        return type(value), [seen(v, known) for v in value]
    slots = [getattr(value, name, None) for name in getattr(type(value), "__slots__", ())]
    return type(value), seen(slots or vars(value), known)


def check(make, between=(), calls=((1.0, 2.0, 3.0), (-1.0, 0.5), (2.0, -3.0, 1.0, 4.0), (0.25,)), numbers=(2, 0, 3, 1)):
    """Calls what `make` gives, a function of a tensor and a number beside its state, and compares results and state.

    Args:
        between: what to do with the state behind each call.
    """
    with config.NO_JIT.override(True):
        found = []
        for static in (False, True):
            f, state = make()
            f = jit.to_static(f) if static else f
            found.append([])
            for i, (values, number) in enumerate(zip(calls, numbers, strict=True)):
                result = f(to_tensor(np.array(values, np.float32)), to_tensor(number))
                found[-1].append((seen(result), seen(state)))
                for change in between[i : i + 1]:
                    change(state)
    for i, (eager, static) in enumerate(zip(*found, strict=True)):
        assert static == eager, f"call {i}"
