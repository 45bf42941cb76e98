"""How eager mode calls ops: the references of their records, with attributes that ops may share."""

import inspect
import threading

import numpy as np
import pytest
from dy2st_runtime.ops import calling, registry

import dy2st as paddle
from dy2st.errors import DTypeError, ShapeError
from dy2st.nn import functional as F
from dy2st.tensor import dispatch
from dy2st.tensor.dispatch import Recorder, ops


def tensor(values, dtype, stop_gradient=True):
    return paddle.to_tensor(np.asarray(values, dtype), stop_gradient=stop_gradient)


def test_references_are_called_with_what_the_record_says():
    """The calls that are written out have the slots and attributes of the record; each must be one that its function takes."""
    for name, record in registry.all_ops().items():
        slots = [None] * len(record.inputs)
        signature = inspect.signature(record.reference)
        if "run" not in signature.parameters:  # blocks are run by the interpreter, which gives them more
            signature.bind(*slots, **dict.fromkeys(record.attrs))
        seen = []
        calling.written_out(lambda *ins, seen=seen, **attrs: seen.append((ins, attrs)), len(slots), tuple(record.attrs), name)(
            tuple(range(len(slots))), {name: name for name in record.attrs}
        )
        assert seen == [(tuple(range(len(slots))), {name: name for name in record.attrs})]


def test_errors_of_all_ways_to_run_an_op_say_what_it_was_given():
    """By a plan, by a reference that is called at once, and after a check."""
    a, b, c = (tensor(np.ones(shape), "float32") for shape in ((2, 3), (4,), (2, 5)))
    for _ in range(2):
        for call in (lambda: a + b, lambda: a.matmul(c), lambda: paddle.concat([a, c]), lambda: paddle.gather_nd(a, b)):
            with pytest.raises((ShapeError, DTypeError)) as error:
                call()
            text = str(error.value)
            assert "float32[2, 3]" in text or "[2, 3]" in text
            assert error.value.location.file == __file__


def test_what_is_given_may_change_after_the_call():
    """What a function is given as it is has to be copied before it is kept for the gradient."""
    x = tensor(np.arange(6).reshape(2, 3), "float32", stop_gradient=False)
    shape, order, axis, parts = [3, 2], [1, 0], [0], [x, x * 2]
    outs = [x.reshape(shape), x.transpose(order), x.sum(axis), paddle.concat(parts), x.unsqueeze(axis), paddle.flip(x, axis)]
    for given in (shape, order, axis, parts):
        given.clear()
    sum(out.sum() for out in outs).backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.full((2, 3), 8.0))


def test_axes_are_ints_whatever_stands_for_them():
    x = tensor(np.arange(6).reshape(2, 3), "float32")
    for ints in ([1, 0], (1, 0), [True, False], (np.int64(1), 0), [tensor(1, "int64"), 0]):
        assert x.transpose(ints).shape == [3, 2]
        assert x.sum(ints).shape == []
    for one in (1, True, np.int64(1), [1], (True,), tensor(1, "int64"), tensor([1], "int64")):
        assert x.sum(one).shape == [2]
    for sizes in ([3, True, 2], (3, 1, np.int32(2)), [3, tensor(1, "int64"), 2], np.array([3, 1, 2])):
        assert x.reshape(sizes).shape == [3, 1, 2]
    for wrong in ([0.5, 1], ["0", 1], [None, 1]):
        with pytest.raises(DTypeError, match="must be integers"):
            x.transpose(wrong)


def test_ops_without_attributes_given_do_not_share_them_with_programs():
    before = registry.get("pool2d").complete_attrs({"ksize": [2, 2]})
    with paddle.static.program_guard(paddle.static.Program()):
        x = paddle.static.data("x", [2, 2], "float32")
        ops.of("matmul_v2", x, x)
        ops.op("elementwise_add", X=x, Y=x)
        block = paddle.static.default_main_program().global_block()
        for op in block.ops:
            op.attrs.update({"trans_x": True, "axis": 0})
    y = tensor([[1.0, 2.0], [3.0, 4.0]], "float32")
    np.testing.assert_array_equal(y.matmul(y).numpy(), y.numpy() @ y.numpy())
    np.testing.assert_array_equal((y + y[0]).numpy(), y.numpy() + y.numpy()[0])
    assert registry.get("pool2d").complete_attrs({"ksize": [2, 2]}) == before


class Noting(Recorder):
    """Notes the types of the ops."""

    def __init__(self):
        self.types = []

    def apply(self, op, ins, attrs):
        self.types.append(op.type)
        return ins


def test_a_thread_records_while_others_do_not():
    x = tensor([1.0, -1.0], "float32")
    recorder, recording_now, done = Noting(), threading.Event(), threading.Event()

    def record():
        with dispatch.recording(recorder):
            recording_now.set()
            done.wait(10)
            F.relu(x)
            with dispatch.eager():
                assert paddle.tanh(x).numpy()[0] == np.tanh(np.float32(1))
            F.relu(x)

    thread = threading.Thread(target=record)
    thread.start()
    recording_now.wait(10)
    assert dispatch.in_dynamic_mode()
    assert F.relu(x).numpy().tolist() == [1, 0]
    with dispatch.recording(own := Noting()):
        paddle.tanh(x)
    done.set()
    thread.join()
    assert F.relu(x).numpy().tolist() == [1, 0]
    assert (recorder.types, own.types) == (["relu", "relu"], ["tanh"])


def test_a_node_knows_all_that_was_made():
    """Absent outputs, integer ones and lists stand between those that gradients come to."""
    x = tensor([[3.0, 1.0, 2.0]], "float32", stop_gradient=False)
    values, places = paddle.topk(x, 2)
    assert places.stop_gradient
    parts = paddle.split(x, 3, axis=1)
    flat = x.reshape([3])
    (values[0, 1] * 10 + parts[0].sum() * parts[2].sum() + flat[1] * 5).backward()
    np.testing.assert_array_equal(x.grad.numpy(), [[2.0, 5.0, 13.0]])
    assert parts[1].grad is None
    np.testing.assert_array_equal(parts[2].grad.numpy(), [[3.0]])
    np.testing.assert_array_equal(flat.grad.numpy(), [0, 5, 0])
    with pytest.raises(AttributeError):
        flat._node.other = 1  # a node is made for each op: it has slots only
