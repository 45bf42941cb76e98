"""`fluid.optimizer`."""

from ..legacy.optimizers import AdagradOptimizer as Adagrad
from ..legacy.optimizers import AdagradOptimizer as AdagradOptimizer
from ..legacy.optimizers import AdamOptimizer as Adam
from ..legacy.optimizers import AdamOptimizer as AdamOptimizer
from ..legacy.optimizers import MomentumOptimizer as Momentum
from ..legacy.optimizers import MomentumOptimizer as MomentumOptimizer
from ..legacy.optimizers import RMSPropOptimizer as RMSPropOptimizer
from ..legacy.optimizers import SGDOptimizer as SGD
from ..legacy.optimizers import SGDOptimizer as SGDOptimizer
from ..missing_names import explain_missing as _explain_missing

_explain_missing(__name__)
