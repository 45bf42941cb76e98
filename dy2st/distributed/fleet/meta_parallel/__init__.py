"""`fleet.meta_parallel`: layers whose weights are divided among processes; in one process each has the whole."""

from __future__ import annotations

from ....missing_names import explain_missing as _explain_missing
from .layers import ColumnParallelLinear as ColumnParallelLinear
from .layers import ParallelCrossEntropy as ParallelCrossEntropy
from .layers import RowParallelLinear as RowParallelLinear
from .layers import VocabParallelEmbedding as VocabParallelEmbedding
from .random_states import RNGStatesTracker as RNGStatesTracker
from .random_states import get_rng_state_tracker as get_rng_state_tracker
from .random_states import model_parallel_random_seed as model_parallel_random_seed

_explain_missing(__name__)
