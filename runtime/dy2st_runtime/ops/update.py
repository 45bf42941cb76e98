"""Steps of optimizers. What is written in place is declared: the outputs have the names of the inputs they update.

A step whose Grad is absent is skipped: the parameter and the moments keep their values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from .. import dims, dtype
from ..dtype import widened
from ..errors import AttributeValueError, DTypeError
from ..loopir import nodes as n
from .checked import CheckedOp
from .registry import Bool, Float, Str, TensorType, register


class Update(CheckedOp):
    """Base of the steps that are elementwise in Param, Grad and the tensors of Param's shape.

    Subclasses state the step once, as a `formula(m, values, attrs)` that runs on arrays in the reference and on the
    elements of a loop in the lowering: m has `sqrt`, `maximum`, `abs`, and `let`, which names a value. Both compute
    in float32 for float16. ShapeError or DTypeError where a slot does not fit Param.
    """

    differentiable = False
    outputs: ClassVar[tuple[str, ...]] = ("ParamOut",)
    scalars: ClassVar[tuple[str, ...]] = ("LearningRate",)
    """Input slots with one element."""
    powers: ClassVar[dict[str, str]] = {}
    """Input slot of one element that is multiplied by an attribute in each step → the attribute."""

    formula: ClassVar[Callable[..., Any]]

    @classmethod
    def check(cls, ins: dict[str, TensorType | None], attrs: dict[str, Any]) -> None:
        """Raises AttributeValueError for attributes that do not fit the inputs."""

    @classmethod
    def infer(cls, *ins: TensorType | None, **attrs: Any) -> tuple:
        found = dict(zip((s.name for s in cls.input_slots), ins, strict=True))
        param = found["Param"]
        assert param is not None
        cls.check(found, attrs)
        if param.dtype not in dtype.FLOATS:
            raise DTypeError(f"{cls.title} updates floating-point parameters, got {param.dtype}")
        for name, t in found.items():
            if t is None:
                continue
            if name in cls.scalars or name in cls.powers:
                dims.require_equal(dims.product(t.shape), 1, f"{cls.title}: {name} must have one element")
            else:
                _fits(cls.title, name, t, param)
        return tuple(found[cls.inplace[s.name]] for s in cls.output_slots)

    @classmethod
    def reference(cls, *ins: np.ndarray | None, **attrs: Any) -> tuple:
        found = dict(zip((s.name for s in cls.input_slots), ins, strict=True))
        name = np.dtype(widened(dtype.name_of(found["Param"])))  # type: ignore[arg-type]
        values = {slot: None if v is None else v.astype(name, copy=False) for slot, v in found.items()}
        for slot in (*cls.scalars, *cls.powers):
            value = values[slot]
            values[slot] = None if value is None else value.reshape(())
        numbers = {key: name.type(v) if isinstance(v, float) else v for key, v in attrs.items()}
        results = cls.formula(_NumPy, values, numbers)
        outs: list[Any] = []
        for out in cls.output_slots:
            slot = cls.inplace[out.name]
            old = found[slot]
            if old is None:
                outs.append(None)
            elif slot in cls.powers:
                outs.append(old * old.dtype.type(attrs[cls.powers[slot]]))
            else:
                outs.append(np.asarray(results[out.name]).astype(old.dtype, copy=False))
        return tuple(outs)

    @classmethod
    def lower(cls, cx: Any, *values: Any, **attrs: Any) -> None:
        count = len(cls.input_slots)
        ins = {s.name: v for s, v in zip(cls.input_slots, values[:count], strict=True) if v is not None}
        outs = {s.name: v for s, v in zip(cls.output_slots, values[count:], strict=True) if v is not None}
        steps = {name: v for name, v in outs.items() if cls.inplace[name] not in cls.powers}
        compute = widened(ins["Param"].dtype)
        if steps:
            with cx.kernel(list(ins.values()), list(steps.values())) as (k, reads, writes):
                refs = dict(zip(ins, reads, strict=True))
                numbers = {key: k.attr(v, compute) if isinstance(v, float) else v for key, v in attrs.items()}
                named: dict[str, Any] = {s.name: None for s in cls.input_slots}
                for name in (*cls.scalars, *cls.powers):
                    if name in refs:
                        named[name] = k.let(n.cast(refs[name][0], compute))
                with k.parallel(refs["Param"].size) as i:
                    for name, ref in refs.items():
                        if named[name] is None:
                            named[name] = k.let(n.cast(ref[i], compute))
                    results = cls.formula(_Loop(k), named, numbers)
                    for name, ref in zip(steps, writes, strict=True):
                        ref[i] = n.cast(results[name], ref.dtype)
        for name, out in outs.items():
            slot = cls.inplace[name]
            if slot in cls.powers:
                with cx.kernel([ins[slot]], [out], shapes=False) as (k, (old,), (new,)):
                    k.set_shape(new, old.shape)
                    new[0] = old[0] * k.attr(attrs[cls.powers[slot]], old.dtype)


def _fits(op: str, name: str, t: TensorType, param: TensorType) -> None:
    if t.dtype != param.dtype:
        raise DTypeError(f"{op}: {name} has dtype {t.dtype}, the parameter has {param.dtype}")
    dims.require_same_shape(t.shape, param.shape, f"{op}: {name} and the parameter")


class _NumPy:
    """The functions of a formula on arrays."""

    sqrt, maximum, abs = np.sqrt, np.maximum, np.abs

    @staticmethod
    def let(value: Any) -> Any:
        return value


class _Loop:
    """The functions of a formula on elements in a loop."""

    def __init__(self, k: Any):
        self.let = k.let

    @staticmethod
    def sqrt(x: n.Expr) -> n.Expr:
        return n.call("sqrt", x)

    @staticmethod
    def abs(x: n.Expr) -> n.Expr:
        return n.call("abs", x)

    @staticmethod
    def maximum(a: n.Expr, b: n.Expr) -> n.Expr:
        return n.select((a > b) | (a != a), a, b)


@register
class SGD(Update):
    """ParamOut = Param - LearningRate * Grad.

    param = b.sgd(param, lr, grad)
    """

    type = "sgd"
    inputs = ("Param", "LearningRate", "Grad")
    inplace = {"ParamOut": "Param"}

    @staticmethod
    def formula(m: Any, v: dict[str, Any], a: dict[str, Any]) -> dict[str, Any]:
        return {"ParamOut": v["Param"] - v["LearningRate"] * v["Grad"]}


@register
class Momentum(Update):
    """VelocityOut = mu * Velocity + Grad; ParamOut = Param - LearningRate * VelocityOut, or with `use_nesterov`
    Param - LearningRate * (Grad + mu * VelocityOut). `regularization_method` "l2_decay" adds coefficient * Param to
    Grad.

        param, velocity = b.momentum(param, grad, velocity, lr, mu=0.9)
    """

    type = "momentum"
    inputs = ("Param", "Grad", "Velocity", "LearningRate")
    outputs = ("ParamOut", "VelocityOut")
    attrs = {
        "mu": Float(0.9),
        "use_nesterov": Bool(False),
        "regularization_method": Str(""),
        "regularization_coeff": Float(0.0),
        "rescale_grad": Float(1.0),
    }
    inplace = {"ParamOut": "Param", "VelocityOut": "Velocity"}

    @classmethod
    def check(cls, ins: dict[str, TensorType | None], attrs: dict[str, Any]) -> None:
        method = attrs["regularization_method"]
        if method not in ("", "l2_decay"):
            raise AttributeValueError(
                f"momentum: regularization_method {method!r} is unknown", hint="use 'l2_decay' or ''"
            )

    @staticmethod
    def formula(m: Any, v: dict[str, Any], a: dict[str, Any]) -> dict[str, Any]:
        grad = v["Grad"] * a["rescale_grad"]
        if a["regularization_method"] == "l2_decay":
            grad = grad + a["regularization_coeff"] * v["Param"]
        grad = m.let(grad)
        velocity = m.let(a["mu"] * v["Velocity"] + grad)
        step = grad + a["mu"] * velocity if a["use_nesterov"] else velocity
        return {"ParamOut": v["Param"] - v["LearningRate"] * step, "VelocityOut": velocity}


def adam_step(m: Any, param: Any, rate: Any, v: dict[str, Any], a: dict[str, Any]) -> dict[str, Any]:
    """The step of Adam from `param`; epsilon is scaled by the bias correction, as in Paddle."""
    grad = v["Grad"]
    first = m.let(a["beta1"] * v["Moment1"] + (1.0 - a["beta1"]) * grad)
    second = m.let(a["beta2"] * v["Moment2"] + (1.0 - a["beta2"]) * (grad * grad))
    correction = m.let(m.sqrt(1.0 - v["Beta2Pow"]))
    rate = m.let(rate * correction / (1.0 - v["Beta1Pow"]))
    step = rate * (first / (m.sqrt(second) + a["epsilon"] * correction))
    return {"ParamOut": param - step, "Moment1Out": first, "Moment2Out": second}


class AdamFamily(Update):
    inputs = ("Param", "Grad", "LearningRate", "Moment1", "Moment2", "Beta1Pow", "Beta2Pow")
    outputs = ("ParamOut", "Moment1Out", "Moment2Out", "Beta1PowOut", "Beta2PowOut")
    attrs = {"beta1": Float(0.9), "beta2": Float(0.999), "epsilon": Float(1e-8)}
    inplace = {
        "ParamOut": "Param",
        "Moment1Out": "Moment1",
        "Moment2Out": "Moment2",
        "Beta1PowOut": "Beta1Pow",
        "Beta2PowOut": "Beta2Pow",
    }
    powers = {"Beta1Pow": "beta1", "Beta2Pow": "beta2"}


@register
class Adam(AdamFamily):
    """Adam. Beta1Pow and Beta2Pow hold the powers of beta1 and beta2 for this step (beta1 and beta2 in the first).

    param, m1, m2, p1, p2 = b.adam(param, grad, lr, m1, m2, p1, p2, beta1=0.9, beta2=0.999, epsilon=1e-8)
    """

    type = "adam"

    @staticmethod
    def formula(m: Any, v: dict[str, Any], a: dict[str, Any]) -> dict[str, Any]:
        return adam_step(m, v["Param"], v["LearningRate"], v, a)


@register
class AdamW(AdamFamily):
    """Adam with decoupled weight decay: Param is first scaled by 1 - LearningRate * lr_ratio * coeff (if `with_decay`).

    param, m1, m2, p1, p2 = b.adamw(param, grad, lr, m1, m2, p1, p2, coeff=0.01)
    """

    type = "adamw"
    attrs = {**AdamFamily.attrs, "coeff": Float(0.01), "lr_ratio": Float(1.0), "with_decay": Bool(True)}

    @staticmethod
    def formula(m: Any, v: dict[str, Any], a: dict[str, Any]) -> dict[str, Any]:
        rate = m.let(v["LearningRate"] * a["lr_ratio"])
        param = v["Param"]
        if a["with_decay"]:
            param = m.let(param - rate * a["coeff"] * param)
        return adam_step(m, param, rate, v, a)


@register
class Adamax(Update):
    """Adam with the infinity norm: InfNormOut = max(|Grad|, beta2 * InfNorm + epsilon). Beta1Pow stays as it is.

    param, moment, inf_norm = b.adamax(param, grad, lr, moment, inf_norm, beta1_pow)
    """

    type = "adamax"
    inputs = ("Param", "Grad", "LearningRate", "Moment", "InfNorm", "Beta1Pow")
    outputs = ("ParamOut", "MomentOut", "InfNormOut")
    attrs = {"beta1": Float(0.9), "beta2": Float(0.999), "epsilon": Float(1e-8)}
    inplace = {"ParamOut": "Param", "MomentOut": "Moment", "InfNormOut": "InfNorm"}
    scalars = ("LearningRate", "Beta1Pow")

    @staticmethod
    def formula(m: Any, v: dict[str, Any], a: dict[str, Any]) -> dict[str, Any]:
        moment = m.let(a["beta1"] * v["Moment"] + (1.0 - a["beta1"]) * v["Grad"])
        norm = m.let(m.maximum(m.abs(v["Grad"]), a["beta2"] * v["InfNorm"] + a["epsilon"]))
        rate = v["LearningRate"] / (1.0 - v["Beta1Pow"])
        return {"ParamOut": v["Param"] - rate * (moment / norm), "MomentOut": moment, "InfNormOut": norm}


@register
class Adagrad(Update):
    """MomentOut = Moment + Grad^2; ParamOut = Param - LearningRate * Grad / (sqrt(MomentOut) + epsilon).

    param, moment = b.adagrad(param, grad, moment, lr, epsilon=1e-6)
    """

    type = "adagrad"
    inputs = ("Param", "Grad", "Moment", "LearningRate")
    outputs = ("ParamOut", "MomentOut")
    attrs = {"epsilon": Float(1e-6)}
    inplace = {"ParamOut": "Param", "MomentOut": "Moment"}

    @staticmethod
    def formula(m: Any, v: dict[str, Any], a: dict[str, Any]) -> dict[str, Any]:
        moment = m.let(v["Moment"] + v["Grad"] * v["Grad"])
        step = v["LearningRate"] * v["Grad"] / (m.sqrt(moment) + a["epsilon"])
        return {"ParamOut": v["Param"] - step, "MomentOut": moment}


@register
class Adadelta(Update):
    """Steps of the size sqrt(average squared update / average squared gradient) * Grad.

    param, squared_grad, squared_update = b.adadelta(param, grad, squared_grad, squared_update, lr)
    """

    type = "adadelta"
    inputs = ("Param", "Grad", "AvgSquaredGrad", "AvgSquaredUpdate", "LearningRate")
    outputs = ("ParamOut", "AvgSquaredGradOut", "AvgSquaredUpdateOut")
    attrs = {"rho": Float(0.95), "epsilon": Float(1e-6)}
    inplace = {
        "ParamOut": "Param",
        "AvgSquaredGradOut": "AvgSquaredGrad",
        "AvgSquaredUpdateOut": "AvgSquaredUpdate",
    }

    @staticmethod
    def formula(m: Any, v: dict[str, Any], a: dict[str, Any]) -> dict[str, Any]:
        rho, grad = a["rho"], v["Grad"]
        squared = m.let(rho * v["AvgSquaredGrad"] + (1.0 - rho) * (grad * grad))
        step = m.let(m.sqrt((v["AvgSquaredUpdate"] + a["epsilon"]) / (squared + a["epsilon"])) * grad)
        return {
            "ParamOut": v["Param"] - v["LearningRate"] * step,
            "AvgSquaredGradOut": squared,
            "AvgSquaredUpdateOut": rho * v["AvgSquaredUpdate"] + (1.0 - rho) * (step * step),
        }


@register
class RMSProp(Update):
    """MomentOut = momentum * Moment + LearningRate * Grad / sqrt(mean square + epsilon); ParamOut = Param - MomentOut.

    `centered` subtracts the square of the mean gradient from the mean square; only then MeanGrad is needed.

        param, moment, mean_square, mean_grad = b.rmsprop(param, mean_square, None, grad, moment, lr, decay=0.95)
    """

    type = "rmsprop"
    inputs = ("Param", "MeanSquare", "MeanGrad?", "Grad", "Moment", "LearningRate")
    outputs = ("ParamOut", "MomentOut", "MeanSquareOut", "MeanGradOut")
    attrs = {"decay": Float(0.9), "epsilon": Float(1e-10), "momentum": Float(0.0), "centered": Bool(False)}
    inplace = {
        "ParamOut": "Param",
        "MomentOut": "Moment",
        "MeanSquareOut": "MeanSquare",
        "MeanGradOut": "MeanGrad",
    }

    @classmethod
    def check(cls, ins: dict[str, TensorType | None], attrs: dict[str, Any]) -> None:
        if attrs["centered"] and ins["MeanGrad"] is None:
            raise AttributeValueError("rmsprop: centered needs MeanGrad")

    @staticmethod
    def formula(m: Any, v: dict[str, Any], a: dict[str, Any]) -> dict[str, Any]:
        decay, grad = a["decay"], v["Grad"]
        square = m.let(decay * v["MeanSquare"] + (1.0 - decay) * (grad * grad))
        spread, mean = square, v["MeanGrad"]
        if a["centered"]:
            mean = m.let(decay * mean + (1.0 - decay) * grad)
            spread = square - mean * mean
        step = v["LearningRate"] * grad / m.sqrt(spread + a["epsilon"])
        moment = m.let(a["momentum"] * v["Moment"] + step)
        return {
            "ParamOut": v["Param"] - moment,
            "MomentOut": moment,
            "MeanSquareOut": square,
            "MeanGradOut": mean,
        }
