import copy
import math

import numpy as np
import pytest

import dy2st as paddle
from dy2st import Tensor
from dy2st.errors import DTypeError, InplaceError, OutOfRangeError, ShapeError


class TestCreation:
    @pytest.mark.parametrize(
        ("data", "dtype"),
        [
            (1, "int64"), (1.5, "float32"), (True, "bool"), ([1, 2], "int64"), ([1.0, 2], "float32"), ([True], "bool"),
            (np.float64(1.5), "float64"), (np.zeros(2), "float64"), (np.zeros(2, "float16"), "float16"),
            ([np.zeros(2), np.ones(2)], "float64"), (np.int32(3), "int32"), ([], "float32"),
        ],
    )  # fmt: skip
    def test_the_dtype_is_that_of_the_data(self, data, dtype):
        t = paddle.to_tensor(data)
        assert t.dtype == dtype
        assert t.stop_gradient
        np.testing.assert_array_equal(t.numpy(), np.asarray(data))

    def test_the_default_dtype_is_that_of_python_floats(self):
        try:
            paddle.set_default_dtype("float64")
            assert paddle.to_tensor(1.5).dtype == "float64"
            assert paddle.zeros([1]).dtype == "float64"
            assert (paddle.to_tensor([1]) + 0.5).dtype == "float64"
        finally:
            paddle.set_default_dtype("float32")
        with pytest.raises(DTypeError, match="floating-point"):
            paddle.set_default_dtype("int32")

    def test_the_data_are_copied_in_and_out(self):
        a = np.zeros(2, "float32")
        t = paddle.to_tensor(a)
        a[:] = 1
        out = t.numpy()
        out[:] = 2
        np.asarray(t)[:] = 3
        np.testing.assert_array_equal(t.numpy(), [0, 0])

    @pytest.mark.parametrize("data", ["text", {"a": 1}, None, [object()], 1j, [1, None], [[1, 2], "a"], [[1], [1, None]]])
    def test_what_is_no_array_is_an_error(self, data):
        with pytest.raises(DTypeError):
            paddle.to_tensor(data)

    def test_rows_of_other_lengths_are_an_error(self):
        with pytest.raises(ShapeError, match="rows that differ in length"):
            paddle.to_tensor([[1], [1, 2]])

    def test_an_element_by_index(self):
        x = paddle.to_tensor([[1, 2], [3, 4]])
        assert [x.item(2), x.item(-1), x.item(0, 1), x.item((1, 0)), x[0, 0].item(0)] == [3, 4, 2, 3, 1]
        for indices, error in (((4,), OutOfRangeError), ((0, 2), OutOfRangeError), ((0, 0, 0), ShapeError), ((0.5,), DTypeError)):
            with pytest.raises(error):
                x.item(*indices)

    def test_sizes_and_axes_are_tensors_of_integers(self):
        x = paddle.ones([2, 3])
        for f in (paddle.zeros, x.sum, x.unsqueeze, x.reshape, lambda n: paddle.tile(x, [n, 1])):
            for n in (paddle.to_tensor(1.0), paddle.to_tensor(True)):
                with pytest.raises(DTypeError, match=f"must be integers, got a {n.dtype} tensor"):
                    f(n)

    @pytest.mark.parametrize("dtype", [paddle.to_tensor(1), np.ones(2), np.float32(1)])
    def test_what_is_no_dtype(self, dtype):
        with pytest.raises(DTypeError, match="is no dtype"):
            paddle.ones([1], dtype)

    def test_a_list_of_tensors(self):
        t = paddle.to_tensor([paddle.to_tensor(1.0), paddle.to_tensor(2.0)])
        np.testing.assert_array_equal(t.numpy(), np.array([1, 2], "float32"))
        assert t.dtype == "float32"

    def test_functions(self):
        np.testing.assert_array_equal(paddle.arange(5).numpy(), np.arange(5))
        assert paddle.arange(0, 1, 0.25).dtype == "float32"
        np.testing.assert_array_equal(paddle.arange(5, 0, -2).numpy(), [5, 3, 1])
        np.testing.assert_array_equal(paddle.full([2, 1], 3, "int32").numpy(), [[3], [3]])
        np.testing.assert_array_equal(paddle.eye(2, 3).numpy(), np.eye(2, 3))
        np.testing.assert_allclose(paddle.linspace(0, 1, 5).numpy(), np.linspace(0, 1, 5))
        np.testing.assert_array_equal(paddle.zeros_like(paddle.ones([2], "int32")).numpy(), [0, 0])
        np.testing.assert_array_equal(paddle.diag(paddle.to_tensor([1, 2])).numpy(), np.diag([1, 2]))
        np.testing.assert_array_equal(paddle.tril(paddle.ones([3, 3])).numpy(), np.tril(np.ones((3, 3))))
        assert paddle.zeros([paddle.to_tensor(2), 3]).shape == [2, 3]
        assert paddle.ones(paddle.to_tensor([2, 3])).shape == [2, 3]
        with pytest.raises(DTypeError, match="integers"):
            paddle.zeros([1.5])


