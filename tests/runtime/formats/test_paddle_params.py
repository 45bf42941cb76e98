"""Parameter files: layout, checks before allocation, atomic replacement."""

import contextlib
import io
import os
import struct

import numpy as np
import pytest
from dy2st_runtime.errors import DTypeError, FormatError
from dy2st_runtime.formats import paddle_params as pp
from dy2st_runtime.formats.replacing import replacing
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

DTYPES = ("bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64")


def encoded(array):
    file = io.BytesIO()
    pp.write_tensor(file, array)
    return file.getvalue()


@given(
    st.sampled_from(DTYPES).flatmap(
        lambda d: hnp.arrays(d, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
    )
)
def test_round_trip(array):
    data = encoded(array)
    back, left = pp.read_tensor(io.BytesIO(data), len(data), "t")
    assert left == 0
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert back.tobytes() == array.tobytes()


def test_layout_of_bytes():
    data = encoded(np.array([[1.5, 2.0]], np.float32))
    descriptor = bytes([8, 5, 16, 1, 16, 2])  # data_type FP32, dims 1 and 2
    assert data == struct.pack("<IQIi", 0, 0, 0, 6) + descriptor + struct.pack("<2f", 1.5, 2.0)


def test_other_byte_order_and_strides_are_stored_plainly():
    array = np.arange(6, dtype=">i4").reshape(2, 3).T
    back, _ = pp.read_tensor(io.BytesIO(encoded(array)), 10**6, "t")
    np.testing.assert_array_equal(back, array)


def test_unsupported_dtype():
    with pytest.raises(DTypeError, match="complex64"):
        encoded(np.zeros(2, np.complex64))


def test_lod_is_skipped():
    data = encoded(np.arange(3))
    with_lod = struct.pack("<IQQ", 0, 1, 16) + b"\0" * 16 + data[12:]
    back, left = pp.read_tensor(io.BytesIO(with_lod), len(with_lod), "t")
    assert back.tolist() == [0, 1, 2]
    assert left == 0


def header(dims, data_type=5, version=0, size=None):
    desc = pp.TensorDesc(data_type=data_type, dims=dims).SerializeToString()
    return struct.pack("<IQIi", 0, 0, version, len(desc) if size is None else size) + desc


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "ends 4 bytes early"),
        (struct.pack("<I", 7), "tensor version 7"),
        (struct.pack("<IQ", 0, 2**63), "ends 8 bytes early"),
        (struct.pack("<IQQ", 0, 1, 2**60), "bytes early"),
        (header([1], version=3) + b"\0" * 4, "tensor version 3"),
        (header([1], size=-1), "descriptor of -1 bytes"),
        (header([1], size=2**30), "descriptor of"),
        (struct.pack("<IQIi", 0, 0, 0, 3) + b"\xff\xff\xff", "malformed tensor descriptor"),
        (header([1], data_type=22) + b"\0" * 4, "data type 22"),
        (header([-1, 2]), "malformed shape"),
        (header([1] * 65) + b"\0" * 4, "malformed shape"),
        (header([2**40, 2**40]), "bytes early"),
        (header([0, 2**62, 2**62]), "malformed shape"),
        (header([4], data_type=0) + b"\1\0\2\0", "neither 0 nor 1"),
        (header([3]) + b"\0" * 11, "ends 1 bytes early"),
    ],
)
def test_malformed(data, message):
    with pytest.raises(FormatError, match=message):
        pp.read_tensor(io.BytesIO(data), len(data), "t")


@given(st.binary(max_size=80))
def test_any_bytes(data):
    with contextlib.suppress(FormatError):
        pp.read_tensor(io.BytesIO(data), len(data), "t")


def test_combined_file_is_in_sorted_order(tmp_path):
    path = str(tmp_path / "p")
    with replacing(path) as (file,):
        pp.write_params(file, {"b": np.zeros(2), "a": np.ones(3), "B": np.full(1, 7.0)})
    read = pp.read_params(path, ["a", "b", "B"])
    assert list(read) == ["B", "a", "b"]
    assert [read[n].tolist() for n in read] == [[7.0], [1, 1, 1], [0, 0]]


def test_bytes_left_over(tmp_path):
    path = tmp_path / "p"
    path.write_bytes(encoded(np.zeros(2)) + b"x")
    with pytest.raises(FormatError, match="1 bytes follow the last of 1 tensors"):
        pp.read_params(str(path), ["a"])


def test_a_failed_write_changes_nothing(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text("old")

    def write():
        with replacing(str(first), str(second)) as (one, _):
            one.write(b"new")
            raise KeyError("stop")

    with pytest.raises(KeyError):
        write()
    assert first.read_text() == "old"
    assert os.listdir(tmp_path) == ["a"]


def test_written_files_have_the_usual_mode(tmp_path):
    (tmp_path / "plain").write_text("")
    with replacing(str(tmp_path / "a")):
        pass
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode
