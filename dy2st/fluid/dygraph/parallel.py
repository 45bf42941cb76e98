"""`fluid.dygraph.parallel`: jobs of several processes, of which there is one."""

from ...distributed.environment import ParallelEnv as ParallelEnv
from ...distributed.parallel import DataParallel as DataParallel
from ...distributed.parallel import ParallelStrategy as ParallelStrategy
from ...distributed.parallel import prepare_context as prepare_context
from ...missing_names import explain_missing as _explain_missing

Env = ParallelEnv

_explain_missing(__name__)
