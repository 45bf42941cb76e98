"""`fluid.executor`."""

from ..static.executor import Executor as Executor
from ..static.scope import global_scope as global_scope
from ..static.scope import scope_guard as scope_guard
