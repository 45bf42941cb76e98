"""Optimizers with the arguments of 1.x: `parameter_list`, `regularization`."""

from __future__ import annotations

from typing import Any

from .. import optimizer
from ..regularizer import L1Decay as NewL1Decay
from ..regularizer import L2Decay as NewL2Decay


class SGDOptimizer(optimizer.SGD):
    """Gradient descent."""

    def __init__(self, learning_rate: Any, parameter_list: Any = None, regularization: Any = None, grad_clip: Any = None,
                 name: str | None = None) -> None:  # fmt: skip
        super().__init__(learning_rate, parameter_list, regularization, grad_clip, name)


class MomentumOptimizer(optimizer.Momentum):
    """Gradient descent with momentum."""

    def __init__(self, learning_rate: Any, momentum: float, parameter_list: Any = None, use_nesterov: bool = False,
                 regularization: Any = None, grad_clip: Any = None, name: str | None = None) -> None:  # fmt: skip
        super().__init__(learning_rate, momentum, parameter_list, use_nesterov, regularization, grad_clip, name=name)


class AdamOptimizer(optimizer.Adam):
    """Adam."""

    def __init__(self, learning_rate: Any = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8,
                 parameter_list: Any = None, regularization: Any = None, grad_clip: Any = None, name: str | None = None,
                 lazy_mode: bool = False) -> None:  # fmt: skip
        super().__init__(learning_rate, beta1, beta2, epsilon, parameter_list, regularization, grad_clip, lazy_mode, name=name)


class AdagradOptimizer(optimizer.Adagrad):
    """Adagrad."""

    def __init__(self, learning_rate: Any, epsilon: float = 1e-6, parameter_list: Any = None, regularization: Any = None,
                 grad_clip: Any = None, name: str | None = None, initial_accumulator_value: float = 0.0) -> None:  # fmt: skip
        super().__init__(learning_rate, epsilon, parameter_list, regularization, grad_clip, name, initial_accumulator_value)


class RMSPropOptimizer(optimizer.RMSProp):
    """RMSProp."""

    def __init__(self, learning_rate: Any, rho: float = 0.95, epsilon: float = 1e-6, momentum: float = 0.0,
                 centered: bool = False, parameter_list: Any = None, regularization: Any = None, grad_clip: Any = None,
                 name: str | None = None) -> None:  # fmt: skip
        super().__init__(learning_rate, rho, epsilon, momentum, centered, parameter_list, regularization, grad_clip, name)


class L2Decay(NewL2Decay):
    """Weight decay by the square of the weights."""

    def __init__(self, regularization_coeff: float = 0.0):
        super().__init__(regularization_coeff)


class L1Decay(NewL1Decay):
    """Weight decay by the absolute values of the weights."""

    def __init__(self, regularization_coeff: float = 0.0):
        super().__init__(regularization_coeff)
