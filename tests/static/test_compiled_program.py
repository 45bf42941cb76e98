"""`CompiledProgram` and `ParallelExecutor`, their strategies, and lists of places: all run the Program itself."""

import numpy as np
import pytest

import dy2st as paddle
import dy2st.fluid as fluid
from dy2st import static
from dy2st.errors import AttributeValueError, ModeError, WorldError

X = np.ones([2, 3], "float32")


@pytest.fixture
def doubled():
    main = static.Program()
    with static.program_guard(main, static.Program()), static.amp.fp16_guard():
        y = static.data("x", [None, 3]) * 2.0
    return main, y


def test_the_executor_runs_the_program(doubled):
    main, y = doubled
    build, execution = static.BuildStrategy(), static.ExecutionStrategy()
    build.fuse_elewise_add_act_ops = True
    build.reduce_strategy = static.BuildStrategy.ReduceStrategy.Reduce
    execution.num_threads = 4
    compiled = static.CompiledProgram(main, build_strategy=build).with_data_parallel("loss", exec_strategy=execution)
    (found,) = static.Executor().run(compiled, feed={"x": X}, fetch_list=[y])
    assert (found == 2).all()


@pytest.mark.parametrize("feed", [{"x": X}, [{"x": X}]])
def test_parallel_executor(doubled, feed):
    main, y = doubled
    executor = fluid.ParallelExecutor(use_cuda=False, main_program=main, exec_strategy=fluid.ExecutionStrategy())
    (found,) = executor.run([y.name], feed=feed)
    assert (found == 2).all()
    executor.drop_local_exe_scopes()
    with pytest.raises(WorldError, match="feeds for 2"):
        executor.run([y], feed=[{"x": X}] * 2)


def test_what_cannot_be_had(doubled):
    main, _ = doubled
    with pytest.raises(AttributeError, match="no setting 'fuse_all'"):
        static.BuildStrategy().fuse_all = True
    with pytest.raises(ModeError, match="takes a Program"):
        static.CompiledProgram("main")
    with pytest.raises(WorldError, match="one place"):
        static.CompiledProgram(main).with_data_parallel(places=static.cpu_places(2))
    with pytest.raises(WorldError, match="trainer 1 of 2"):
        fluid.ParallelExecutor(False, main_program=main, num_trainers=2, trainer_id=1)


def test_places(monkeypatch):
    monkeypatch.delenv("CPU_NUM", raising=False)
    assert static.cpu_places() == [paddle.CPUPlace()]
    monkeypatch.setenv("CPU_NUM", "3")
    assert len(static.cpu_places()) == 3
    assert static.cuda_places([1]) == [paddle.CUDAPlace(1)]
    with pytest.raises(AttributeValueError, match="1 or more"):
        static.cpu_places(0)
