"""`paddle.distributed` and `fleet` in a job of one process."""

import runpy
import sys

import numpy as np
import pytest

import dy2st as paddle
import dy2st.distributed as dist
from dy2st.distributed import fleet
from dy2st.distributed.communication import stream
from dy2st.distributed.fleet.utils import LocalFS, hybrid_parallel_util
from dy2st.errors import AttributeValueError, ModeError, WorldError


class Signed(paddle.nn.Layer):
    """A branch on data, which only a converted `forward` has in a static function."""

    def __init__(self):
        super().__init__()
        self.fc = paddle.nn.Linear(2, 3)

    def forward(self, x):
        return self.fc(x) if x.sum() > 0 else -self.fc(x)


def either(function):
    return pytest.mark.parametrize("wrap", [lambda f: f, paddle.jit.to_static], ids=["eager", "static"])(function)


class TestEnvironment:
    def test_who_this_is(self):
        env = dist.ParallelEnv()
        assert (env.rank, env.local_rank, env.world_size, env.nranks, env.dev_id) == (0, 0, 1, 1, 0)
        assert (dist.get_rank(), dist.get_world_size(), dist.is_available()) == (0, 1, True)
        assert dist.init_parallel_env().nranks == 1
        assert not dist.is_initialized()  # as in PaddlePaddle, where one process initializes nothing

    def test_groups(self):
        group = dist.new_group([0])
        assert dist.get_group(group.id) is group
        assert (dist.get_group().ranks, group.rank, group.get_group_rank(0), group.get_group_rank(3)) == ([0], 0, 0, -1)
        dist.destroy_process_group(group)
        with pytest.raises(AttributeValueError, match="no group"):
            dist.get_group(group.id)

    @pytest.mark.parametrize(
        "call",
        [
            dist.get_rank,
            dist.ParallelEnv,
            dist.init_parallel_env,
            fleet.init,
            lambda: dist.all_reduce(paddle.ones([1])),
            lambda: paddle.DataParallel(paddle.nn.Linear(1, 1)),
            lambda: dist.spawn(print),
            paddle.fluid.dygraph.prepare_context,
        ],
    )
    def test_a_larger_world_is_an_error(self, monkeypatch, call):
        monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
        with pytest.raises(WorldError, match="the job has 2 processes"):
            call()

    @pytest.mark.parametrize(
        "call",
        [
            lambda: dist.new_group([0, 1]),
            lambda: dist.spawn(print, nprocs=2),
            lambda: dist.broadcast(paddle.ones([1]), 1),
            lambda: dist.send(paddle.ones([1]), 1),
            lambda: dist.irecv(paddle.ones([1])),
            lambda: dist.P2POp(dist.isend, paddle.ones([1]), 1),
            lambda: dist.ProcessMesh([0, 1]),
            lambda: dist.ProcessMesh([1]),
            lambda: dist.launch(["--nproc_per_node", "2", "train.py"]),
            lambda: dist.launch(["--gpus", "0,1", "train.py"]),
            lambda: fleet.UserDefinedRoleMaker(worker_num=2),
            fleet.run_server,
        ],
    )
    def test_there_is_nobody_else(self, call):
        with pytest.raises(WorldError):
            call()


