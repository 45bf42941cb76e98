"""Meshes and placements in one process."""

import numpy as np
import pytest

import dy2st as paddle
import dy2st.distributed as dist
from dy2st.errors import AttributeValueError, ModeError


def test_a_mesh():
    mesh = dist.ProcessMesh([[0]], dim_names=["dp", "mp"])
    assert (mesh.shape, mesh.ndim, mesh.process_ids, mesh.get_dim_size("mp")) == ([1, 1], 2, [0], 1)
    assert mesh == dist.ProcessMesh(shape=[1, 1], process_ids=[0])
    dist.set_mesh(mesh)
    assert dist.get_mesh() is mesh
    with pytest.raises(AttributeValueError, match="no dim 'pp'"):
        mesh.get_dim_size("pp")
    with pytest.raises(AttributeValueError, match="1 dims cannot have 2 names"):
        dist.ProcessMesh([0], ["dp", "mp"])


def test_placements():
    shard, whole, parts = dist.Shard(1), dist.Replicate(), dist.Partial(dist.ReduceType.kRedAvg)
    assert [p.is_shard() for p in (shard, whole, parts)] == [True, False, False]
    assert (shard.is_shard(0), shard.get_dim(), whole.is_replicated(), parts.is_partial()) == (False, 1, True, True)
    assert (shard == dist.Shard(1), shard == dist.Shard(0), len({dist.Replicate(), whole})) == (True, False, 1)


@pytest.mark.parametrize("wrap", [lambda f: f, paddle.jit.to_static], ids=["eager", "static"])
def test_tensors_are_whole(wrap):
    mesh = dist.ProcessMesh([0], dim_names=["x"])

    @wrap
    def f(x):
        y = dist.shard_tensor(x, mesh, [dist.Shard(0)]) * 2
        return dist.unshard_dtensor(dist.reshard(y, mesh, [dist.Replicate()]))

    x = paddle.ones([2])
    x.stop_gradient = False
    y = f(x)
    y.sum().backward()
    assert (y.tolist(), x.grad.tolist()) == ([2, 2], [2, 2])
    made = dist.dtensor_from_fn(paddle.zeros, mesh, [dist.Replicate()], [3])
    assert made.shape == [3]
    assert not dist.shard_tensor(np.ones([2]), mesh, [dist.Shard(0)], dtype="float32", stop_gradient=False).stop_gradient


def test_layers_and_optimizers():
    mesh, seen = dist.ProcessMesh([0]), []
    net = paddle.nn.Sequential(paddle.nn.Linear(2, 2, bias_attr=False))
    plain = net(paddle.ones([1, 2])).numpy()
    sharded = dist.shard_layer(
        net,
        mesh,
        shard_fn=lambda name, layer, mesh: seen.append(name),
        input_fn=lambda inputs, mesh: (inputs[0] * 2,),
        output_fn=lambda outputs, mesh: outputs * 3,
    )
    assert (sharded is net, seen) == (True, ["", "0"])
    np.testing.assert_allclose(net(paddle.ones([1, 2])).numpy(), plain * 6, rtol=1e-5)
    sgd = paddle.optimizer.SGD(parameters=net.parameters())
    assert dist.shard_optimizer(sgd) is sgd
    with pytest.raises(ModeError, match="over 4 steps"):
        dist.shard_optimizer(sgd, gradient_accumulation_steps=4)
