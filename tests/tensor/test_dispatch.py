"""Eager dispatch: what is remembered of an op's calls (plans by dtype, checked types, indices) must not be taken for another call."""

import contextlib
import contextvars
import threading
import traceback
import warnings

import numpy as np
import pytest
from dy2st_runtime.ops import elementwise, registry
from dy2st_runtime.ops.checked import CheckedOp

import dy2st as paddle
from dy2st import jit
from dy2st.errors import AttributeValueError, DTypeError, OutOfRangeError, ShapeError
from dy2st.nn import functional as F
from dy2st.tensor import indexing
from dy2st.tensor.dispatch import ops
from dy2st.tensor.tracebacks import without_own

DTYPES = ("bool", "uint8", "int32", "int64", "float16", "float32", "float64")


def tensor(values, dtype, stop_gradient=True):
    return paddle.to_tensor(np.asarray(values, dtype), stop_gradient=stop_gradient)


# ---- plans by dtype ----
@pytest.mark.parametrize("turn", range(2))
@pytest.mark.parametrize("first", DTYPES)
def test_each_pair_of_dtypes_has_its_own_result(first, turn):
    for second in DTYPES:
        x, y = tensor([1, 0, 3], first), tensor([1, 1, 2], second)
        common = first if first == second else paddle.add(tensor([0], first), tensor([0], second)).dtype
        assert (x + y).dtype == common
        np.testing.assert_array_equal((x + y).numpy(), x.numpy().astype(common) + y.numpy().astype(common))
        assert (x / y).dtype == (common if common.startswith("float") else "float32")
        assert (x < y).numpy().tolist() == (x.numpy() < y.numpy()).tolist()
        assert paddle.where(x < y, x, y).dtype == common


def test_the_dtype_of_the_result_is_that_of_this_call():
    x = tensor([1.5, -2.5], "float32")
    for _ in range(2):
        for wanted in ("float64", "int64", "bool", "float32", "float16"):
            got = x.astype(wanted)
            assert got.dtype == wanted
            np.testing.assert_array_equal(got.numpy(), x.numpy().astype(wanted))


def test_a_power_of_integers_is_a_float_only_where_the_factor_is_no_whole_number():
    x = tensor([4, 9], "int64")
    for _ in range(2):
        assert ops.op("pow", X=x, factor=2.0).numpy().tolist() == [16, 81]
        half = ops.op("pow", X=x, factor=0.5)
        assert half.dtype == "float32"
        assert half.numpy().tolist() == [2.0, 3.0]


def test_attributes_that_change_do_not_fill_the_memory():
    x = tensor([4.0], "float32")
    for i in range(2 * elementwise.PLANS):
        assert ops.op("pow", X=x, factor=i / 1000).item() == pytest.approx(4 ** (i / 1000), rel=1e-5)
    assert len(registry.get("pow")._plans) <= elementwise.PLANS


def test_the_default_dtype_counts_when_the_op_runs():
    x = tensor([1, 2], "int64")
    assert (x + 0.5).dtype == "float32"
    paddle.set_default_dtype("float64")
    try:
        assert (x + 0.5).dtype == "float64"
    finally:
        paddle.set_default_dtype("float32")
    assert (x + 0.5).dtype == "float32"


def test_numbers_that_compare_equal_are_not_the_same_number():
    x = tensor([2.0], "float32")
    for _ in range(2):
        assert not np.signbit((x * 0.0).numpy())[0]
        assert np.signbit((x * -0.0).numpy())[0]


