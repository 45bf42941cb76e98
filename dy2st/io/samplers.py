"""In which order samples are taken, and how many together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..errors import AttributeValueError


class Sampler:
    """Numbers of samples in some order: a subclass has `__iter__`."""

    def __init__(self, data_source: Any = None):
        self.data_source = data_source

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} has no __iter__")

    def __len__(self) -> int:
        return len(self.data_source)


class SequenceSampler(Sampler):
    """0, 1, 2, ...

    >>> list(SequenceSampler("abc"))
    [0, 1, 2]
    """

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))


class RandomSampler(Sampler):
    """A random order, drawn anew from `np.random` each time.

    Args:
        replacement: a number may come more than once.
        num_samples: how many; default: all.
        generator: gives the numbers itself.
    """

    def __init__(self, data_source: Any, replacement: bool = False, num_samples: int | None = None, generator: Any = None):
        super().__init__(data_source)
        self.replacement, self.generator = replacement, generator
        self.num_samples = len(data_source) if num_samples is None else num_samples
        if self.num_samples > len(data_source) and not replacement:
            raise AttributeValueError(f"{self.num_samples} of {len(data_source)} samples cannot be taken without replacement")

    def __iter__(self) -> Iterator[int]:
        if self.generator is not None:
            return iter([int(next(self.generator)) for _ in range(self.num_samples)])
        return iter(np.random.choice(np.arange(len(self.data_source)), self.num_samples, replace=self.replacement).tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of the numbers of samples.

    Args:
        dataset, shuffle: its samples in order, or in a random one; or a `sampler` instead.
        batch_size: how many numbers are in a list.
        drop_last: leaves out a last list that is shorter.

    >>> list(BatchSampler("abcde", batch_size=2))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, dataset: Any = None, sampler: Iterable[int] | None = None, shuffle: bool = False, batch_size: int = 1,
                 drop_last: bool = False) -> None:  # fmt: skip
        if (dataset is None) == (sampler is None):
            raise AttributeValueError("a BatchSampler takes either a dataset or a sampler")
        if batch_size < 1:
            raise AttributeValueError(f"batch_size must be positive, got {batch_size}")
        super().__init__(dataset)
        default = RandomSampler if shuffle else SequenceSampler
        self.sampler: Any = default(dataset) if sampler is None else sampler
        self.batch_size, self.drop_last = batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        batch: list[int] = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        return (len(self.sampler) + (0 if self.drop_last else self.batch_size - 1)) // self.batch_size


class DistributedBatchSampler(BatchSampler):
    """The batches of one of several processes, which have equally many: the first samples come again at the end. One process by default.

    Args:
        num_replicas, rank: how many processes, and which one this is.
        shuffle: an order that depends on `set_epoch`, the same in all processes.
    """

    def __init__(self, dataset: Any, batch_size: int, num_replicas: int | None = None, rank: int | None = None,
                 shuffle: bool = False, drop_last: bool = False) -> None:  # fmt: skip
        super().__init__(dataset, None, False, batch_size, drop_last)
        self.nranks, self.local_rank = num_replicas or 1, rank or 0
        self.shuffle, self.epoch = shuffle, 0
        self.num_samples = -(-len(dataset) // self.nranks)
        self.total_size = self.num_samples * self.nranks
        self.sampler = self

    def __iter__(self) -> Iterator[Any]:
        order = np.arange(len(self.data_source)).tolist()
        order += order[: self.total_size - len(order)]
        if self.shuffle:
            np.random.RandomState(self.epoch).shuffle(order)
            self.epoch += 1
        if self.nranks > 1:
            order = self._own(order)
        batches = [order[i : i + self.batch_size] for i in range(0, len(order), self.batch_size)]
        return iter(batches[:-1] if batches and self.drop_last and len(batches[-1]) < self.batch_size else batches)

    def _own(self, order: list[int]) -> list[int]:
        """Of each round of batches the one of this process; what is left is shared out evenly."""
        rest = self.total_size % (self.batch_size * self.nranks)
        own: list[int] = []
        for i in range(self.local_rank * self.batch_size, len(order) - rest, self.batch_size * self.nranks):
            own += order[i : i + self.batch_size]
        share = rest // self.nranks
        last = order[len(order) - rest :]
        return own + last[self.local_rank * share : (self.local_rank + 1) * share]

    def __len__(self) -> int:
        return (self.num_samples + (0 if self.drop_last else self.batch_size - 1)) // self.batch_size

    def set_epoch(self, epoch: int) -> None:
        """The order of the next round is that of this epoch."""
        self.epoch = epoch
