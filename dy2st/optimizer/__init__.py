"""Optimizers and schedules of the learning rate."""

from ..missing_names import explain_missing as _explain_missing
from . import lr as lr
from .optimizer import Optimizer as Optimizer
from .optimizers import SGD as SGD
from .optimizers import Adadelta as Adadelta
from .optimizers import Adagrad as Adagrad
from .optimizers import Adam as Adam
from .optimizers import Adamax as Adamax
from .optimizers import AdamW as AdamW
from .optimizers import Momentum as Momentum
from .optimizers import RMSProp as RMSProp

_explain_missing(__name__)
