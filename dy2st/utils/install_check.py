"""`run_check`: does the installation work?"""

from __future__ import annotations

import os


def run_check() -> None:
    """Trains a small static layer, compares it with the same in eager mode, and prints that it works.

    Raises:
        RuntimeError: the two differ. What is wrong in the installation itself raises where it is found.

    Example:
        >>> run_check()  # doctest: +SKIP
        Running verify dy2st program ...
        dy2st works well on 2 CPUs.
        dy2st is installed successfully! Let's start deep learning with dy2st now.
    """
    print("Running verify dy2st program ...")
    losses = {static: _trained(static) for static in (False, True)}
    if not _alike(*losses.values()) or losses[True][-1] >= losses[True][0]:
        raise RuntimeError(f"a static training gives the losses {losses[True]}, an eager one {losses[False]}")
    count = os.cpu_count() or 1
    print(f"dy2st works well on {count} CPU{'s' if count > 1 else ''}.")
    print("dy2st is installed successfully! Let's start deep learning with dy2st now.")


def _alike(a: list[float], b: list[float]) -> bool:
    return all(abs(x - y) <= 1e-5 * abs(x) for x, y in zip(a, b, strict=True))


def _trained(static: bool) -> list[float]:
    """The losses of some steps."""
    # here, as they bring the compiler, and other utilities are asked for without it
    from ..jit import to_static
    from ..nn import Linear
    from ..nn import initializer as init
    from ..optimizer import SGD
    from ..tensor.creation import to_tensor

    layer = Linear(2, 1, weight_attr=init.Constant(0.5), bias_attr=init.Constant(0.1))
    sgd = SGD(0.1, parameters=layer.parameters())
    forward = to_static(layer.forward) if static else layer.forward
    x = to_tensor([[1.0, 2.0], [3.0, -1.0]])
    losses = []
    for _ in range(3):
        loss = (forward(x) ** 2).mean()
        loss.backward()
        sgd.step()
        sgd.clear_grad()
        losses.append(float(loss))
    return losses
