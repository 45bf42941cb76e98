"""Heavy ops of eager mode, which run the kernels that static programs run.

NumPy is as fast as a kernel at most ops, and takes no time to compile. The ops whose reference takes several times as long say from which
size on their kernels are worth it (`OpDef.kernel_from`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from dy2st_runtime import config
from dy2st_runtime.executor import runs_native
from dy2st_runtime.ops.checked import require_fit
from dy2st_runtime.ops.registry import OpDef, TensorType

ALONE = 16
"""So many times as many elements it takes where nothing is native yet: LLVM has to be loaded first, a tenth of a second."""


def pays(op: type[OpDef], ins: tuple[Any, ...], attrs: dict[str, Any]) -> bool:
    """Whether an op with `kernel_from` runs its kernels: it has much to do, and they are allowed."""
    count = op.elements(ins, attrs)
    if count < op.kernel_from or config.NO_JIT.get():
        return False
    return runs_native() or (op.kernel_alone and count >= op.kernel_from * ALONE)


def run(op: type[OpDef], ins: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, ...]:
    """What the kernels of an op give, as a tuple with one entry for each output slot."""
    # what the shapes are to blame for is said before anything is compiled
    require_fit(op, ins, attrs)
    from dy2st_runtime.executor.single import run_op  # loads LLVM

    return run_op(op, ins, attrs)


def types(ins: tuple[Any, ...]) -> tuple[Any, ...]:
    """The types of arrays, in slots."""
    return tuple([_type(a) for a in x] if isinstance(x, list) else _type(x) for x in ins)


def _type(array: np.ndarray | None) -> TensorType | None:
    return None if array is None else TensorType(array.dtype.name, array.shape)