class TestNumbers:
    def test_conversions(self):
        t = paddle.to_tensor([2.5])
        assert (float(t), int(t), bool(t), t.item(), t.tolist()) == (2.5, 2, True, 2.5, [2.5])
        assert [10, 20, 30][paddle.to_tensor(1)] == 20
        assert list(range(paddle.to_tensor(3))) == [0, 1, 2]
        assert f"{paddle.to_tensor(1.23456):.2f}" == "1.23"
        assert paddle.to_tensor([[1, 2], [3, 4]]).item(1, 0) == 3

    def test_several_elements_have_no_truth(self):
        with pytest.raises(ValueError, match="truth value of a tensor with 2 elements is ambiguous") as caught:
            bool(paddle.to_tensor([1, 2]))
        assert "test_tensor.py" in str(caught.value)

    @pytest.mark.parametrize("convert", [float, int, Tensor.item])
    def test_several_elements_are_no_number(self, convert):
        with pytest.raises(ShapeError, match="one element"):
            convert(paddle.to_tensor([1, 2]))

    def test_a_float_is_no_index(self):
        with pytest.raises(TypeError, match="index"):
            [1, 2][paddle.to_tensor(1.0)]

    def test_length_and_iteration(self):
        t = paddle.to_tensor([[1, 2], [3, 4]])
        assert len(t) == 2
        assert [row.tolist() for row in t] == [[1, 2], [3, 4]]
        assert 3 in t
        assert 5 not in t
        with pytest.raises(TypeError, match="0-d"):
            len(paddle.to_tensor(1))
        with pytest.raises(TypeError, match="0-d"):
            iter(paddle.to_tensor(1))

    def test_numpy_functions_take_tensors(self):
        t = paddle.to_tensor([1.0, 4.0])
        np.testing.assert_array_equal(np.sqrt(t), [1, 2])
        assert isinstance(np.array([1.0, 2.0], "float32") + t, Tensor)
        assert isinstance(np.float32(2) * t, Tensor)


DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")