ZEROS = {
    "add": lambda x: x + 0,
    "add a negative": lambda x: x + -0.0,
    "zero add": lambda x: 0.0 + x,
    "subtract": lambda x: x - 0,
    "subtract a negative": lambda x: x - -0.0,
    "zero minus": lambda x: 0 - x,
    "negate and add": lambda x: -x + 0,
    "times and add": lambda x: x * 1.0 + 0.0,
    "sum": lambda x: sum([x * 0.0 + 0, x]),
    "product": lambda x: x * -0.0,
}


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("of", ZEROS.values(), ids=ZEROS)
@pytest.mark.parametrize("make", [lambda f: f, jit.to_static], ids=["eager", "static"])
def test_the_sign_of_zero_is_that_of_numpy(make, of, sign):
    value = np.float32(0) * np.float32(sign)
    assert np.signbit(make(of)(tensor([value], "float32")).numpy())[0] == np.signbit(of(value))


def test_an_array_of_another_byte_order():
    x = paddle.to_tensor(np.array([1.0, 2.0], ">f4"))
    y = tensor([1.0, 2.0], "float32")
    for _ in range(2):
        np.testing.assert_array_equal((x + y).numpy(), [2, 4])
        np.testing.assert_array_equal(x.sum().numpy(), 3)
        np.testing.assert_array_equal(F.softmax(x).numpy(), F.softmax(y).numpy())


def test_scalars_of_numpy_stay_arrays():
    x, y = tensor(2.0, "float32"), tensor(3.0, "float32")
    for out in (x + y, x * 2, paddle.tanh(x), x.sum(), paddle.where(x < y, x, y), x.astype("int32")):
        assert type(out._value) is np.ndarray
        assert out.shape == []


def test_no_reference_is_passed_by():
    """Bases that compute by plans do so in `evaluate`; a record with a `reference` of its own must not inherit that."""
    for name, record in registry.all_ops().items():
        owner = {what: next(i for i, c in enumerate(record.__mro__) if what in vars(c)) for what in ("reference", "evaluate")}
        assert owner["evaluate"] <= owner["reference"] or record.__mro__[owner["evaluate"]] is registry.OpDef, name


