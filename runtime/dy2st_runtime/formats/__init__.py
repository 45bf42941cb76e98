"""Models on disk, in PaddlePaddle's formats. A model file is data: reading one never executes anything."""

from .inference_model import InferenceModel as InferenceModel
from .inference_model import load_inference_model as load_inference_model
from .inference_model import save_inference_folder as save_inference_folder
from .inference_model import save_inference_model as save_inference_model
from .paddle_program import program_from_bytes as program_from_bytes
from .paddle_program import program_to_bytes as program_to_bytes
from .paddle_program import program_to_text as program_to_text
from .paddle_program import variable_to_text as variable_to_text