class TestPromotion:
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_numbers_are_weak(self, dtype):
        t = paddle.ones([2], dtype)
        is_float = dtype.startswith("float")
        assert (t + 1).dtype == ("int64" if dtype == "bool" else dtype)
        assert (1 + t).dtype == ("int64" if dtype == "bool" else dtype)
        assert (t * 0.5).dtype == (dtype if is_float else "float32")
        assert (2.0 - t).dtype == (dtype if is_float else "float32")
        assert (t / 2).dtype == (dtype if is_float else "float32")
        assert (t > 0.5).dtype == "bool"

    def test_a_comparison_with_a_float_does_not_round_it(self):
        assert (paddle.to_tensor([0, 1]) > 0.5).tolist() == [False, True]

    def test_tensors_are_promoted(self):
        cases = {
            ("int64", "float32"): "float32", ("int32", "int64"): "int64", ("float32", "float64"): "float64",
            ("bool", "int32"): "int32", ("float16", "int64"): "float16",
        }  # fmt: skip
        for (a, b), expected in cases.items():
            assert (paddle.ones([1], a) + paddle.ones([1], b)).dtype == expected
            assert (paddle.ones([1], b) * paddle.ones([1], a)).dtype == expected
        assert (paddle.ones([1], "int32") / paddle.ones([1], "int64")).dtype == "float32"
        assert (paddle.ones([1], "float32") * np.ones(1, "float64")).dtype == "float64"

    def test_weak_tensors_behave_as_python_numbers(self):
        from dy2st.tensor.promotion import as_tensor

        i, f, x = as_tensor(3), as_tensor(0.5), paddle.ones([2], "float32")
        assert ((i + i)._weak, (i * f)._weak, (i / i)._weak, (-i)._weak, (x * f)._weak) == (True,) * 4 + (False,)
        assert ((i + i).dtype, (i * f).dtype, (i / i).dtype) == ("int64", "float64", "float64")
        assert (i / 2).item() == 1.5
        assert ((x * f).dtype, (x + i).dtype, (x.astype("int32") * f).dtype) == ("float32", "float32", "float32")
        assert (paddle.ones([1], "int32") + i).dtype == "int32"
        assert (x.astype("float64") * as_tensor(0.1)).numpy()[0] == 0.1

    def test_what_is_no_number_is_left_to_python(self):
        with pytest.raises(TypeError):
            paddle.ones([1]) + "a"
        assert (paddle.ones([1]) == "a") is False
        assert (paddle.ones([1]) != None) is True  # noqa: E711


class TestOperators:
    A = np.array([[7, -7, 3], [2, 5, -4]])
    B = np.array([3, 2, -2])

    @pytest.mark.parametrize("op", ["+", "-", "*", "//", "%", "/", "<", "<=", ">", ">=", "==", "!="])
    @pytest.mark.parametrize("dtype", ["int64", "float32"])
    def test_as_numpy(self, op, dtype):
        a, b = self.A.astype(dtype), self.B.astype(dtype)
        expected = eval(f"a {op} b")
        found = eval(f"x {op} y", {"x": paddle.to_tensor(a), "y": paddle.to_tensor(b)})
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)
        for scalar in (3, -2):
            np.testing.assert_allclose(eval(f"x {op} s", {"x": paddle.to_tensor(a), "s": scalar}).numpy(),
                                       eval(f"a {op} s", {"a": a, "s": scalar}), rtol=1e-6)  # fmt: skip
            np.testing.assert_allclose(eval(f"s {op} x", {"x": paddle.to_tensor(a), "s": scalar}).numpy(),
                                       eval(f"s {op} a", {"a": a, "s": scalar}), rtol=1e-6)  # fmt: skip

    @pytest.mark.parametrize("op", ["&", "|", "^"])
    def test_bits(self, op):
        a, b = np.array([6, 5]), np.array([3, 4])
        for x, y in ((a, b), (a > 5, b > 3)):
            found = eval(f"x {op} y", {"x": paddle.to_tensor(x), "y": paddle.to_tensor(y)})
            np.testing.assert_array_equal(found.numpy(), eval(f"x {op} y"))

    def test_unary(self):
        x = paddle.to_tensor([1, -2])
        assert ((-x).tolist(), (+x).tolist(), abs(x).tolist(), (~x).tolist()) == ([-1, 2], [1, -2], [1, 2], [-2, 1])
        assert (~paddle.to_tensor([True])).tolist() == [False]
        with pytest.raises(DTypeError, match="logical_not"):
            -paddle.to_tensor([True])

    def test_power_and_matrix_product(self):
        x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        np.testing.assert_array_equal((x**2).numpy(), [[1, 4], [9, 16]])
        np.testing.assert_array_equal((2**x).numpy(), [[2, 4], [8, 16]])
        np.testing.assert_array_equal((x @ x).numpy(), x.numpy() @ x.numpy())
        np.testing.assert_array_equal(x.T.numpy(), x.numpy().T)

    def test_an_integer_divided_by_zero_is_an_error(self):
        with pytest.raises(ZeroDivisionError):
            paddle.to_tensor([1]) // paddle.to_tensor([0])
        assert math.isinf((paddle.to_tensor([1.0]) / 0.0).item())

    def test_shapes_that_do_not_fit_are_an_error_at_the_line(self):
        with pytest.raises(ShapeError) as caught:
            paddle.ones([2]) + paddle.ones([3])
        assert "[2]" in str(caught.value)
        assert "[3]" in str(caught.value)
        assert "test_tensor.py" in str(caught.value)
        assert "paddle.ones([2]) + paddle.ones([3])" in str(caught.value)