def test_all_plans_give_what_the_first_call_gives():
    """The second call of an op finds what the first has left; both are the same op."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(3, 4)).astype("float32"), rng.normal(size=(4,)).astype("float32")
    functions = [
        lambda x, y: x + y, lambda x, y: x.matmul(y), lambda x, y: paddle.concat([x, x], axis=1), lambda x, y: paddle.stack([y, y]),
        lambda x, y: x.reshape([-1, 2]), lambda x, y: x.transpose([1, 0]), lambda x, y: x.sum(axis=0, keepdim=True),
        lambda x, y: x.unsqueeze([0, -1]), lambda x, y: x.unsqueeze(0).squeeze(0), lambda x, y: y.expand([2, 4]),
        lambda x, y: x.logsumexp(axis=1), lambda x, y: x.norm(), lambda x, y: x.gather(tensor([2, 0], "int64")),
    ]  # fmt: skip
    for function in functions:
        first, second = function(paddle.to_tensor(a), paddle.to_tensor(b)), function(paddle.to_tensor(a), paddle.to_tensor(b))
        assert (first.dtype, first.shape) == (second.dtype, second.shape)
        np.testing.assert_array_equal(first.numpy(), second.numpy())


# ---- what was checked ----
def test_types_that_fit_do_not_vouch_for_others():
    a, b = tensor(np.ones((2, 3)), "float32"), tensor(np.ones((2, 3)), "float64")
    for _ in range(2):
        assert paddle.concat([a, a], axis=1).shape == [2, 6]
        with pytest.raises(DTypeError, match="concat"):
            paddle.concat([a, b], axis=1)
        with pytest.raises(ShapeError, match="axis 0"):
            paddle.concat([a, tensor(np.ones((1, 3)), "float32")], axis=1)
        with pytest.raises(AttributeValueError, match="axis 2"):
            paddle.concat([a, a], axis=2)
        assert F.softmax(a).shape == [2, 3]
        with pytest.raises(DTypeError, match="floating-point"):
            F.softmax(a.astype("int64"))
        with pytest.raises(AttributeValueError, match="axis"):
            F.softmax(a, axis=2)


@pytest.mark.parametrize("lists", [True, False])
def test_checks_look_at_all_that_the_rule_sees(lists):
    """`infer` runs once for each set of types and attributes, not once for an op."""
    seen = []

    class Probe(CheckedOp):
        type = "probe_of_dispatch"
        inputs = ("X", "Y?", "Z*")
        attrs = {"n": registry.Int(0), "many": registry.Ints(), "share": registry.Float(0.0)}
        differentiable = False
        input_slots = tuple(map(registry.Slot.parse, inputs))
        list_attrs = lists

        @staticmethod
        def infer(x, y, z, **attrs):
            seen.append((x, y, *z, str(attrs)))
            return x

        @staticmethod
        def reference(x, y, z, **attrs):
            return x

    a, b, c = np.zeros(3, "float32"), np.zeros(3, "float64"), np.zeros(4, "float32")
    many = list if lists else tuple
    full = {"n": 0, "many": many(), "share": 0.0}
    calls = [((a, None, []), full), ((b, None, []), full), ((c, None, []), full), ((a, a, []), full), ((a, None, [a]), full),
             ((a, None, [a, b]), full), ((a, None, [b, a]), full), ((a, None, [c]), full)]  # fmt: skip
    for other in ({"n": 1}, {"many": many([1])}, {"many": many([1, 2])}, {"share": 2.5}):
        calls.append(((a, None, []), {**full, **other}))
    for _ in range(2):
        for ins, attrs in calls:
            Probe.run_reference(ins, attrs)
    assert len(seen) == len(calls)


def culprit(error):
    return error.value.location.line


def test_an_error_is_raised_anew_at_each_line():
    x, y = tensor([1.0, 2.0], "float32"), tensor([1.0, 2.0, 3.0], "float32")
    lines = []
    for _ in range(2):
        with pytest.raises(ShapeError, match=r"add of shapes \[2\] and \[3\]") as error:
            x + y
        lines.append(culprit(error))
    with pytest.raises(ShapeError, match=r"add of shapes \[2\] and \[3\]") as error:
        x + y
    assert lines == [lines[0]] * 2
    assert culprit(error) == lines[0] + 3
    # a division by zero comes after the shapes, as while tracing
    with pytest.raises(ShapeError):
        tensor([1, 2], "int64") // tensor([0, 0, 0], "int64")
    with pytest.raises(ShapeError, match="inner sizes"):
        x.reshape([1, 2]).matmul(y.reshape([1, 3]))


def test_an_error_in_a_reference_shows_no_frames_of_ours():
    with pytest.raises(ShapeError, match="cannot be reshaped") as error:
        tensor([1, 2, 3], "int64").reshape([2, 2])
    assert error.value.location.line == culprit(error)
    shown = without_own(error.value, error.value.__traceback__)
    assert [frame.f_code.co_filename for frame, _ in traceback.walk_tb(shown)] == [__file__]


# ---- calls by position ----
def test_calls_by_position_and_by_keyword_are_one():
    x, y = tensor([[1.0, 2.0]], "float32"), tensor([[3.0], [4.0]], "float32")
    both = ops.op("matmul_v2", X=x, Y=y), ops.of("matmul_v2", x, y), ops.of("matmul_v2", x, Y=y), ops.matmul_v2(x, y)
    assert [b.item() for b in both] == [11.0] * 4
    assert ops.of("matmul_v2", x, x, trans_y=True).item() == 5.0
    with pytest.raises(AttributeValueError, match="input Y is missing"):
        ops.of("matmul_v2", x)
    for missing in (lambda: ops.of("matmul_v2", x, None), lambda: ops.op("matmul_v2", X=x, Y=None), lambda: ops.op("relu", X=None)):
        with pytest.raises(AttributeValueError, match="is missing"):
            missing()
    with pytest.raises(TypeError, match="takes 2 inputs, got 3"):
        ops.of("matmul_v2", x, y, x)
    with pytest.raises(TypeError, match="twice"):
        ops.of("matmul_v2", x, y, Y=x)
    with pytest.raises(AttributeValueError, match="no attribute 'transpose'"):
        ops.of("matmul_v2", x, y, transpose=True)
    with pytest.raises(AttributeValueError, match="must be INTS"):
        ops.of("transpose2", x, axis=["a"])


def test_nobody_shares_the_lists_of_attributes():
    record = registry.get("reshape2")
    first, second = record.complete_attrs({}), record.complete_attrs({})
    first["shape"].append(3)
    assert second["shape"] == []
    given = [2, 1]
    assert record.complete_attrs({"shape": given})["shape"] is not given


# ---- indices ----
def test_what_looks_like_a_known_index_is_another_one():
    x = tensor(np.arange(24).reshape(4, 3, 2), "float32")
    array = x.numpy()
    indices = [1, np.int64(1), (1,), [1], (None, 1, None), slice(None, 1, None), (slice(None), 1), (1, slice(None)), (0, 1), -1, (..., 1),
               (1, ...), (slice(1, None),), slice(1, None, None), (1, None), slice(None, None, 2),
               slice(None, None, -1), ((1, 2),), (1, 2), None, ..., (slice(np.int64(1), 3),), (slice(True, 3),)]  # fmt: skip
    for _ in range(2):
        for index in indices:
            np.testing.assert_array_equal(x[index].numpy(), array[index], err_msg=repr(index))
        for mask in (True, np.bool_(True), (True,)):
            assert x[mask].numpy().size == array.size
        with pytest.raises(DTypeError, match="float"):
            x[1.0]
        with pytest.raises(OutOfRangeError, match="index 4 is out of range for axis 0 with size 4"):
            x[4]


def test_an_index_means_another_place_in_another_shape():
    for shape in ((3,), (2,), (3, 2), (1, 2), (4,), (3,)):
        array = np.arange(np.prod(shape)).reshape(shape)
        x = paddle.to_tensor(array)
        np.testing.assert_array_equal(x[-1].numpy(), array[-1])
        np.testing.assert_array_equal(x[-2:].numpy(), array[-2:])
    with pytest.raises(OutOfRangeError) as error:
        tensor([1, 2], "int64")[2]
    assert error.value.location.file == __file__


def test_known_indices_have_gradients_and_are_limited(monkeypatch):
    monkeypatch.setattr(indexing, "PLANS", 8)
    x = tensor(np.arange(20), "float32", stop_gradient=False)
    total = x[0] * 0
    for _ in range(2):
        for i in range(20):
            total = total + x[i] * i + x[i:].sum() * 0.5
    assert len(indexing._plans) <= 8
    total.backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.arange(20) + np.arange(1, 21))


def test_indices_of_a_traced_function_are_recorded():
    x = tensor([[1.0, 2.0], [3.0, 4.0]], "float32")
    x[1], x[:, 0]  # known to eager mode by now

    def f(t):
        return t[1] + t[:, 0] + x[1]

    np.testing.assert_array_equal(paddle.jit.to_static(f)(x).numpy(), f(x).numpy())
    # a Program has attributes of its own: passes may change them
    with paddle.static.program_guard(paddle.static.Program()):
        row = x[1]
    op = row.block.ops[-1]
    assert op.type == "slice"
    assert not any(attrs is op.attrs for plan in indexing._plans.values() for _, _, attrs in plan)


# ---- quiet NumPy ----
def test_warnings_are_off_in_ops_and_as_they_were_outside():
    zero = tensor([0.0], "float32")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for raising in (contextlib.nullcontext(), np.errstate(all="raise")):
            with raising:
                before = np.geterr()
                assert np.isinf((tensor([1.0], "float32") / zero).item())
                assert np.isnan((zero / zero).item())
                assert np.geterr() == before
        with np.errstate(all="raise"), pytest.raises(FloatingPointError):
            np.float32(1) / np.float32(0)


USER = contextvars.ContextVar("USER", default="nobody")


class Ringing:
    """What `print` writes to: its own code runs ops, and has context variables."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += f"{text} {(tensor([1.0], 'float32') + 1).item()} {USER.get()}"


