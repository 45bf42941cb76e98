"""`fluid.backward`."""

from ..static.gradient import append_backward as append_backward
from ..static.gradient import gradients as gradients
