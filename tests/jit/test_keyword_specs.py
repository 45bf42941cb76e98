"""`input_spec` of what is passed by name only."""

import numpy as np
import pytest
from dy2st_runtime import Predictor

import dy2st as paddle
from dy2st import jit
from dy2st.errors import FeedError
from dy2st.jit import InputSpec
from dy2st.tensor import Tensor

A, B, C = (np.full(2, v, "float32") for v in (1.0, 2.0, 4.0))


class ByName(paddle.nn.Layer):
    def forward(self, a, **k):
        y = a + k["b"]
        if y.sum() > 0:
            y = y * k["c"]
        return y


class Only(paddle.nn.Layer):
    def forward(self, a, *, b, c=None):
        return (a + b) * (1.0 if c is None else c)


def spec(name):
    return InputSpec([None], "float32", name)


@pytest.mark.parametrize("layer", [ByName, Only])
def test_a_dict_behind_the_others(tmp_path, layer):
    net = layer()
    jit.save(net, tmp_path / "net", [spec("first"), {"b": spec("second"), "c": spec(None)}])
    predictor = Predictor(tmp_path / "net")
    third = predictor.inputs[2].name
    assert [i.name for i in predictor.inputs[:2]] == ["first", "second"]
    np.testing.assert_array_equal(predictor.run({"first": A, "second": B, third: C})[0], (A + B) * C)
    np.testing.assert_array_equal(jit.load(tmp_path / "net")(A, B, C).numpy(), (A + B) * C)


@pytest.mark.parametrize("layer", [ByName, Only])
def test_of_to_static(layer):
    net = jit.to_static(layer(), input_spec=[spec("first"), {"b": spec("second"), "c": spec("third")}])
    a, b, c = map(paddle.to_tensor, (A, B, C))
    np.testing.assert_array_equal(net(a, b=b, c=c).numpy(), (A + B) * C)
    np.testing.assert_array_equal(net(a, c=c, b=b).numpy(), (A + B) * C)


def test_what_may_be_left_out(tmp_path):
    jit.save(Only(), tmp_path / "net", [spec("a"), {"b": spec("b")}])
    np.testing.assert_array_equal(Predictor(tmp_path / "net").run([A, B])[0], A + B)


@pytest.mark.parametrize(
    ("layer", "specs", "message"),
    [
        (ByName, [spec("a"), spec("b")], "input_spec has 2 entries for 1 argument and those by name"),
        (ByName, [spec("a"), {"b": spec("b")}, spec("c")], "input_spec has 3 entries for 1 argument and those by name"),
        (ByName, [spec("a"), {"a": spec("b")}], "input_spec has 2 entries for 1 argument and those by name"),
        (Only, [spec("a"), {"d": spec("b")}], "input_spec has 2 entries for 1 argument and those by name"),
        (Only, [spec("a")], "input_spec says nothing of argument 'b'"),
    ],
)
def test_what_does_not_fit(tmp_path, layer, specs, message):
    with pytest.raises(FeedError, match=message) as caught:
        jit.save(layer(), tmp_path / "net", specs)
    assert "a dict" in caught.value.hint


def test_a_spec_without_a_dtype_takes_any():
    f = jit.to_static(lambda x, y: (x * 2, y), input_spec=[InputSpec([None], name="left"), {"inner": InputSpec([2])}])
    for dtype in ("float32", "int64", "float64", "bool"):
        x = Tensor([1, 1], dtype)
        made, passed = f(x, {"inner": x})
        assert (made.dtype, passed["inner"].dtype) == ((x * 2).dtype, dtype)
        assert [(v.name, v.dtype, v.shape) for v in f.inputs[:1]] == [("left", dtype, (-1,))]
    assert len(f.program_cache) == 4
    with pytest.raises(FeedError, match=r"argument 'x' is float32\[1, 2\], its InputSpec says float32\[\?\]"):
        f(Tensor([[1.0, 2.0]]), {"inner": x})
    g = jit.to_static(lambda x: x * 2, input_spec=[InputSpec([None], "float32")])
    with pytest.raises(FeedError, match="its InputSpec says float32"):
        g(Tensor([1, 2]))
    assert g.main_program is not f.main_program
    assert jit.to_static(lambda x: x, input_spec=[InputSpec([None])]).inputs[0].dtype == "float32"
