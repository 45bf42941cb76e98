"""`fleet.meta_parallel` in one process."""

import numpy as np
import pytest

import dy2st as paddle
import dy2st.nn.functional as F
from dy2st.distributed.fleet import meta_parallel as mpu
from dy2st.errors import AttributeValueError, StagedValueError, WorldError


class Head(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.table = mpu.VocabParallelEmbedding(10, 4)
        self.up = mpu.ColumnParallelLinear(4, 6, gather_output=False)
        self.down = mpu.RowParallelLinear(6, 5, input_is_parallel=True)
        self.loss = mpu.ParallelCrossEntropy(ignore_index=1)

    def forward(self, words, labels):
        return self.loss(self.down(self.up(self.table(words))), labels)


@pytest.mark.parametrize("wrap", [lambda f: f, paddle.jit.to_static], ids=["eager", "static"])
def test_layers(wrap):
    head = Head()
    assert [n for n, _ in head.named_parameters()] == ["table.weight", "up.weight", "down.weight", "down.bias"]
    words, labels = paddle.to_tensor([[3, 9, 0]]), paddle.to_tensor([[2, 1, 4]])
    loss = wrap(head)(words, labels)
    logits = F.linear(head.table.weight[words] @ head.up.weight, head.down.weight, head.down.bias)
    expected = F.cross_entropy(logits, labels, reduction="none", ignore_index=1)
    np.testing.assert_allclose(loss.numpy()[..., 0], expected.numpy().reshape([1, 3]), rtol=1e-5)
    loss.sum().backward()
    assert head.up.weight.grad.shape == [4, 6]


def test_several_processes(monkeypatch):
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "4")
    with pytest.raises(WorldError):
        mpu.RowParallelLinear(2, 2)


def test_random_states():
    tracker = mpu.get_rng_state_tracker()
    mpu.model_parallel_random_seed(7)
    outer = [paddle.rand([2]).tolist()]
    with tracker.rng_state():
        inner = [paddle.rand([2]).tolist()]
    saved = tracker.get_states_tracker()
    outer.append(paddle.rand([2]).tolist())
    with tracker.rng_state():
        inner.append(paddle.rand([2]).tolist())
    for seed, found in ((7, outer), (8, inner)):
        paddle.seed(seed)
        assert [paddle.rand([2]).tolist() for _ in range(2)] == found
    tracker.set_states_tracker(saved)
    with tracker.rng_state():
        assert paddle.rand([2]).tolist() == inner[1]
    with pytest.raises(AttributeValueError, match="no state 'other'"), tracker.rng_state("other"):
        pass
    with pytest.raises(AttributeValueError, match="seed 8"):
        tracker.add("other", 8)


def test_a_static_function_refuses_named_states():
    mpu.model_parallel_random_seed(7)

    @paddle.jit.to_static
    def f(x):
        with mpu.get_rng_state_tracker().rng_state():
            return F.dropout(x)

    with pytest.raises(StagedValueError, match="state of the random generator"):
        f(paddle.ones([3]))
