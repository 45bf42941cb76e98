"""`fluid.param_attr`."""

from ..nn.param_attr import ParamAttr as ParamAttr
