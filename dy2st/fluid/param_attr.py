"""`fluid.param_attr`."""

from ..missing_names import explain_missing as _explain_missing
from ..nn.param_attr import ParamAttr as ParamAttr

_explain_missing(__name__)