def test_an_op_may_run_while_another_one_runs(monkeypatch):
    out = Ringing()
    USER.set("somebody")
    with contextlib.redirect_stdout(out):
        ops.op("print", In=[tensor([7], "int64")], parts=["", ""], specs=[""], end="")
    assert out.text.endswith("2.0 somebody")
    assert "7" in out.text

    # code that NumPy happens to call, as a finalizer: the place in which an op runs is entered by nobody else meanwhile
    def array(x):
        return x + ops.op("relu", X=tensor([2.0], "float32"))._value

    monkeypatch.setattr(registry.get("tanh"), "numpy", staticmethod(array))
    monkeypatch.setattr(registry.get("tanh"), "_plans", {})
    assert paddle.tanh(tensor([1.0], "float32")).item() == 3.0


def test_threads_run_ops_at_the_same_time():
    results, errors = [], []

    def work(n):
        try:
            x = tensor(np.full(50, n), "float32", stop_gradient=False)
            for _ in range(50):
                y = (x * x / 0.0 + x).sum()
                z = (x * n + x[1:].sum()).sum()
                z.backward()
            assert np.isinf(y.item())
            results.append((n, float(x.grad.numpy()[0])))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 9)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors == []
    assert sorted(results) == [(n, 50.0 * n) for n in range(1, 9)]


