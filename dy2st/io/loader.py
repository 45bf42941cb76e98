"""Batches of samples as tensors."""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import AttributeValueError, ModeError, ShapeError
from ..tensor import Tensor, creation, dispatch, manipulation
from ..tensor.location import user_location
from .datasets import IterableDataset
from .samplers import BatchSampler


def default_collate_fn(batch: Sequence[Any]) -> Any:
    """Samples as one batch: arrays, numbers and tensors are stacked, the fields of lists, tuples and dicts each for itself.

    Raises:
        TypeError: samples of another class.
        ShapeError: samples of unequal shapes, or of other fields.

    >>> default_collate_fn([(np.array([1.0]), 2), (np.array([3.0]), 4)])
    [array([[1.],
           [3.]]), array([2, 4])]
    """
    sample = batch[0]
    if isinstance(sample, (np.ndarray, Tensor)):
        _require_alike("the shapes", [list(np.shape(x)) if not isinstance(x, Tensor) else x.shape for x in batch])
        return np.stack(batch) if isinstance(sample, np.ndarray) else manipulation.stack(list(batch))
    if isinstance(sample, numbers.Number):
        return np.array(batch)
    if isinstance(sample, (str, bytes)):
        return batch
    if isinstance(sample, Mapping):
        _require_alike("the keys", [sorted(map(str, d)) for d in batch])
        return {key: default_collate_fn([d[key] for d in batch]) for key in sample}
    if isinstance(sample, Sequence):
        _require_alike("numbers of fields", [len(x) for x in batch])
        return [default_collate_fn(field) for field in zip(*batch, strict=True)]
    raise TypeError(f"samples of class {type(sample).__name__} cannot be put together: give a collate_fn")


def _require_alike(what: str, found: list[Any]) -> None:
    """ShapeError where samples differ in what has to be equal in all."""
    if any(x != found[0] for x in found):
        first = ", ".join(map(str, found[:8])) + (f", ... (of {len(found)})" if len(found) > 8 else "")
        raise ShapeError(f"the samples of a batch have {what} {first}, so they cannot be stacked",
                         hint="give DataLoader a collate_fn that makes a batch of a list of samples: pad them, say")  # fmt: skip


def _as_tensors(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return creation.to_tensor(x)
    if isinstance(x, Mapping):
        return {key: _as_tensors(v) for key, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [_as_tensors(v) for v in x]
    return x


class DataLoader:
    """Batches of a dataset as tensors, one after the other, loaded in this process.

    Args:
        dataset: a `Dataset`, an `IterableDataset`, or anything with items and a length.
        batch_size: how many samples are in a batch; None: samples come one by one, as they are.
        shuffle, drop_last: see `BatchSampler`; or a `batch_sampler` instead.
        collate_fn: makes a batch of a list of samples; default: `default_collate_fn`.
        feed_list, places, return_list, num_workers, use_buffer_reader: of PaddlePaddle's signature, without effect.
        reader_buffer_size, prefetch_factor, use_shared_memory: the same.
        timeout, worker_init_fn, persistent_workers: the same.

    Raises:
        AttributeValueError: the arguments do not fit together.
        ModeError: it is asked for batches in static mode or in a static function, whose trace would keep them.

    >>> [x.numpy().tolist() for x in DataLoader(np.arange(3), batch_size=2)]
    [[0, 1], [2]]
    """

    def __init__(self, dataset: Any, feed_list: Any = None, places: Any = None, return_list: bool = True, batch_sampler: Any = None,
                 batch_size: int | None = 1, shuffle: bool = False, drop_last: bool = False,
                 collate_fn: Callable[[list[Any]], Any] | None = None, num_workers: int = 0, use_buffer_reader: bool = True,
                 reader_buffer_size: int = 2, prefetch_factor: int = 2, use_shared_memory: bool = True, timeout: int = 0,
                 worker_init_fn: Any = None, persistent_workers: bool = False) -> None:  # fmt: skip
        self.dataset, self.num_workers, self.return_list = dataset, num_workers, return_list
        self.batch_size, self.drop_last, self.collate_fn = batch_size, drop_last, collate_fn or default_collate_fn
        is_stream = isinstance(dataset, IterableDataset)
        if batch_sampler is not None and (batch_size != 1 or shuffle or drop_last or is_stream):
            raise AttributeValueError("with a batch_sampler DataLoader takes no batch_size, shuffle or drop_last, and no IterableDataset")
        if shuffle and is_stream:
            raise AttributeValueError("an IterableDataset cannot be shuffled")
        self.batch_sampler = batch_sampler
        if batch_sampler is None and batch_size is not None and not is_stream:
            self.batch_sampler = BatchSampler(dataset, None, shuffle, batch_size, drop_last)

    def __len__(self) -> int:
        if self.batch_sampler is None and isinstance(self.dataset, IterableDataset):
            raise AttributeValueError("how many batches an IterableDataset gives is not known")
        return len(self.dataset if self.batch_sampler is None else self.batch_sampler)

    def __iter__(self) -> Iterator[Any]:
        if not dispatch.in_dynamic_mode():
            raise ModeError("a DataLoader gives batches in dynamic mode only: a trace, or a program, would keep those of now",
                            location=user_location(2), hint="loop over it outside, and pass the batches")  # fmt: skip
        return map(_as_tensors, self._batches())

    def __call__(self) -> Iterator[Any]:
        return iter(self)

    def _batches(self) -> Iterator[Any]:
        if self.batch_sampler is not None:
            return (self.collate_fn([self.dataset[i] for i in indices]) for indices in self.batch_sampler)
        samples = iter(self.dataset) if isinstance(self.dataset, IterableDataset) else (self.dataset[i] for i in range(len(self.dataset)))
        if self.batch_size is None:
            return samples
        return self._grouped(samples, self.batch_size)

    def _grouped(self, samples: Iterator[Any], size: int) -> Iterator[Any]:
        while batch := list(itertools.islice(samples, size)):
            if len(batch) == size or not self.drop_last:
                yield self.collate_fn(batch)
