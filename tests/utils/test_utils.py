"""`paddle.utils`, `paddle.version` and `paddle.sysconfig`."""

import hashlib

import numpy as np
import pytest

import dy2st as paddle
from dy2st import utils
from dy2st.errors import AttributeValueError, CustomOpError, DeviceError, DTypeError
from dy2st.utils import cpp_extension, dlpack, download


def test_run_check(capsys):
    utils.run_check()
    assert "dy2st is installed successfully!" in capsys.readouterr().out


class TestVersions:
    @pytest.mark.parametrize("versions", [("2.0",), ("2.6.2",), ("0.1", "3"), ("2.6", "2.6.2")])
    def test_new_enough(self, versions):
        utils.require_version(*versions)

    @pytest.mark.parametrize(
        ("versions", "error", "text"),
        [
            (("2.7",), RuntimeError, "PaddlePaddle 2.7 or higher is required; dy2st has the names of 2.6.2"),
            (("1.0", "2.5"), RuntimeError, "from 1.0 to 2.5"),
            (("2.x",), ValueError, "one to four numbers"),
            ((2,), TypeError, "min_version must be a str"),
        ],
    )
    def test_not(self, versions, error, text):
        with pytest.raises(error, match=text):
            utils.require_version(*versions)

    def test_names(self, capsys):
        version = paddle.version
        assert ".".join([version.major, version.minor, version.patch]) == version.full_version == "2.6.2"
        assert paddle.__version__ in version.commit
        assert (version.cuda(), version.cudnn(), version.xpu(), version.mkl()) == ("False", "False", "False", "OFF")
        version.show()
        assert "full_version: 2.6.2\nmajor: 2\n" in capsys.readouterr().out


class TestDeprecated:
    def test_levels(self):
        marks = [utils.deprecated(update_to="new", since="2.0", reason="It is slow.", level=level) for level in range(3)]
        silent, loud, gone = (mark(lambda x: x + 1) for mark in marks)
        assert silent(1) == 2
        with pytest.warns(UserWarning, match=r"Deprecated since 2\.0\. Use `new`\. It is slow\."):
            assert loud(1) == 2
        with pytest.raises(RuntimeError, match="Deprecated since"):
            gone(1)

    def test_in_a_static_function(self):
        @utils.deprecated(update_to="new", level=1)
        def signed(x):
            if x.sum() > 0:
                return x
            return -x

        @paddle.jit.to_static
        def f(x):
            return signed(x) * 2

        with pytest.warns(UserWarning, match="Use `new`"):
            assert f(paddle.ones([2])).tolist() == f(-paddle.ones([2])).tolist() == [2, 2]


def test_try_import():
    assert utils.try_import("numpy.linalg") is np.linalg
    with pytest.raises(ImportError, match="pip install no_such_thing"):
        utils.try_import("no_such_thing.inner")
    with pytest.raises(ImportError, match=r"^get it$"):
        utils.try_import("no_such_thing", "get it")


class TestDlpack:
    @pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
    def test_there_and_back(self, dtype):
        x = paddle.to_tensor(np.arange(6).reshape(2, 3).astype(dtype))
        if dtype == "bool" and np.lib.NumpyVersion(np.__version__) < "1.25.0":
            pytest.skip("NumPy gives no bool by DLPack")
        y = dlpack.from_dlpack(dlpack.to_dlpack(x))
        assert (y.dtype, y.tolist()) == (dtype, x.tolist())

    def test_arrays_are_copied(self):
        array = np.ones([2], "float32")
        x = dlpack.from_dlpack(array)
        array[0] = 5
        assert x.tolist() == [1, 1]

    def test_what_cannot_be_read(self):
        capsule = dlpack.to_dlpack(paddle.ones([1]))
        dlpack.from_dlpack(capsule)
        for wrong in (capsule, [1]):  # one that was used
            with pytest.raises(AttributeValueError):
                dlpack.from_dlpack(wrong)
        with pytest.raises(AttributeValueError, match="copy=False"):
            dlpack.from_dlpack(np.ones([1]), copy=False)
        with pytest.raises(DTypeError, match="got ndarray"):
            dlpack.to_dlpack(np.ones([1]))


@pytest.mark.parametrize("name", ["CppExtension", "CUDAExtension", "load", "setup", "get_build_directory"])
def test_operators_in_cpp_name_what_serves(name):
    arguments = {"CppExtension": (["a.cc"],), "CUDAExtension": (["a.cu"],), "load": ("a", ["a.cc"])}.get(name, ())
    with pytest.raises(CustomOpError, match=r"dy2st\.custom_op"):
        getattr(cpp_extension, name)(*arguments)


def test_there_is_nothing_to_compile_with():
    for call in (paddle.sysconfig.get_include, paddle.sysconfig.get_lib):
        with pytest.raises(DeviceError, match=r"dy2st\.custom_op"):
            call()


def test_weights_that_are_there(tmp_path, monkeypatch):
    monkeypatch.setattr(download, "WEIGHTS_HOME", str(tmp_path))
    url = "https://example.com/some/net.pdparams?x=1"
    with pytest.raises(FileNotFoundError, match="does not use the network"):
        download.get_weights_path_from_url(url)
    (tmp_path / "net.pdparams").write_bytes(b"w")
    assert download.get_weights_path_from_url(url, hashlib.md5(b"w").hexdigest()) == str(tmp_path / "net.pdparams")
    with pytest.raises(AttributeValueError, match="MD5"):
        download.get_weights_path_from_url(url, "0")
