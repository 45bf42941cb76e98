import io
import os
import pickle
import struct
from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dy2st as paddle
from dy2st import Tensor
from dy2st.errors import DTypeError, FormatError


def round_trip(obj, **kwargs):
    file = io.BytesIO()
    paddle.save(obj, file, **kwargs)
    file.seek(0)
    return paddle.load(file, return_numpy=True)


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"])
def test_arrays(protocol, dtype):
    for shape in ((), (0,), (3,), (2, 3)):
        array = np.ones(shape, dtype)
        found = round_trip({"a": array}, protocol=protocol)["a"]
        assert (found.shape, found.dtype) == (shape, array.dtype)
        np.testing.assert_array_equal(found, array)


def test_layouts():
    array = np.arange(6.0).reshape(2, 3)
    for other in (array.T, np.asfortranarray(array), array[:, ::2], array.astype(">f8")):
        file = io.BytesIO(pickle.dumps({"a": other}, 4))
        found = paddle.load(file, return_numpy=True)["a"]
        np.testing.assert_array_equal(found, other)
        assert found.dtype == np.float64


def test_containers():
    obj = {"n": None, "t": (1, 2.5, "x", True), "l": [np.zeros(2), {"deep": b"bytes"}], 3: 1 << 70}
    found = round_trip(obj)
    np.testing.assert_array_equal(found["l"].pop(0), [0, 0])
    assert found == {"n": None, "t": (1, 2.5, "x", True), "l": [{"deep": b"bytes"}], 3: 1 << 70}


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_as_paddle_writes(protocol):
    """A dict of arrays with the table of names, from any version of Python and NumPy."""
    state = OrderedDict([("fc.weight", np.ones((2, 2), "float32")), ("fc.bias", np.float32(3))])
    state["StructuredToParameterName@@"] = {"fc.weight": "linear_0.w_0", "fc.bias": "linear_0.b_0"}
    found = paddle.load(io.BytesIO(pickle.dumps(state, protocol)))
    assert list(found) == ["fc.weight", "fc.bias"]
    assert (found["fc.weight"].name, found["fc.weight"].tolist()) == ("linear_0.w_0", [[1, 1], [1, 1]])
    assert found["fc.bias"].item() == 3
    single = paddle.load(io.BytesIO(pickle.dumps(("w", np.ones(2)), protocol)))
    assert (single.name, single.tolist()) == ("w", [1, 1])


def test_what_numpy_reads_is_what_was_written():
    file = io.BytesIO()
    paddle.save({"w": Tensor([1.0, 2.0])}, file)
    plain = pickle.loads(file.getvalue())
    assert type(plain["w"]) is np.ndarray
    assert set(plain) == {"w", "StructuredToParameterName@@"}


def test_files(tmp_path):
    path = tmp_path / "deep" / "folder" / "m"
    paddle.save({"w": Tensor([1.0])}, str(path) + ".pdparams")
    assert paddle.load(path)["w"].item() == 1
    assert os.listdir(path.parent) == ["m.pdparams"]
    with pytest.raises(FileNotFoundError):
        paddle.load(tmp_path / "none")


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "m.pdparams"
    paddle.save({"w": Tensor([1.0])}, path)
    with pytest.raises(DTypeError, match=r"object\['f'\]: function"):
        paddle.save({"f": test_files}, path)
    assert paddle.load(path)["w"].item() == 1
    assert os.listdir(tmp_path) == ["m.pdparams"]


@pytest.mark.parametrize("obj", [object(), np.zeros(1, complex), np.array(["a"]), np.array([None])])
def test_only_data_are_saved(obj):
    with pytest.raises(DTypeError, match="cannot be saved"):
        paddle.save({"a": obj}, io.BytesIO())


class Evil:
    def __init__(self, function, *args):
        self.call = function, args

    def __reduce__(self):
        return self.call


ran = []

