"""Datasets, and batches of them: what a training loop reads."""

from ..missing_names import explain_missing as _explain_missing
from .datasets import Dataset as Dataset
from .datasets import IterableDataset as IterableDataset
from .datasets import Subset as Subset
from .datasets import TensorDataset as TensorDataset
from .datasets import random_split as random_split
from .loader import DataLoader as DataLoader
from .loader import default_collate_fn as default_collate_fn
from .samplers import BatchSampler as BatchSampler
from .samplers import DistributedBatchSampler as DistributedBatchSampler
from .samplers import RandomSampler as RandomSampler
from .samplers import Sampler as Sampler
from .samplers import SequenceSampler as SequenceSampler

_explain_missing(__name__)
