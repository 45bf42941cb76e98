"""`fluid.regularizer`."""

from ..legacy.optimizers import L1Decay as L1Decay
from ..legacy.optimizers import L1Decay as L1DecayRegularizer
from ..legacy.optimizers import L2Decay as L2Decay
from ..legacy.optimizers import L2Decay as L2DecayRegularizer
