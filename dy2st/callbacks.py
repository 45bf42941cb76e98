"""PaddlePaddle's name for what `Model.fit` calls."""

from .hapi.callbacks import Callback as Callback
from .hapi.callbacks import EarlyStopping as EarlyStopping
from .hapi.callbacks import LRScheduler as LRScheduler
from .hapi.callbacks import ModelCheckpoint as ModelCheckpoint
from .hapi.callbacks import ProgBarLogger as ProgBarLogger
from .hapi.callbacks import ReduceLROnPlateau as ReduceLROnPlateau
from .missing_names import explain_missing as _explain_missing

_explain_missing(__name__)
