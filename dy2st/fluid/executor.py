"""`fluid.executor`."""

from ..missing_names import explain_missing as _explain_missing
from ..static.executor import Executor as Executor
from ..static.scope import global_scope as global_scope
from ..static.scope import scope_guard as scope_guard

_explain_missing(__name__)
