"""Eager steps run as one Program: what it depends on, what it writes to, and that it is what the ops do one by one."""

import copy
import subprocess
import sys

import dy2st_runtime.executor.executable  # noqa: F401  (steps are native in a process that runs native programs)
import numpy as np
import pytest

import dy2st as paddle
from dy2st import nn
from dy2st.config import NO_JIT
from dy2st.errors import DTypeError
from dy2st.optimizer import SGD, Adadelta, Adagrad, Adam, Adamax, AdamW, Momentum, RMSProp, lr
from dy2st.optimizer.compiled import LIMIT
from dy2st.regularizer import L1Decay

R = np.random.default_rng(5)
SHAPES = [(3, 4), (4,), (2, 3, 2)]
START = [R.normal(size=s).astype("float32") for s in SHAPES]
MAKE = {
    "sgd": lambda ps: SGD(0.1, ps, weight_decay=0.1),
    "momentum": lambda ps: Momentum(0.1, 0.9, ps, use_nesterov=True, grad_clip=nn.ClipGradByNorm(0.5)),
    "adam": lambda ps: Adam(0.1, parameters=ps, grad_clip=nn.ClipGradByGlobalNorm(0.5)),
    "adamw": lambda ps: AdamW(0.1, parameters=ps, lr_ratio=lambda p: 0.5, apply_decay_param_fun=lambda name: "1" in name),
    "adamax": lambda ps: Adamax(0.1, parameters=ps),
    "adagrad": lambda ps: Adagrad(0.1, parameters=ps, grad_clip=nn.ClipGradByValue(0.1)),
    "adadelta": lambda ps: Adadelta(0.1, parameters=ps),
    "rmsprop": lambda ps: RMSProp(0.1, momentum=0.9, centered=True, parameters=ps, weight_decay=L1Decay(0.1)),
    "groups": lambda ps: Adam(0.1, parameters=[
        {"params": ps[:1], "learning_rate": 0.5, "weight_decay": 0.1, "beta1": 0.5}, {"params": ps[1:]}]),
}  # fmt: skip


ALONE = """
import sys
import dy2st as paddle
w = paddle.create_parameter([3])
step = paddle.optimizer.Adam(0.1, parameters=[w])
(w * w).sum().backward()
step.step()
assert "llvmlite" not in sys.modules
"""


def test_an_eager_script_does_not_wait_for_a_compiler():
    subprocess.run([sys.executable, "-c", ALONE], check=True)


def parameters():
    made = [paddle.create_parameter(s.shape, attr=nn.initializer.Assign(s)) for s in START]
    for i, p in enumerate(made):
        p.name = f"p{i}"
    made[1].optimize_attr["learning_rate"] = 2.0
    return made


def train(optimizer, params, steps=4):
    rng = np.random.default_rng(7)
    for step in range(steps):
        for i, p in enumerate(params):
            g = paddle.to_tensor(rng.normal(size=p.shape).astype("float32"))
            p.grad = None if (step + i) % 3 == 0 else g
        optimizer.step()
        optimizer.clear_grad()


@pytest.mark.parametrize("name", MAKE)
def test_steps_are_those_of_the_ops_one_by_one(name):
    params, expected = parameters(), parameters()
    optimizer, reference = MAKE[name](params), MAKE[name](expected)
    train(optimizer, params)
    with NO_JIT.override(True):
        train(reference, expected)
    assert 1 <= optimizer._compiled.count <= (4 if name == "adamax" else 2)
    assert reference._compiled.count == 0
    for p, q in zip(params, expected, strict=True):
        np.testing.assert_allclose(p.numpy(), q.numpy(), rtol=1e-5, atol=1e-6)
    for key, value in reference.state_dict().items():
        np.testing.assert_allclose(optimizer.state_dict()[key].numpy(), value.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["sgd", "adam", "rmsprop"])
def test_tensors_that_are_no_parameters_are_updated_too(name):
    params, expected = (list(map(paddle.to_tensor, START)) for _ in range(2))
    for p in (*params, *expected):
        p.stop_gradient = False
    optimizer = MAKE[name](params)
    train(optimizer, params)
    with NO_JIT.override(True):
        train(MAKE[name](expected), expected)
    assert optimizer._compiled.count
    for p, q, start in zip(params, expected, START, strict=True):
        assert not np.array_equal(p.numpy(), start)
        np.testing.assert_allclose(p.numpy(), q.numpy(), rtol=1e-5, atol=1e-6)


def one(make=SGD, **options):
    (p, *_) = parameters()
    p.grad = paddle.to_tensor(np.ones(p.shape, "float32"))
    optimizer = make(0.5, parameters=[p], **options)
    optimizer.step()
    return p, optimizer


def test_a_steady_step_writes_to_the_arrays_that_are_there():
    p, optimizer = one()
    array = p._value
    address = array.ctypes.data
    del array
    optimizer.step()
    assert p._value.ctypes.data == address
    np.testing.assert_allclose(p.numpy(), START[0] - 1.0, rtol=1e-6)


