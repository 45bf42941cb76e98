"""`fluid.clip`."""

from ..missing_names import explain_missing as _explain_missing
from ..nn.clip import ClipGradByGlobalNorm as GradientClipByGlobalNorm
from ..nn.clip import ClipGradByNorm as GradientClipByNorm
from ..nn.clip import ClipGradByValue as GradientClipByValue

_explain_missing(__name__)