HOSTILE = {
    "os.system": Evil(os.system, "exit 7"),
    "eval": Evil(eval, "1"),
    "own function": Evil(ran.append, 1),
    "object": object(),
    "object array": np.array([None]),
    "structured array": np.zeros(1, [("a", "f4")]),
    "complex": np.zeros(1, complex),
    "reconstruct of a class": Evil(np.zeros(1).__reduce__()[0], dict, (0,), b"b"),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("protocol", [2, 4])
def test_nothing_is_executed(name, protocol):
    data = pickle.dumps({"a": HOSTILE[name]}, protocol)
    with pytest.raises(FormatError):
        paddle.load(io.BytesIO(data))
    assert ran == []


def opcodes(*parts):
    return b"\x80\x04" + b"".join(parts) + b"."


MALFORMED = {
    "empty": b"",
    "not a pickle": b"hello world",
    "huge memo": opcodes(b"]", b"r" + struct.pack("<I", 0xFFFFFFF0)),
    "persistent id": opcodes(b"Pabc\n"),
    "extension": opcodes(b"\x82\x01"),
    "array without data": pickle.dumps(0).replace(
        b"K\x00", b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85C\x01bt"
    ),
    "deep": opcodes(b"]" * 3000, b"a" * 2999),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_files(name):
    with pytest.raises(FormatError):
        paddle.load(io.BytesIO(MALFORMED[name]))


def test_an_array_whose_data_do_not_fit(tmp_path):
    data = pickle.dumps({"a": np.ones((2, 3), "float32")}, 4)
    place = data.index(b"K\x02K\x03")
    wrong = data[:place] + b"K\x02K\x7f" + data[place + 4 :]
    path = tmp_path / "bad.pdparams"
    path.write_bytes(wrong)
    with pytest.raises(FormatError, match=r"bad\.pdparams.*fit the shape"):
        paddle.load(path)


SAMPLE = pickle.dumps({"w": np.arange(6, dtype="float32").reshape(2, 3), "n": [1, "a"]}, 2)


@given(
    st.lists(st.tuples(st.integers(0, len(SAMPLE) - 1), st.integers(0, 255)), max_size=4), st.integers(0, len(SAMPLE))
)
def test_damaged_files_never_do_more_than_raise(changes, length):
    data = bytearray(SAMPLE)
    for place, value in changes:
        data[place] = value
    try:
        found = paddle.load(io.BytesIO(bytes(data[:length])))
    except FormatError:
        return
    assert is_plain(found)


def is_plain(x):
    """Whether there is nothing but data in what was loaded."""
    if isinstance(x, dict):
        return all(map(is_plain, (*x.keys(), *x.values())))
    if isinstance(x, (list, tuple, set, frozenset)):
        return all(map(is_plain, x))
    return x is None or isinstance(x, (bool, int, float, complex, str, bytes, bytearray, np.ndarray, np.generic, paddle.Tensor))


def test_protocols():
    with pytest.raises(ValueError, match="protocol"):
        paddle.save({}, io.BytesIO(), protocol=1)


def nested(start, opcode, levels, end=b"."):
    """Containers of which each holds the one before twice: a few bytes for 2**levels places."""
    data = b"\x80\x04" + start + b"\x94"
    for i in range(levels):
        held = b"h" + bytes([i])
        both = {"list": b"](%b%be", "tuple": b"%b%b\x86", "dict": b"}(K\x00%bK\x01%bu"}
        data += both[opcode] % (held, held) + b"\x94"
    return data + end


@pytest.mark.parametrize("kind", ["list", "tuple", "dict"])
def test_containers_that_share_cost_what_they_are_long(kind):
    for return_numpy in (True, False):
        found = paddle.load(io.BytesIO(nested(b"]", kind, 60)), return_numpy=return_numpy)
        for _ in range(60):
            assert found[0] is found[1]
            found = found[0]
        assert found == []


@pytest.mark.parametrize("use", [
    b"}h<K\x00s.",  # d[key] = 0
    b"}(h<K\x00u.",
    b"(h<K\x00d.",
    b"\x8f(h<\x90.",  # {key}
    b"(h<\x91.",  # frozenset({key})
    b"ccollections\nOrderedDict\n]h<K\x00\x86a\x85R.",
])  # fmt: skip
def test_a_key_is_no_tree_of_tuples(use):
    """Python would hash each tuple as often as it is there."""
    with pytest.raises(FormatError, match="a key that is a tree of tuples"):
        paddle.load(io.BytesIO(nested(b")", "tuple", 60, use)))


def test_a_container_that_holds_itself():
    with pytest.raises(FormatError, match="holds itself"):
        paddle.load(io.BytesIO(b"\x80\x04]\x94h\x00a."))


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such device")
def test_a_device_is_no_file():
    with pytest.raises(FormatError, match="no regular file"):
        paddle.load("/dev/zero")
