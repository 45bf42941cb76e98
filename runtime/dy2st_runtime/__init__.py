"""dy2st's runtime: all that a deployed model needs. It never imports dy2st."""

from .formats import InferenceModel as InferenceModel
from .formats import load_inference_model as load_inference_model
from .formats import save_inference_model as save_inference_model
from .predictor import Predictor as Predictor
from .predictor import TensorInfo as TensorInfo
