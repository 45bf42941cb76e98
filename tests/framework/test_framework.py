import collections
import os
import subprocess
import sys

import numpy as np
import pytest

import dy2st as paddle
from dy2st import unique_name
from dy2st.errors import AttributeValueError, DeviceError


class TestPlaces:
    def test_cpu(self):
        assert (repr(paddle.CPUPlace()), repr(paddle.CUDAPlace(1))) == ("CPUPlace", "CUDAPlace(1)")
        assert paddle.CPUPlace() == paddle.CPUPlace()
        assert paddle.CUDAPlace(0) != paddle.CUDAPlace(1)
        assert len({paddle.CPUPlace(), paddle.CPUPlace()}) == 1
        assert repr(paddle.set_device("cpu")) == "CPUPlace"
        assert paddle.get_device() == "cpu"
        assert paddle.zeros([1]).place.is_cpu_place()

    @pytest.mark.parametrize("name", ["tpu", "cpu:1", "gpu:x", ""])
    def test_unknown_devices(self, name):
        with pytest.raises(DeviceError):
            paddle.set_device(name)
        assert paddle.get_device() == "cpu"

    def test_a_negative_number_is_no_device(self):
        with pytest.raises(DeviceError):
            paddle.CUDAPlace(-1)


class TestRandom:
    def test_the_seed_fixes_the_stream(self):
        paddle.seed(11)
        a = [
            paddle.rand([3]).numpy(),
            paddle.randn([3]).numpy(),
            paddle.randint(0, 9, [3]).numpy(),
            paddle.randperm(5).numpy(),
        ]
        paddle.seed(11)
        b = [
            paddle.rand([3]).numpy(),
            paddle.randn([3]).numpy(),
            paddle.randint(0, 9, [3]).numpy(),
            paddle.randperm(5).numpy(),
        ]
        for x, y in zip(a, b, strict=True):
            np.testing.assert_array_equal(x, y)
        assert (paddle.rand([3]).numpy() != paddle.rand([3]).numpy()).all()

    def test_state(self):
        saved = paddle.get_rng_state()
        a = paddle.rand([2]).numpy()
        paddle.set_rng_state(saved)
        np.testing.assert_array_equal(paddle.rand([2]).numpy(), a)

    def test_distributions(self):
        paddle.seed(1)
        u = paddle.uniform([10000], min=-2.0, max=4.0).numpy()
        assert -2 <= u.min() < -1.9
        assert 3.9 < u.max() < 4
        n = paddle.normal(1.0, 2.0, [10000]).numpy()
        np.testing.assert_allclose([n.mean(), n.std()], [1, 2], atol=0.06)
        n = paddle.normal(paddle.to_tensor([0.0, 100.0]), 1.0).numpy()
        assert n[1] - n[0] > 80
        i = paddle.randint(5, shape=[1000]).numpy()
        assert set(i) == {0, 1, 2, 3, 4}
        assert paddle.randint(-3, 0, [2]).dtype == "int64"
        b = paddle.bernoulli(paddle.full([10000], 0.3)).numpy()
        assert 0.28 < b.mean() < 0.32
        assert sorted(paddle.randperm(100).tolist()) == list(range(100))
        with pytest.raises(ValueError, match="empty"):
            paddle.randint(3, 3)

    def test_multinomial(self):
        paddle.seed(2)
        p = paddle.to_tensor([[0.0, 1.0, 3.0], [1.0, 0.0, 0.0]])
        drawn = paddle.multinomial(p, 4000, replacement=True).numpy()
        assert set(drawn[1]) == {0}
        assert 0.72 < (drawn[0] == 2).mean() < 0.78
        assert sorted(paddle.multinomial(paddle.ones([5]), 5).tolist()) == [0, 1, 2, 3, 4]


class TestNames:
    def test_guard(self):
        with unique_name.guard():
            assert [unique_name.generate("a"), unique_name.generate("a")] == ["a_0", "a_1"]
            with unique_name.guard("scope/"):
                assert unique_name.generate("a") == "scope/a_0"
            assert unique_name.generate("a") == "a_2"

    def test_tensors_have_names(self):
        a, b = paddle.zeros([1]), paddle.zeros([1])
        assert a.name == a.name != b.name


