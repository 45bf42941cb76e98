"""Programs built by hand: what is between `data` and `Executor.run`."""

from dy2st_runtime.ir import Variable as Variable
from dy2st_runtime.scope import Scope as Scope

from ..missing_names import explain_missing as _explain_missing
from ..nn.parameter import create_parameter as create_parameter
from . import amp as amp
from . import nn as nn
from .averaging import ExponentialMovingAverage as ExponentialMovingAverage
from .compiled_program import BuildStrategy as BuildStrategy
from .compiled_program import CompiledProgram as CompiledProgram
from .compiled_program import ExecutionStrategy as ExecutionStrategy
from .executor import Executor as Executor
from .gradient import append_backward as append_backward
from .gradient import gradients as gradients
from .input import create_global_var as create_global_var
from .input import data as data
from .input_spec import InputSpec as InputSpec
from .io import load_inference_model as load_inference_model
from .io import save_inference_model as save_inference_model
from .nn import accuracy as accuracy
from .places import cpu_places as cpu_places
from .places import cuda_places as cuda_places
from .program import Program as Program
from .program import default_main_program as default_main_program
from .program import default_startup_program as default_startup_program
from .program import disable_static as disable_static
from .program import enable_static as enable_static
from .program import name_scope as name_scope
from .program import program_guard as program_guard
from .scope import global_scope as global_scope
from .scope import scope_guard as scope_guard

_explain_missing(__name__)