class TestCollectives:
    @either
    def test_what_one_process_gives_is_the_result(self, wrap):
        @wrap
        def f(x):
            dist.all_reduce(x, op=dist.ReduceOp.AVG).wait()
            dist.reduce(x, 0)
            dist.broadcast(x, src=0)
            dist.barrier()
            gathered, exchanged, part, single = [], [], paddle.zeros_like(x), paddle.zeros_like(x)
            if x.sum() > 0:
                dist.all_gather(gathered, x)
            else:
                dist.gather(x * 2, gathered, dst=0)
            dist.alltoall([x * 3], exchanged)
            dist.scatter(part, [x + 1])
            stream.alltoall(single, x * 4)
            return gathered[0], exchanged[0], part, single

        for sign in (1, -1):
            x = np.array([sign, 2 * sign], "float32")
            expected = [x if sign > 0 else 2 * x, 3 * x, x + 1, 4 * x]
            assert [r.tolist() for r in f(paddle.to_tensor(x))] == [e.tolist() for e in expected]

    @either
    def test_gradients(self, wrap):
        """A tensor that stays keeps its gradient; one that is received has none."""

        @wrap
        def f(x):
            y, received = x * 2, []
            dist.all_reduce(y)
            dist.all_gather(received, y)
            return (y + received[0]).sum()

        x = paddle.ones([3])
        x.stop_gradient = False
        f(x).backward()
        assert x.grad.tolist() == [2, 2, 2]

    def test_a_received_tensor_is_a_copy(self):
        x, empty, filled = paddle.ones([2]), [], [paddle.zeros([2])]
        dist.all_gather(empty, x)
        same = filled[0]
        stream.all_gather(filled, x)
        x[0] = 7
        assert (empty[0].tolist(), same.tolist()) == ([1, 1], [1, 1])

    def test_objects(self):
        thing, found, out = {"a": [1]}, [], [None]
        dist.all_gather_object(found, thing)
        dist.broadcast_object_list(found, 0)
        dist.scatter_object_list(out, [thing])
        thing["a"].append(2)
        assert found == out == [{"a": [1]}]

    def test_the_order_of_alltoall_is_asked_for(self):
        x = paddle.ones([1])
        with pytest.raises(AttributeValueError, match="by name"):
            dist.alltoall([x], [x])
        with pytest.raises(AttributeValueError, match="got 2"):
            dist.scatter(x, [x, x])
        with pytest.raises(AttributeValueError, match="ReduceOp"):
            dist.all_reduce(x, "sum")

    def test_split_in_a_program(self):
        with pytest.raises(ModeError, match=r"nn\.Linear"):
            dist.split(paddle.ones([1, 2]), (2, 3), "linear")
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            x, i = paddle.static.data("x", [None, 2]), paddle.static.data("i", [None], "int64")
            fetches = [dist.split(x, (2, 3), "linear", axis=1), dist.split(i, (5, 3), "embedding")]
        exe = paddle.static.Executor()
        exe.run(startup)
        results = exe.run(main, feed={"x": np.ones([4, 2], "float32"), "i": np.arange(5)}, fetch_list=fetches)
        assert [r.shape for r in results] == [(4, 3), (5, 3)]


class TestDataParallel:
    def test_names_are_those_of_paddle(self):
        net = Signed()
        model = paddle.DataParallel(net)
        assert [n for n, _ in model.named_parameters()] == ["_layers.fc.weight", "_layers.fc.bias"]
        assert list(model.state_dict()) == ["fc.weight", "fc.bias"]
        assert model.full_name().startswith(f"{net.full_name()}_data_parallel")
        assert model._layers is net
        model.set_state_dict({"fc.weight": np.ones([2, 3]), "fc.bias": np.zeros([3])})
        assert net.fc.weight.numpy().all()

    def test_static_and_eager_agree(self):
        model = paddle.DataParallel(Signed())
        x = paddle.to_tensor([[1.0, 2.0]])
        eager = [model(x).numpy(), model(-x).numpy()]
        static = paddle.jit.to_static(model)
        np.testing.assert_allclose([static(x).numpy(), static(-x).numpy()], eager, rtol=1e-6)

    @either
    def test_a_step(self, wrap):
        model = paddle.DataParallel(Signed(), find_unused_parameters=True)
        sgd = paddle.optimizer.SGD(0.5, parameters=model.parameters())
        before = model._layers.fc.bias.numpy().copy()

        @wrap
        def step(x):
            with model.no_sync():
                loss = model.scale_loss(model(x).sum())
            loss.backward()
            model.apply_collective_grads()
            sgd.step()
            sgd.clear_grad()
            return loss

        step(paddle.ones([4, 2]))
        np.testing.assert_allclose(model._layers.fc.bias.numpy(), before - 2, rtol=1e-6)

    def test_names_of_the_first_version(self):
        dygraph = paddle.fluid.dygraph
        assert dygraph.parallel.Env().nranks == 1
        model = dygraph.DataParallel(Signed(), dygraph.prepare_context())
        assert isinstance(model, paddle.DataParallel)