class TestPublicNames:
    def test_all_are_there(self):
        missing = [name for name in dir(paddle) if not hasattr(paddle, name)]
        assert missing == []
        with pytest.raises(AttributeError, match="no attribute 'other'"):
            paddle.other  # noqa: B018

    def test_every_re_export_keeps_its_name(self):
        for module in (paddle, paddle.nn, paddle.nn.functional, paddle.optimizer):
            for name, value in vars(module).items():
                own = getattr(value, "__name__", name).rpartition(".")[2]
                if not name.startswith("_") and own != name:
                    # a second name of the same thing
                    assert getattr(module, own, None) is value, name

    def test_as_paddle(self):
        code = """
import dy2st
dy2st.install_as_paddle()
dy2st.install_as_paddle()
import paddle
import paddle.nn.functional as F
from paddle.nn import Linear
from paddle.optimizer.lr import StepDecay
assert paddle is dy2st and F is dy2st.nn.functional and Linear is dy2st.nn.Linear
import paddle.base as base
from paddle.base.dygraph import to_variable
from paddle.utils import map_structure, unique_name
assert base is paddle.base is dy2st.fluid and base.__spec__.name == "dy2st.fluid" and to_variable is dy2st.fluid.dygraph.to_variable
assert F.__spec__.name == "dy2st.nn.functional" and F.__name__ == "dy2st.nn.functional"
try:
    import paddle.missing
except ModuleNotFoundError as error:
    assert error.name == "paddle.missing"
else:
    raise AssertionError
"""
        subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)

    def test_paddle_itself_is_not_replaced(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "paddle", pytest)
        with pytest.raises(ImportError, match="imported already"):
            paddle.install_as_paddle()

    def test_no_compiler_is_imported_for_eager_mode(self):
        code = "import sys, dy2st; dy2st.ones([2]) + 1; assert not {'numba', 'llvmlite', 'scipy.special'} & set(sys.modules)"
        subprocess.run([sys.executable, "-c", code], check=True)

    def test_kernels_on_the_cpu_are_compiled_without_numba(self, tmp_path):
        code = (
            "import sys, dy2st; dy2st.jit.to_static(dy2st.tanh)(dy2st.ones([4]))\n"
            "assert {'numba', 'llvmlite'} & set(sys.modules) == {'llvmlite'}"
        )
        subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "DY2ST_CACHE_DIR": str(tmp_path)})


def test_accuracy():
    from dy2st.metric import Accuracy, accuracy

    scores = paddle.to_tensor([[0.1, 0.7, 0.2], [0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])
    labels = paddle.to_tensor([1, 1, 0])
    np.testing.assert_allclose(accuracy(scores, labels).item(), 1 / 3, rtol=1e-6)
    np.testing.assert_allclose(accuracy(scores, labels.unsqueeze(1), k=2).item(), 2 / 3, rtol=1e-6)
    metric = Accuracy((1, 2))
    metric.update(metric.compute(scores, labels))
    np.testing.assert_allclose(metric.accumulate(), [1 / 3, 2 / 3])
    metric.reset()
    assert metric.accumulate() == [0, 0]
    assert metric.name() == ["acc_top1", "acc_top2"]


def test_nested_structures():
    from dy2st.utils import flatten, map_structure, pack_sequence_as

    Pair = collections.namedtuple("Pair", "b a")
    nest = {"b": [1, Pair(2, (3,))], "a": "text"}
    assert flatten(nest) == ["text", 1, 2, 3]
    assert flatten(5) == [5]
    packed = pack_sequence_as(nest, [4, 5, 6, 7])
    assert packed == {"b": [5, Pair(6, (7,))], "a": 4}
    assert list(packed) == ["b", "a"]
    assert map_structure(lambda x, y: (x, y), [1, (2,)], [3, (4,)]) == [(1, 3), ((2, 4),)]
    with pytest.raises(AttributeValueError, match="4 entries cannot be made of 2"):
        pack_sequence_as(nest, [1, 2])


def test_names_that_programs_of_others_import(tmp_path):
    from dy2st.jit.translated_layer import INFER_MODEL_SUFFIX, INFER_PARAMS_INFO_SUFFIX, INFER_PARAMS_SUFFIX
    from dy2st.utils import gast

    tree = gast.parse("x = 1")
    assert isinstance(tree.body[0], gast.Assign)
    paddle.jit.save(paddle.nn.Linear(2, 2), tmp_path / "net", [paddle.static.InputSpec([None, 2])])
    suffixes = {INFER_MODEL_SUFFIX, INFER_PARAMS_SUFFIX, INFER_PARAMS_INFO_SUFFIX}
    assert suffixes == {".pdmodel", ".pdiparams", ".pdiparams.info"}
    assert {path.name for path in tmp_path.iterdir()} >= {f"net{suffix}" for suffix in suffixes}
