"""Datasets and loaders: orders and batches as PaddlePaddle 3.3.1 gives them."""

import numpy as np
import pytest

import dy2st as paddle
from dy2st import jit
from dy2st.errors import AttributeValueError, ModeError, ShapeError
from dy2st.io import (
    BatchSampler,
    DataLoader,
    Dataset,
    DistributedBatchSampler,
    IterableDataset,
    RandomSampler,
    SequenceSampler,
    Subset,
    TensorDataset,
    random_split,
)  # fmt: skip


class Pairs(Dataset):
    def __init__(self, n=7):
        self.n = n

    def __getitem__(self, i):
        return np.full([2], i, np.float32), i

    def __len__(self):
        return self.n


class Stream(IterableDataset):
    def __iter__(self):
        return iter([np.full([2], i, np.float32) for i in range(5)])


def firsts(loader):
    return [batch[1].numpy().tolist() for batch in loader]


def test_batches():
    loader = DataLoader(Pairs(), batch_size=3)
    images, labels = next(iter(loader))
    assert (images.shape, images.dtype, labels.dtype) == ([3, 2], "float32", "int64")
    assert firsts(loader) == firsts(loader()) == [[0, 1, 2], [3, 4, 5], [6]]
    assert (len(loader), len(DataLoader(Pairs(), batch_size=3, drop_last=True))) == (3, 2)
    assert firsts(DataLoader(Pairs(), batch_sampler=BatchSampler(Pairs(), batch_size=5, drop_last=True))) == [[0, 1, 2, 3, 4]]
    assert firsts(DataLoader(Subset(Pairs(), [3, 1]), batch_size=2)) == [[3, 1]]
    ((image, label), _) = DataLoader(Pairs(2), batch_size=None)
    assert (image.shape, label) == ([2], 0)


def test_what_is_put_together():
    class Dicts(Pairs):
        def __getitem__(self, i):
            return {"x": np.full([2], i), "y": i * 0.5, "name": str(i), "both": (i, paddle.to_tensor([i]))}

    (batch,) = DataLoader(Dicts(2), batch_size=2)
    assert batch["x"].numpy().tolist() == [[0, 0], [1, 1]]
    assert (batch["y"].dtype, batch["name"]) == ("float64", ["0", "1"])
    assert [t.shape for t in batch["both"]] == [[2], [2, 1]]
    (batch,) = DataLoader(Pairs(2), batch_size=2, collate_fn=lambda samples: (np.stack([x for x, _ in samples]), len(samples)))
    assert (batch[0].shape, batch[1]) == ([2, 2], 2)
    (batch,) = DataLoader(TensorDataset([paddle.arange(4), np.arange(8.0).reshape(4, 2)]), batch_size=4)
    assert [t.shape for t in batch] == [[4], [4, 2]]
    assert [b.shape for b in DataLoader(Stream(), batch_size=2)] == [[2, 2], [2, 2], [1, 2]]
    assert [b.shape for b in DataLoader(Stream(), batch_size=2, drop_last=True)] == [[2, 2], [2, 2]]
    with pytest.raises(TypeError, match="samples of class set"):
        next(iter(DataLoader([{1}, {2}], batch_size=2)))


def test_orders():
    np.random.seed(3)
    assert firsts(DataLoader(Pairs(), batch_size=3, shuffle=True)) == [[4, 6, 5], [3, 1, 0], [2]]
    assert list(BatchSampler(sampler=SequenceSampler("abc"), batch_size=2)) == [[0, 1], [2]]
    assert len(list(RandomSampler("abc", replacement=True, num_samples=5))) == 5
    parts = random_split(Pairs(), [4, 3])
    assert sorted([*parts[0].indices, *parts[1].indices]) == list(range(7))
    assert [len(p) for p in parts] == [4, 3]
    ranks = [list(DistributedBatchSampler(Pairs(), 2, 2, rank)) for rank in range(2)]
    assert ranks == [[[0, 1], [4, 5]], [[2, 3], [6, 0]]]
    sampler = DistributedBatchSampler(Pairs(), 7, shuffle=True)
    orders = [list(sampler), list(sampler)]
    sampler.set_epoch(0)
    assert orders[0] != orders[1]
    assert list(sampler) == orders[0]


@pytest.mark.parametrize("make", [
    lambda: DataLoader(Stream(), shuffle=True), lambda: DataLoader(Pairs(), batch_sampler=BatchSampler(Pairs()), batch_size=2),
    lambda: len(DataLoader(Stream(), batch_size=2)), lambda: BatchSampler(), lambda: BatchSampler(Pairs(), batch_size=0),
    lambda: RandomSampler("ab", num_samples=3), lambda: random_split(Pairs(), [1, 2]), lambda: TensorDataset([[1], [1, 2]]),
])  # fmt: skip
def test_what_does_not_fit(make):
    with pytest.raises(AttributeValueError):
        make()


def test_a_loader_is_not_read_in_a_static_function():
    loader = DataLoader(Pairs(), batch_size=3)

    @jit.to_static
    def total():
        found = paddle.zeros([2])
        for images, _ in loader:
            found = found + images.sum(0)
        return found

    with pytest.raises(ModeError, match="would keep those of now") as caught:
        total()
    assert "for images, _ in loader" in str(caught.value)


class Ragged(Dataset):
    def __init__(self, make):
        self.make = make

    def __getitem__(self, i):
        return self.make(i)

    def __len__(self):
        return 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda i: np.zeros(i + 1, "float32"), r"have the shapes \[1\], \[2\], \[3\]"),
        (lambda i: paddle.zeros([2, i]), r"have the shapes \[2, 0\], \[2, 1\], \[2, 2\]"),
        (lambda i: (np.zeros([2, i]), i), r"have the shapes \[2, 0\], \[2, 1\], \[2, 2\]"),
        (lambda i: {"x": np.zeros(i)}, r"have the shapes \[0\], \[1\], \[2\]"),
        (lambda i: {f"x{i // 2}": 1.0}, r"have the keys \['x0'\], \['x0'\], \['x1'\]"),
        (lambda i: [1.0] * (i + 1), "have numbers of fields 1, 2, 3"),
    ],
)
def test_samples_that_cannot_be_stacked(make, message):
    with pytest.raises(ShapeError, match=message) as caught:
        list(DataLoader(Ragged(make), batch_size=3))
    assert "collate_fn" in caught.value.hint
    assert len(list(DataLoader(Ragged(make), batch_size=1))) == 3
    assert len(list(DataLoader(Ragged(make), batch_size=3, collate_fn=lambda batch: len(batch)))) == 1
