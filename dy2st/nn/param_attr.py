"""`ParamAttr`: how a parameter is named, initialized and trained."""

from __future__ import annotations

from typing import Any

from ..errors import DTypeError


class ParamAttr:
    """The attributes of a parameter that a Layer makes.

    Args:
        name: default: a unique one.
        initializer: an `nn.initializer`; default: that of the Layer.
        learning_rate: a factor on the optimizer's learning rate.
        regularizer: a weight decay for this parameter, instead of the optimizer's.
        trainable: False: no gradient is computed for it.
        do_model_average: kept, without effect.
        need_clip: whether gradient clipping sees it.

    >>> from dy2st import nn
    >>> nn.Linear(2, 1, weight_attr=ParamAttr(name="w", initializer=nn.initializer.Constant(0.5))).weight.name
    'w'
    """

    def __init__(self, name: str | None = None, initializer: Any = None, learning_rate: float = 1.0,
                 regularizer: Any = None, trainable: bool = True, do_model_average: bool = True,
                 need_clip: bool = True) -> None:  # fmt: skip
        self.name, self.initializer, self.learning_rate = name, initializer, float(learning_rate)
        self.regularizer, self.trainable = regularizer, bool(trainable)
        self.do_model_average, self.need_clip = do_model_average, bool(need_clip)

    @staticmethod
    def of(attr: Any) -> ParamAttr | None:
        """What is given as `weight_attr`: a ParamAttr, a name, an initializer, None (the defaults), or False (no parameter:
        None).

        Raises:
            DTypeError: it is none of these.
        """
        from ..regularizer import WeightDecay
        from . import initializer

        if attr is False:
            return None
        if attr is None or attr is True:
            return ParamAttr()
        if isinstance(attr, ParamAttr):
            return attr
        if isinstance(attr, str):
            return ParamAttr(name=attr)
        if isinstance(attr, initializer.Initializer):
            return ParamAttr(initializer=attr)
        if isinstance(attr, WeightDecay):
            return ParamAttr(regularizer=attr)
        raise DTypeError(
            f"{type(attr).__name__} is no attribute of a parameter",
            hint="give a ParamAttr, a name, an initializer, or False",
        )
