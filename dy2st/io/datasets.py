"""Where samples come from."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import AttributeValueError


class Dataset:
    """Samples by their numbers: a subclass has `__getitem__` and `__len__`."""

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no __getitem__")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} has no __len__")


class IterableDataset(Dataset):
    """Samples one after the other: a subclass has `__iter__`."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} has no __iter__")


class TensorDataset(Dataset):
    """The rows of tensors or arrays of one length.

    Raises:
        AttributeValueError: the lengths differ.

    >>> TensorDataset([[1, 2], [3, 4]])[1]
    (2, 4)
    """

    def __init__(self, tensors: Sequence[Any]):
        if len({len(t) for t in tensors}) > 1:
            raise AttributeValueError(f"the tensors of a TensorDataset have lengths {[len(t) for t in tensors]}")
        self.tensors = tensors

    def __getitem__(self, index: int) -> Any:
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])


class Subset(Dataset):
    """Some samples of a dataset, by their numbers."""

    def __init__(self, dataset: Any, indices: Sequence[int]):
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: int) -> Any:
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[int], generator: Any = None) -> list[Subset]:
    """A dataset in parts of given lengths, at random by `np.random`. `generator` has no effect.

    Raises:
        AttributeValueError: the lengths do not add up to that of the dataset.
    """
    if sum(lengths) != len(dataset):
        raise AttributeValueError(f"the lengths {list(lengths)} do not add up to {len(dataset)}, that of the dataset")
    order = np.random.permutation(sum(lengths)).tolist()
    ends = list(itertools.accumulate(lengths))
    return [Subset(dataset, order[end - n : end]) for end, n in zip(ends, lengths, strict=True)]
