"""`fluid.io`."""

from ..legacy.io import load_params as load_params
from ..legacy.io import load_persistables as load_persistables
from ..legacy.io import save_inference_model as save_inference_model
from ..legacy.io import save_params as save_params
from ..legacy.io import save_persistables as save_persistables
from ..missing_names import explain_missing as _explain_missing
from ..static.io import load_inference_model as load_inference_model

_explain_missing(__name__)