class TestPrinting:
    def test_as_paddle_prints(self):
        a = Tensor([[-0.24989827, 0.66201270], [1.12384641, 2.0]])
        assert str(a) == (
            "Tensor(shape=[2, 2], dtype=float32, place=CPUPlace, stop_gradient=True,\n"
            "       [[-0.24989827,  0.66201270],\n"
            "        [ 1.12384641,  2.        ]])"
        )
        assert repr(paddle.arange(1, 3, dtype="float32")).endswith("\n       [1., 2.])")
        assert repr(paddle.to_tensor(5)).endswith("\n       5)")
        assert repr(paddle.to_tensor([True, False])).endswith("[True , False])")
        assert repr(paddle.to_tensor([float("inf"), float("nan")])).endswith("[inf., nan ])")

    def test_axes_are_set_apart(self):
        assert repr(paddle.arange(4).reshape([2, 1, 2])).endswith("[[[0, 1]],\n\n        [[2, 3]]])")

    def test_large_tensors_are_shortened(self):
        text = repr(paddle.arange(2000))
        assert text.endswith("[0   , 1   , 2   , ..., 1997, 1998, 1999])")
        text = repr(paddle.zeros([50, 50]))
        assert text.count("\n") == 7
        assert "..., 0., 0., 0.]" in text
        assert "\n        ...,\n" in text

    def test_long_rows_are_broken(self):
        lines = repr(paddle.arange(30)).split("\n")[1:]
        assert len(lines) > 1
        assert all(len(line) <= 80 for line in lines)

    def test_empty(self):
        assert repr(paddle.zeros([0])).endswith("[])")

    def test_options(self):
        try:
            paddle.set_printoptions(precision=2, sci_mode=True)
            assert repr(paddle.to_tensor([1.5])).endswith("[1.50e+00])")
        finally:
            paddle.set_printoptions(precision=8, sci_mode=False)
        with pytest.raises(ValueError, match="precision"):
            paddle.set_printoptions(precision=-1)

    def test_a_parameter_says_so(self):
        p = paddle.create_parameter([1])
        assert repr(p).startswith(
            "Parameter containing:\nTensor(shape=[1], dtype=float32, place=CPUPlace, stop_gradient=False"
        )


