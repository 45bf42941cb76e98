"""`fluid.regularizer`."""

from ..legacy.optimizers import L1Decay as L1Decay
from ..legacy.optimizers import L1Decay as L1DecayRegularizer
from ..legacy.optimizers import L2Decay as L2Decay
from ..legacy.optimizers import L2Decay as L2DecayRegularizer
from ..missing_names import explain_missing as _explain_missing

_explain_missing(__name__)
