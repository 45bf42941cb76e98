"""`paddle.inference`: Config, Predictor and its handles."""

import re
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest
from dy2st_runtime.threads import get_num_threads, set_num_threads

import dy2st as paddle
from dy2st import inference
from dy2st.errors import AttributeValueError, DeviceError, DTypeError, FeedError, FetchError
from dy2st.inference import config as configs

PAGE = Path(__file__).parent.parent.parent / "docs" / "howto" / "deploy.md"


class Scores(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = paddle.nn.Linear(3, 2)

    def forward(self, x):
        y = self.fc(x)
        if y.sum() > 0:
            y = y * 2
        return y, y.argmax(-1)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    net = Scores()
    path = str(tmp_path_factory.mktemp("model") / "net")
    paddle.jit.save(net, path, input_spec=[paddle.static.InputSpec([None, 3], "float32", "x")])
    return path, net


def config_of(path):
    return inference.Config(path + ".pdmodel", path + ".pdiparams")


X = np.arange(12, dtype="float32").reshape(4, 3)


class TestPredictor:
    def test_a_run_by_handles(self, saved):
        path, net = saved
        config = config_of(path)
        config.disable_gpu()
        config.enable_memory_optim()
        config.switch_ir_optim(True)
        config.disable_glog_info()
        predictor = inference.create_predictor(config)
        (name,) = predictor.get_input_names()
        handle = predictor.get_input_handle(name)
        assert (name, handle.shape(), handle.type(), handle.lod()) == ("x", [0], inference.DataType.FLOAT32, [])
        handle.reshape([4, 3])
        assert handle.shape() == [4, 3]
        handle.copy_from_cpu(X)
        assert predictor.run() is None
        scores, best = map(predictor.get_output_handle, predictor.get_output_names())
        np.testing.assert_allclose(scores.copy_to_cpu(), net(paddle.to_tensor(X))[0].numpy(), rtol=1e-5)
        assert (scores.shape(), best.type()) == ([4, 2], inference.DataType.INT64)

    def test_a_run_of_tensors(self, saved):
        path, net = saved
        predictor = inference.create_predictor(config_of(path))
        scores, best = predictor.run([paddle.to_tensor(X)])
        assert isinstance(scores, paddle.Tensor)
        np.testing.assert_allclose(scores.numpy(), net(paddle.to_tensor(X))[0].numpy(), rtol=1e-5)
        assert predictor.get_output_handle(predictor.get_output_names()[1]).copy_to_cpu().tolist() == best.tolist()

    def test_copied_and_shared_data(self, saved):
        predictor = inference.create_predictor(config_of(saved[0]))
        handle, out = predictor.get_input_handle("x"), predictor.get_output_handle(predictor.get_output_names()[0])
        data = X.copy()
        handle.copy_from_cpu(data)
        data[:] = 0
        predictor.run()
        copied = out.copy_to_cpu()
        data[:] = X
        handle.share_external_data(data)
        data[:] = 0
        predictor.run()
        assert np.abs(copied - out.copy_to_cpu()).max() > 0.1
        handle.copy_from_cpu(np.asfortranarray(X))
        predictor.run()
        assert (out.copy_to_cpu() == copied).all()

    @pytest.mark.parametrize("form", ["prefix", "folder", "other names", "buffers", "copy", "set_model"])
    def test_forms_of_a_model(self, saved, form, tmp_path):
        path, _ = saved
        if form == "prefix":
            config = inference.Config(path)
            assert config.model_dir() == path
        elif form in ("buffers", "set_model", "copy"):
            config = inference.Config()
            files = [path + ".pdmodel", path + ".pdiparams"]
            if form == "buffers":
                program, params = (Path(file).read_bytes() for file in files)
                config.set_model_buffer(program, len(program), params, len(params))
                assert config.model_from_memory()
            else:
                config.set_model(*files)
                assert (config.prog_file(), config.params_file(), config.model_dir()) == (*files, "")
            config = inference.Config(config) if form == "copy" else config
        else:
            names = ("__model__", "__params__") if form == "folder" else ("a.pdmodel", "b.bin")
            for name, suffix in zip(names, (".pdmodel", ".pdiparams"), strict=True):
                shutil.copy(path + suffix, tmp_path / name)
            config = inference.Config(*(str(tmp_path / name) for name in names))
        assert inference.create_predictor(config).run([X])[0].shape == [4, 2]

    def test_clones_and_pools(self, saved):
        predictor = inference.create_predictor(config_of(saved[0]))
        expected = predictor.run([X])[0].numpy()
        other = predictor.clone()
        with pytest.raises(FeedError, match="not fed: x"):
            other.run()  # it has handles of its own
        pool = inference.PredictorPool(config_of(saved[0]), 3)
        results = [None] * 3

        def work(i):
            one = pool.retrieve(i)
            one.get_input_handle("x").copy_from_cpu(X[: i + 1])
            one.run()
            results[i] = one.get_output_handle(one.get_output_names()[0]).copy_to_cpu()

        threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
        for action in ("start", "join"):
            for thread in threads:
                getattr(thread, action)()
        assert [r.shape for r in results] == [(1, 2), (2, 2), (3, 2)]
        assert predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu().tolist() == expected.tolist()
        with pytest.raises(AttributeValueError, match="0 to 2"):
            pool.retrive(3)

    def test_what_does_not_fit(self, saved):
        predictor = inference.create_predictor(config_of(saved[0]))
        handle = predictor.get_input_handle("x")
        with pytest.raises(FeedError, match="no input 'y', it has: x"):
            predictor.get_input_handle("y")
        with pytest.raises(FetchError, match="no output 'y'"):
            predictor.get_output_handle("y")
        with pytest.raises(FetchError, match="no value"):
            predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
        with pytest.raises(DTypeError, match="NumPy array, got list"):
            handle.copy_from_cpu([1.0])
        handle.copy_from_cpu(X.astype("float64"))
        with pytest.raises(FeedError, match="float64"):
            predictor.run()
        with pytest.raises(AttributeValueError, match="no model"):
            inference.create_predictor(inference.Config())
        with pytest.raises(FileNotFoundError):
            inference.create_predictor(inference.Config("/no/model.pdmodel", "/no/model.pdiparams"))
        with pytest.raises(AttributeValueError, match="levels of detail"):
            handle.set_lod([[0, 1]])


class TestConfig:
    def test_threads(self, saved):
        before = get_num_threads()
        config = config_of(saved[0])
        assert config.cpu_math_library_num_threads() == before
        config.set_cpu_math_library_num_threads(1)
        try:
            inference.create_predictor(config)
            assert get_num_threads() == config.cpu_math_library_num_threads() == 1
            assert re.search(r"cpu_math_thread\s+1\n", config.summary())
        finally:
            set_num_threads(0)
        with pytest.raises(AttributeValueError, match="threads"):
            config.set_cpu_math_library_num_threads(0)

    @pytest.mark.parametrize("installed", [True, False])
    def test_gpu(self, monkeypatch, installed, recwarn):
        monkeypatch.setattr(configs, "is_compiled_with_cuda", lambda: installed)
        config = inference.Config("net")
        config.enable_use_gpu(200, 0)
        assert (config.use_gpu(), config.memory_pool_init_size_mb()) == (installed, 200)
        assert [str(w.message) for w in recwarn] == ([] if installed else ["no CUDA support is installed: the model runs on the CPU"])
        with pytest.raises(DeviceError, match="GPU 0"):
            config.enable_use_gpu(200, 1)

    def test_switches(self):
        config = inference.Config("net")
        for name in configs.WITHOUT_EFFECT:
            assert getattr(config, name)(False) is None
        assert not config.ir_optim()
        with pytest.warns(RuntimeWarning, match="TensorRT is not here"):
            config.enable_tensorrt_engine(workspace_size=1 << 30, precision_mode=inference.PrecisionType.Half)
        assert not config.tensorrt_engine_enabled()
        with pytest.raises(DeviceError, match="enable_xpu"):
            config.enable_xpu()

    def test_the_page_has_all_switches(self):
        text = PAGE.read_text(encoding="utf-8")
        assert [name for name in (*configs.WITHOUT_EFFECT, *configs.WITH_A_WARNING, *configs.REFUSED) if f"`{name}`" not in text] == []


def test_kinds_and_versions():
    assert inference.Config.Precision.Int8 is inference.PrecisionType.Int8
    sizes = {kind.name: inference.get_num_bytes_of_data_type(kind) for kind in inference.DataType}
    assert (sizes["FLOAT32"], sizes["BFLOAT16"], sizes["BOOL"], inference.PlaceType.GPU) == (4, 2, 1, 1)
    assert inference.get_version().startswith("version: 2.6.2\n")
    assert inference.get_trt_runtime_version() == inference.get_trt_compile_version() == (0, 0, 0)