class TestInPlace:
    def test_all_names_see_it(self):
        x = paddle.zeros([2])
        y, before = x, x.detach()
        x[0] = 1.0
        assert y.tolist() == [1, 0]
        assert before.tolist() == [0, 0]
        y.set_value([3, 4])
        assert x.tolist() == [3, 4]
        x.add_(paddle.ones([2]))
        assert y.tolist() == [4, 5]

    def test_the_dtype_stays(self):
        x = paddle.zeros([2], "int32")
        x.set_value(np.array([1.7, 2.2]))
        x[0] = 9.9
        assert (x.dtype, x.tolist()) == ("int32", [9, 2])

    def test_set_value_checks_the_shape(self):
        with pytest.raises(ShapeError, match=r"\[2\].*\[3\]"):
            paddle.zeros([2]).set_value(np.zeros(3))

    def test_plus_equals_makes_a_new_tensor(self):
        x = y = paddle.zeros([1])
        x += 1
        assert (x.tolist(), y.tolist()) == ([1], [0])

    def test_gradients_flow_through_it(self):
        x = Tensor([1.0, 2.0, 3.0], stop_gradient=False)
        v = Tensor(5.0, stop_gradient=False)
        y = x * 2
        y[1] = v
        z = y * y
        z.sum().backward()
        assert x.grad.tolist() == [8, 0, 24]
        assert v.grad.item() == 10

    def test_what_was_saved_for_the_gradient_is_not_changed(self):
        x = Tensor([3.0], stop_gradient=False)
        y = x * 1.0
        z = y * y
        y.set_value([100.0])
        z.backward()
        assert x.grad.item() == 6

    def test_a_leaf_that_needs_a_gradient_cannot_be_modified(self):
        x = Tensor([1.0], stop_gradient=False)
        with pytest.raises(InplaceError, match="leaf") as caught:
            x[0] = 2.0
        assert "x[0] = 2.0" in str(caught.value)
        with pytest.raises(InplaceError):
            x.add_(x)
        with paddle.no_grad():
            x[0] = 2.0
        x.set_value([3.0])
        assert x.item() == 3

    def test_increment(self):
        x = paddle.zeros([1])
        assert paddle.increment(x) is x
        assert x.item() == 1

    def test_deep_copies(self):
        p = paddle.create_parameter([2])
        q = copy.deepcopy(p)
        q.set_value([7, 7])
        assert p.tolist() != [7, 7]
        assert (q.name != p.name, q.stop_gradient, q.trainable) == (True, False, True)
        with pytest.raises(RuntimeError, match="leaf"):
            copy.deepcopy(p * 2)


class TestIndexing:
    X = np.arange(24.0, dtype="float32").reshape(2, 3, 4)
    READS = [
        "0", "-1", "1,2", "...,1", "None,0", ":,None,1:3", "::-1", "0,::-1,::2", ":,-1:-3:-1", ":, 1:2, ...", "0,...,None",
        "..., [0,2]", "[0,1,1]", "[0,1],[1,2]", ":,[0,1],[1,2]", "[0,1],:,[1,2]", "0,:,[1,2]", "np.array([[0,1],[1,0]])",
        ":,np.array([[0,1],[1,0]])", "X>5", "X[...,0]>3", "X[0,0]*0>0" if False else "X[:,0,0]>1", "5:", "1:0", "-3:2",
        "[[0],[1]],[1,2]", "None,[0,1],None", "[],", "1,1,1", "np.int64(1)", "[-1,-2]", ":,X[0,:,0]>3", "[True,False]",
        ":,[0,1],...,[1,2]", "1,...,[0,1],[1,2]", ":,[0,1],[1,2],...", "[[0],[1]],...,[1,2],0",
    ]  # fmt: skip

    @pytest.mark.parametrize("index", READS)
    def test_read_and_write_as_numpy(self, index):
        key = eval(f"np.s_[{index}]", {"np": np, "X": self.X})
        expected = self.X[key]
        found = Tensor(self.X)[key]
        assert found.shape == list(expected.shape)
        np.testing.assert_array_equal(found.numpy(), expected)
        for value in (np.float32(-1), -np.ones(expected.shape, "float32"), -np.arange(4, dtype="float32") - 1):
            array, t = self.X.copy(), Tensor(self.X)
            try:
                array[key] = value
            except ValueError:
                with pytest.raises(ShapeError):
                    t[key] = Tensor(value)
                continue
            t[key] = Tensor(value)
            np.testing.assert_array_equal(t.numpy(), array)

    @pytest.mark.parametrize("index", READS)
    def test_gradients(self, index):
        from gradcheck import check

        key = eval(f"np.s_[{index}]", {"np": np, "X": self.X})
        small = self.X[:, :, :] / 10
        if self.X[key].size:
            check(lambda x: x[key] * x[key], small[:, :, :], tolerance=1e-4)

    def test_with_tensors(self):
        x = Tensor(self.X)
        i = paddle.to_tensor(1)
        np.testing.assert_array_equal(x[i].numpy(), self.X[1])
        np.testing.assert_array_equal(x[:, i:, paddle.to_tensor([0, 3])].numpy(), self.X[:, 1:, [0, 3]])
        np.testing.assert_array_equal(x[x > 20].numpy(), self.X[self.X > 20])

    @pytest.mark.parametrize("index", [2, -3, (0, 3), (slice(None), slice(None), 4)])
    def test_out_of_range(self, index):
        with pytest.raises(OutOfRangeError, match="out of range for axis") as caught:
            Tensor(self.X)[index]
        assert "test_tensor.py" in str(caught.value)
        with pytest.raises(IndexError):
            Tensor(self.X)[index] = 0

    def test_bad_indices(self):
        x = Tensor(self.X)
        with pytest.raises(IndexError):
            x[[0, 2]]
        with pytest.raises(IndexError, match="too many"):
            x[0, 0, 0, 0]
        with pytest.raises(TypeError, match="index"):
            x["a"]
        with pytest.raises(TypeError, match="index"):
            x[1.0]
        with pytest.raises(IndexError, match="mask"):
            x[np.ones((3,), bool)]
        with pytest.raises(IndexError, match="mask"):
            x[np.ones((3,), bool)] = 0
        with pytest.raises(ValueError, match="zero"):
            x[::0]
        with pytest.raises(IndexError, match="ellipsis"):
            x[..., 0, ...]
        with pytest.raises(ShapeError):
            x[0] = np.zeros(5, "float32")


