"""`paddle.incubate`: names of which PaddlePaddle has a kernel of its own. Here they are compositions, which the compiler fuses."""

from __future__ import annotations

from ..missing_names import explain_missing as _explain_missing
from . import nn as nn
from .masked_softmax import softmax_mask_fuse as softmax_mask_fuse
from .masked_softmax import softmax_mask_fuse_upper_triangle as softmax_mask_fuse_upper_triangle

_explain_missing(__name__)