class TestFleet:
    def test_a_job(self):
        strategy = fleet.DistributedStrategy()
        strategy.hybrid_configs = {"dp_degree": 1, "mp_degree": 1}
        strategy.amp = True  # of the static mode
        fleet.init(is_collective=True, strategy=strategy)
        net = paddle.nn.Linear(2, 1)
        sgd = paddle.optimizer.SGD(parameters=net.parameters())
        assert fleet.distributed_model(net) is net
        assert fleet.distributed_optimizer(sgd) is sgd
        assert (fleet.worker_index(), fleet.worker_num(), fleet.is_first_worker(), fleet.is_server()) == (0, 1, True, False)
        assert fleet.util.get_file_shard(["a", "b"]) == ["a", "b"]
        hcg = fleet.get_hybrid_communicate_group()
        assert (hcg.get_model_parallel_world_size(), hcg.get_data_parallel_rank(), hcg.get_pipe_parallel_group().ranks) == (1, 0, [0])
        hybrid_parallel_util.fused_allreduce_gradients(net.parameters(), hcg)

    def test_settings_that_ask_for_more(self):
        strategy = fleet.DistributedStrategy()
        strategy.hybrid_configs = {"mp_degree": 2}
        with pytest.raises(WorldError, match="mp_degree of hybrid_configs asks for 2"):
            fleet.init(strategy=strategy)

    def test_settings_that_change_a_program(self):
        strategy = fleet.DistributedStrategy()
        strategy.gradient_merge, strategy.gradient_merge_configs = True, {"k_steps": 4}
        with paddle.static.program_guard(paddle.static.Program()), pytest.raises(ModeError, match="gradient_merge"):
            fleet.distributed_optimizer(paddle.optimizer.SGD(), strategy)

    def test_unknown_settings(self):
        strategy = fleet.DistributedStrategy()
        with pytest.raises(AttributeError, match="no setting 'gradient_merg'"):
            strategy.gradient_merg = True
        with pytest.raises(AttributeValueError, match="no entry 'k_step'"):
            strategy.gradient_merge_configs = {"k_step": 4}
        assert fleet.DistributedStrategy().gradient_merge_configs["k_steps"] == 1  # the defaults are nobody's to change

    def test_recompute(self):
        net = Signed()

        @paddle.jit.to_static
        def loss(x):
            return fleet.utils.recompute(net, x, use_reentrant=False, preserve_rng_state=True).sum()

        loss(paddle.ones([2, 2])).backward()
        assert net.fc.bias.grad.tolist() == [2, 2, 2]

    def test_a_grid_of_ranks(self):
        grid = fleet.CommunicateTopology(["data", "pipe", "model"], [2, 2, 2])
        assert (grid.world_size(), grid.get_dim("pipe"), grid.get_rank(data=1, pipe=0, model=1)) == (8, 2, 5)
        assert tuple(grid.get_coord(6)) == (1, 1, 0)
        assert grid.get_axis_list("pipe", 0) == [0, 1, 4, 5]
        assert grid.get_comm_list("model") == [[0, 1], [2, 3], [4, 5], [6, 7]]
        assert grid.get_fused_ranks(["data", "model"]) == [[0, 1, 4, 5], [2, 3, 6, 7]]
        assert grid.get_rank_from_stage(5, pipe=1) == 7

    def test_files(self, tmp_path):
        fs = LocalFS()
        fs.mkdirs(str(tmp_path / "a" / "b"))
        fs.touch(str(tmp_path / "a" / "f"))
        assert fs.ls_dir(str(tmp_path / "a")) == (["b"], ["f"])
        with pytest.raises(FileExistsError):
            fs.mv(str(tmp_path / "a" / "f"), str(tmp_path / "a" / "b"))
        fs.delete(str(tmp_path / "a"))
        assert not fs.is_exist(str(tmp_path / "a"))


class TestSharding:
    def test_model_and_optimizer_stay(self, tmp_path):
        net = paddle.nn.Linear(2, 1)
        adam = paddle.optimizer.Adam(parameters=net.parameters())
        assert dist.sharding.group_sharded_parallel(net, adam, "os_g") == (net, adam, None)
        dist.sharding.save_group_sharded_model(net, tmp_path, adam)
        assert set(paddle.load(str(tmp_path / "model.pdmodel"))) == {"weight", "bias"}
        assert (tmp_path / "model.pdopt").exists()
        with pytest.raises(AttributeValueError, match="level"):
            dist.sharding.group_sharded_parallel(net, adam, "all")


def test_a_script_is_launched(tmp_path, monkeypatch, capsys):
    (tmp_path / "helper.py").write_text("word = 'trained'")
    script = tmp_path / "train.py"
    script.write_text("import sys, helper\nif __name__ == '__main__':\n    print(helper.word, sys.argv[1:])")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "argv", ["launch", "--gpus", "0", "--log_dir", "x", str(script), "--lr", "0.1"])
    runpy.run_module("dy2st.distributed.launch", run_name="__main__")
    assert capsys.readouterr().out == "trained ['--lr', '0.1']\n"
    assert dist.spawn(print, ("once",), nprocs=1).join()
