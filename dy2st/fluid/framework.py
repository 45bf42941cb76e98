"""`fluid.framework`."""

from ..framework.place import CPUPlace as CPUPlace
from ..framework.place import CUDAPinnedPlace as CUDAPinnedPlace
from ..framework.place import CUDAPlace as CUDAPlace
from ..framework.place import is_compiled_with_cuda as is_compiled_with_cuda
from ..missing_names import explain_missing as _explain_missing
from ..static.program import Program as Program
from ..static.program import default_main_program as default_main_program
from ..static.program import default_startup_program as default_startup_program
from ..static.program import name_scope as name_scope
from ..static.program import program_guard as program_guard
from ..tensor import Parameter as Parameter
from ..tensor import Tensor as Variable
from ..tensor.dispatch import in_dynamic_mode as in_dygraph_mode

_explain_missing(__name__)
