"""The optimizers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import AttributeValueError
from ..tensor import Tensor
from ..tensor.dispatch import ops
from .optimizer import Optimizer


class SGD(Optimizer):
    """param - rate * grad.

    >>> from dy2st import nn
    >>> layer = nn.Linear(1, 1, weight_attr=nn.initializer.Constant(1.0))
    >>> sgd = SGD(0.1, layer.parameters())
    >>> layer(Tensor([[2.0]])).backward(); sgd.step()
    >>> layer.weight.numpy()
    array([[0.8]], dtype=float32)
    """

    def update(self, param: Tensor, grad: Tensor, rate: Tensor) -> None:
        ops.op("sgd", Param=param, LearningRate=rate, Grad=grad)


class Momentum(Optimizer):
    """velocity = momentum * velocity + grad; param - rate * velocity, or with Nesterov rate * (grad + momentum *
    velocity)."""

    accumulators = {"velocity": 0.0}
    group_options = ("momentum", "use_nesterov", "rescale_grad")

    def __init__(self, learning_rate: Any = 0.001, momentum: float = 0.9, parameters: Any = None,
                 use_nesterov: bool = False, weight_decay: Any = None, grad_clip: Any = None,
                 multi_precision: bool = False, rescale_grad: float = 1.0, use_multi_tensor: bool = False,
                 name: str | None = None) -> None:  # fmt: skip
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._momentum, self._use_nesterov, self._rescale_grad = momentum, use_nesterov, rescale_grad

    def update(self, param: Tensor, grad: Tensor, rate: Tensor) -> None:
        ops.op("momentum", Param=param, Grad=grad, Velocity=self.state("velocity", param), LearningRate=rate,
               mu=self.option(param, "momentum"), use_nesterov=self.option(param, "use_nesterov"),
               rescale_grad=self.option(param, "rescale_grad"))  # fmt: skip


class Adam(Optimizer):
    """Steps of the moment of the gradient divided by the root of that of its square, both corrected for their start at zero.

    Args:
        beta1, beta2: the decay rates of the moments.
        epsilon: added to the root.
    """

    accumulators = {"moment1": 0.0, "moment2": 0.0}
    scalars = {"beta1_pow_acc": 0.9, "beta2_pow_acc": 0.999}
    group_options = ("beta1", "beta2", "epsilon")

    def __init__(self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8,
                 parameters: Any = None, weight_decay: Any = None, grad_clip: Any = None, lazy_mode: bool = False,
                 multi_precision: bool = False, use_multi_tensor: bool = False, name: str | None = None) -> None:  # fmt: skip
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._beta1, self._beta2, self._epsilon = float(beta1), float(beta2), float(epsilon)
        for options in ({"beta1": beta1, "beta2": beta2}, *self._options.values()):
            for what in ("beta1", "beta2"):
                if not 0 <= float(options.get(what, 0.0)) < 1:
                    raise AttributeValueError(f"{what} must be in 0 ... 1 (without 1), got {options[what]}")

    def initial(self, name: str, param: Tensor) -> float:
        # the powers start as the first ones
        return self.option(param, name[:5]) if name in self.scalars else self.accumulators[name]

    def _slots(self, param: Tensor, grad: Tensor, rate: Tensor) -> dict[str, Any]:
        return {
            "Param": param, "Grad": grad, "LearningRate": rate,
            "Moment1": self.state("moment1", param), "Moment2": self.state("moment2", param),
            "Beta1Pow": self.state("beta1_pow_acc", param), "Beta2Pow": self.state("beta2_pow_acc", param),
            **{name: float(self.option(param, name)) for name in ("beta1", "beta2", "epsilon")},
        }  # fmt: skip

    def update(self, param: Tensor, grad: Tensor, rate: Tensor) -> None:
        ops.op("adam", **self._slots(param, grad, rate))


class AdamW(Adam):
    """Adam with decoupled weight decay: the parameter is first scaled by 1 - rate * weight_decay.

    Args:
        weight_decay: a number.
        lr_ratio: parameter → a factor on its learning rate.
        apply_decay_param_fun: name of a parameter → whether it decays.
    """

    def __init__(self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8,
                 parameters: Any = None, weight_decay: float = 0.01, lr_ratio: Callable[[Tensor], float] | None = None,
                 apply_decay_param_fun: Callable[[str], bool] | None = None, grad_clip: Any = None,
                 lazy_mode: bool = False, multi_precision: bool = False, name: str | None = None) -> None:  # fmt: skip
        super().__init__(learning_rate, beta1, beta2, epsilon, parameters, None, grad_clip, name=name)
        self._weight_decay = self._decay(weight_decay)
        self._lr_ratio, self._apply_decay = lr_ratio, apply_decay_param_fun

    def _regularized(self, params_grads: Any) -> Any:
        return params_grads  # the op decays the parameter itself

    def _recipe_of(self, p: Tensor) -> tuple:
        return (*super()._recipe_of(p), *self._decay_of(p))

    def _decay_of(self, param: Tensor) -> tuple[float, bool, float]:
        """The coefficient, whether the parameter decays, and the factor of its learning rate."""
        decay = self.option(param, "weight_decay")
        wanted = self._apply_decay is None or self._apply_decay(param.name)
        ratio = 1.0 if self._lr_ratio is None else float(self._lr_ratio(param))
        return 0.0 if decay is None else decay.coeff, bool(wanted and decay is not None), ratio

    def update(self, param: Tensor, grad: Tensor, rate: Tensor) -> None:
        coeff, with_decay, ratio = self._decay_of(param)
        ops.op("adamw", **self._slots(param, grad, rate), coeff=coeff, with_decay=with_decay, lr_ratio=ratio)


class Adamax(Optimizer):
    """Adam with the infinity norm."""

    accumulators = {"moment": 0.0, "inf_norm": 0.0}
    scalars = {"beta1_pow_acc": 0.9}
    skips_absent = False  # the power is updated by an op of its own
    group_options = ("beta1", "beta2", "epsilon")

    def __init__(self, learning_rate: Any = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8,
                 parameters: Any = None, weight_decay: Any = None, grad_clip: Any = None,
                 name: str | None = None) -> None:  # fmt: skip
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._beta1, self._beta2, self._epsilon = beta1, beta2, epsilon

    def initial(self, name: str, param: Tensor) -> float:
        return self.option(param, "beta1") if name == "beta1_pow_acc" else self.accumulators[name]

    def update(self, param: Tensor, grad: Tensor, rate: Tensor) -> None:
        power, beta1 = self.state("beta1_pow_acc", param), float(self.option(param, "beta1"))
        ops.op("adamax", Param=param, Grad=grad, LearningRate=rate, Moment=self.state("moment", param),
               InfNorm=self.state("inf_norm", param), Beta1Pow=power, beta1=beta1,
               beta2=float(self.option(param, "beta2")), epsilon=float(self.option(param, "epsilon")))  # fmt: skip
        power.set_value(ops.op("scale", X=power, scale=beta1))


class Adagrad(Optimizer):
    """Steps of the gradient divided by the root of the sum of its squares so far."""

    group_options = ("epsilon",)

    def __init__(self, learning_rate: Any, epsilon: float = 1e-6, parameters: Any = None, weight_decay: Any = None,
                 grad_clip: Any = None, name: str | None = None, initial_accumulator_value: float = 0.0) -> None:  # fmt: skip
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._epsilon = epsilon
        self.accumulators = {"moment": initial_accumulator_value}

    def update(self, param: Tensor, grad: Tensor, rate: Tensor) -> None:
        ops.op("adagrad", Param=param, Grad=grad, Moment=self.state("moment", param), LearningRate=rate,
               epsilon=float(self.option(param, "epsilon")))  # fmt: skip


class Adadelta(Optimizer):
    """Steps of the size of the root of the mean squared update over that of the mean squared gradient."""

    accumulators = {"_avg_squared_grad": 0.0, "_avg_squared_update": 0.0}
    group_options = ("epsilon", "rho")

    def __init__(self, learning_rate: Any = 0.001, epsilon: float = 1e-6, rho: float = 0.95, parameters: Any = None,
                 weight_decay: Any = None, grad_clip: Any = None, name: str | None = None) -> None:  # fmt: skip
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._epsilon, self._rho = epsilon, rho

    def update(self, param: Tensor, grad: Tensor, rate: Tensor) -> None:
        ops.op("adadelta", Param=param, Grad=grad, AvgSquaredGrad=self.state("_avg_squared_grad", param),
               AvgSquaredUpdate=self.state("_avg_squared_update", param), LearningRate=rate,
               rho=float(self.option(param, "rho")), epsilon=float(self.option(param, "epsilon")))  # fmt: skip


class RMSProp(Optimizer):
    """Steps of the gradient divided by the root of the mean of its squares.

    Args:
        rho: the decay rate of the mean.
        epsilon: added to the mean.
        momentum: of the steps.
        centered: the square of the mean gradient is subtracted from the mean of the squares.
    """

    accumulators = {"momentum": 0.0, "mean_square": 0.0, "mean_grad": 0.0}
    group_options = ("rho", "epsilon", "momentum", "centered")

    def __init__(self, learning_rate: Any, rho: float = 0.95, epsilon: float = 1e-6, momentum: float = 0.0,
                 centered: bool = False, parameters: Any = None, weight_decay: Any = None, grad_clip: Any = None,
                 name: str | None = None) -> None:  # fmt: skip
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._rho, self._epsilon, self._momentum, self._centered = rho, epsilon, momentum, centered

    def update(self, param: Tensor, grad: Tensor, rate: Tensor) -> None:
        centered = bool(self.option(param, "centered"))
        ops.op("rmsprop", Param=param, MeanSquare=self.state("mean_square", param),
               MeanGrad=self.state("mean_grad", param) if centered else None, Grad=grad,
               Moment=self.state("momentum", param), LearningRate=rate, decay=float(self.option(param, "rho")),
               epsilon=float(self.option(param, "epsilon")), momentum=float(self.option(param, "momentum")),
               centered=centered)  # fmt: skip
