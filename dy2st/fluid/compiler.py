"""`fluid.compiler`: Programs for `Executor.run`, which compiles them in any case."""

from ..missing_names import explain_missing as _explain_missing
from ..static.compiled_program import BuildStrategy as BuildStrategy
from ..static.compiled_program import CompiledProgram as CompiledProgram
from ..static.compiled_program import ExecutionStrategy as ExecutionStrategy

_explain_missing(__name__)