def test_who_has_the_array_too_keeps_the_old_value():
    p, optimizer = one(Momentum)
    before = p.numpy()
    kept = {"detached": p.detach(), "another tensor": paddle.Tensor(p), "the array": p._value, "a view": p._value[1:],
            "the moment": optimizer.state("velocity", p)._value}  # fmt: skip
    moment = kept["the moment"].copy()
    optimizer.step()
    assert not np.array_equal(p.numpy(), before)
    np.testing.assert_array_equal(kept["detached"].numpy(), before)
    np.testing.assert_array_equal(kept["another tensor"].numpy(), before)
    np.testing.assert_array_equal(kept["the array"], before)
    np.testing.assert_array_equal(kept["a view"], before[1:])
    np.testing.assert_array_equal(kept["the moment"], moment)


@pytest.mark.parametrize("static", [False, True])
def test_a_graph_that_is_retained_has_the_values_of_its_time(static):
    layer = nn.Linear(2, 1)
    x = paddle.to_tensor(np.ones((1, 2), "float32"))
    x.stop_gradient = False
    call = paddle.jit.to_static(lambda x: layer(x)) if static else layer
    optimizer = SGD(0.5, parameters=layer.parameters())
    for _ in range(2):
        out = call(x)
        out.backward(retain_graph=True)
        weight = layer.weight.numpy()
        optimizer.step()
        x.clear_grad()
        out.backward()
        np.testing.assert_allclose(x.grad.numpy(), weight.T, rtol=1e-6)
        x.clear_grad()


@pytest.mark.parametrize("change", ["rate", "schedule", "factor", "decay", "option", "clip", "regularizer"])
def test_a_setting_that_changes_is_noticed(change):
    def make():
        if change == "clip":
            return one(grad_clip=nn.ClipGradByValue(0.5))
        return one(Adam) if change == "option" else one(weight_decay=0.1)

    def run(p, optimizer):
        if change == "rate":
            optimizer.set_lr(0.25)
        elif change == "schedule":
            optimizer.set_lr_scheduler(lr.ExponentialDecay(0.25, 0.5))
        elif change == "factor":
            p.optimize_attr["learning_rate"] = 0.5
        elif change == "decay":
            optimizer.regularization.coeff = 0.2
        elif change == "option":
            optimizer._beta1 = 0.5
        elif change == "clip":
            optimizer._grad_clip.max = 0.25
        else:
            p.regularizer = L1Decay(0.3)
        for _ in range(2):
            optimizer.step()
        return p.numpy()

    p, optimizer = make()
    made = optimizer._compiled.count
    found = run(p, optimizer)
    assert optimizer._compiled.count == made + (change not in ("rate", "schedule"))
    with NO_JIT.override(True):
        p, optimizer = make()
        np.testing.assert_allclose(found, run(p, optimizer), rtol=1e-5)


def test_settings_that_change_all_the_time_are_not_compiled_each_time():
    p, optimizer = one()
    for step in range(2 * LIMIT):
        p.optimize_attr["learning_rate"] = 1.0 / (step + 1)
        optimizer.step()
    assert optimizer._compiled.count == LIMIT
    np.testing.assert_allclose(p.numpy(), START[0] - 0.5 - 0.5 * sum(1 / (i + 1) for i in range(2 * LIMIT)), rtol=1e-5)


def test_code_of_the_user_runs_op_by_op():
    class Halved(SGD):
        def update(self, param, grad, rate):
            super().update(param, grad * 0.5, rate)

    class Signs(nn.ClipGradByValue):
        def clip(self, grads):
            return [paddle.sign(g) if float(g.sum()) > 0 else g for g in grads]

    p, optimizer = one(Halved)
    assert optimizer._compiled.count == 0
    np.testing.assert_allclose(p.numpy(), START[0] - 0.25, rtol=1e-6)
    p, optimizer = one(grad_clip=Signs(1.0))
    assert optimizer._compiled.count == 0
    np.testing.assert_allclose(p.numpy(), START[0] - 0.5, rtol=1e-6)


def test_what_does_not_fit_is_the_error_of_the_op():
    p, optimizer = one()
    p._grad = paddle.to_tensor(np.ones(p.shape, "float64"))
    with pytest.raises(DTypeError, match="Grad has dtype float64"):
        optimizer.step()


def test_a_copy_of_an_optimizer_goes_on_by_itself():
    p, optimizer = one()
    other = copy.deepcopy(optimizer)
    (q,) = other._parameter_list
    q.grad = paddle.to_tensor(np.ones(q.shape, "float32"))
    before = p.numpy()
    other.step()
    np.testing.assert_array_equal(p.numpy(), before)
    optimizer.step()
    np.testing.assert_array_equal(p.numpy(), q.numpy())


def test_names_of_layers_do_not_depend_on_it():
    with paddle.unique_name.guard():
        one(Adam, weight_decay=0.1)
        first = paddle.unique_name.generate("scale")
    assert first == "scale_0"
