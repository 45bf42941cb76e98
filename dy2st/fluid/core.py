"""`fluid.core`: the names of the native part that Python code asks for."""

from ..device import is_compiled_with_rocm as is_compiled_with_rocm
from ..device import is_compiled_with_xpu as is_compiled_with_xpu
from ..framework.place import CPUPlace as CPUPlace
from ..framework.place import CUDAPinnedPlace as CUDAPinnedPlace
from ..framework.place import CUDAPlace as CUDAPlace
from ..framework.place import is_compiled_with_cuda as is_compiled_with_cuda
from ..missing_names import explain_missing as _explain_missing
from ..static.scope import Scope as Scope

_explain_missing(__name__)