# ---- records of the tape ----
def test_a_record_keeps_the_values_it_saw():
    x, y = tensor([2.0], "float32", stop_gradient=False), tensor([3.0], "float32")
    out = x * y
    y.set_value(np.array([100.0], "float32"))
    out.backward()
    assert x.grad.item() == 3.0


def test_hooks_and_gradients_of_some_of_several_outputs():
    x = tensor([1.0, 2.0, 3.0, 4.0], "float32", stop_gradient=False)
    a, b = paddle.split(x, 2)
    seen = []
    handle = b.register_hook(lambda g: seen.append(g.numpy().tolist()))
    gone = a.register_hook(lambda g: seen.append("never"))
    assert gone.remove()
    assert not gone.remove()
    (b * 2).sum().backward(retain_graph=True)
    assert seen == [[2.0, 2.0]]
    assert handle.remove()
    np.testing.assert_array_equal(x.grad.numpy(), [0, 0, 2, 2])
    assert b.grad.numpy().tolist() == [2, 2]
    assert a.grad is None


def test_the_second_output_of_an_op_has_its_gradient():
    x = tensor([[1.0, 2.0, 0.5]], "float32", stop_gradient=False)
    F.cross_entropy(x, tensor([1], "int64")).backward()
    np.testing.assert_allclose(x.grad.numpy(), F.softmax(x).numpy() - [[0, 1, 0]], rtol=1e-5)


def test_leaves_that_are_first_met_in_one_op_come_before_it():
    """The order in which gradients are computed is that of the records; a leaf gets its own when an op first reads it."""
    x = tensor([4.0], "float32", stop_gradient=False)
    for function, want in ((paddle.sqrt, 0.25), (paddle.rsqrt, -0.0625)):
        t = tensor([4.0], "float32", stop_gradient=False)
        (g,) = paddle.grad(function(t), t)
        assert g.item() == pytest.approx(want)
    out = paddle.concat([x, x * x])
    out.sum().backward()
    assert x.grad.item() == 9.0


def test_gradients_may_be_changed_without_changing_others():
    x = tensor([1.0, -1.0], "float32", stop_gradient=False)
    for _ in range(2):
        F.relu(x).sum().backward()
        x.grad.zero_()
        x.clear_grad()
    F.relu(x).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [1, 0])