class TestMethods:
    def test_to(self):
        t = paddle.to_tensor([1.5])
        assert (t.to("int32").dtype, t.to("cpu").dtype, t.to(paddle.ones([1], "float64")).dtype) == (
            "int32", "float32", "float64",
        )  # fmt: skip

    def test_fill(self):
        t = alias = paddle.ones([2], "int64")
        t.fill_(3)
        assert alias.tolist() == [3, 3]
        assert t.zero_() is t
        assert alias.tolist() == [0, 0]
        x = paddle.zeros([100])
        x.uniform_(2.0, 3.0)
        assert 2 <= x.numpy().min() < x.numpy().max() < 3
        x.normal_(10.0, 0.1)
        assert 9 < x.numpy().mean() < 11

    def test_functions_are_methods(self):
        t = paddle.to_tensor([[3.0, 1.0], [2.0, 4.0]])
        np.testing.assert_allclose(t.softmax(0).sum(0).numpy(), [1, 1], rtol=1e-6)
        np.testing.assert_allclose(t.sigmoid().numpy(), 1 / (1 + np.exp(-t.numpy())), rtol=1e-6)
        assert t.masked_fill_(t > 2, 0.0).tolist() == [[0, 1], [2, 0]]
        assert (t.triu().tolist(), t.tril().tolist()) == ([[0, 1], [0, 0]], [[0, 0], [2, 0]])
        assert paddle.tensor.transpose is paddle.transpose
        assert paddle.framework.ParamAttr is paddle.ParamAttr
        for module in (paddle.tensor, paddle.framework):
            with pytest.raises(AttributeError, match="other"):
                module.other  # noqa: B018


def test_numpy_takes_blocking():
    x = Tensor([1.0, 2.0])
    for found in (x.numpy(False), x.numpy(blocking=True)):
        assert found.tolist() == [1, 2]


def test_fill_constant():
    fill = paddle.tensor.fill_constant
    for value, dtype, wanted in [(3, "int32", 3), (3.7, "int32", 3), ("1.5", "float32", 1.5), ("7", "int64", 7), (True, "bool", True)]:
        made = fill([2], dtype, value)
        assert (made.dtype, made.tolist()) == (dtype, [wanted, wanted])
    assert fill(shape=Tensor([2, 1]), dtype="float32", value=Tensor(2.0)).tolist() == [[2], [2]]
    out = paddle.zeros([2])
    assert fill([2], "float32", 4, out=out) is out
    assert out.tolist() == [4, 4]
    static = paddle.jit.to_static(lambda x: fill([2, x.shape[0]], "float32", "1.5") + x)
    assert static(paddle.ones([3])).tolist() == [[2.5] * 3] * 2
    with pytest.raises(DTypeError, match="'many'"):
        fill([2], "float32", "many")
