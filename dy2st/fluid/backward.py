"""`fluid.backward`."""

from ..missing_names import explain_missing as _explain_missing
from ..static.gradient import append_backward as append_backward
from ..static.gradient import gradients as gradients

_explain_missing(__name__)
