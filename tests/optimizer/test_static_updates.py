"""The same update ops in eager steps and in programs."""

import numpy as np
import pytest

import dy2st as paddle
from dy2st import nn, static, unique_name
from dy2st.config import NO_JIT
from dy2st.optimizer import SGD, Adagrad, Adam, Adamax, AdamW, Momentum, RMSProp, lr

R = np.random.default_rng(0)
X, Y = R.normal(size=(8, 3)).astype("float32"), R.normal(size=(8, 1)).astype("float32")
MAKE = {
    "sgd": lambda rate, ps: SGD(rate, ps, 0.1),
    "momentum": lambda rate, ps: Momentum(rate, 0.9, ps, grad_clip=nn.ClipGradByNorm(0.5)),
    "adam": lambda rate, ps: Adam(rate, parameters=ps, grad_clip=nn.ClipGradByGlobalNorm(0.5)),
    "adamw": lambda rate, ps: AdamW(rate, parameters=ps),
    "adamax": lambda rate, ps: Adamax(rate, parameters=ps),
    "adagrad": lambda rate, ps: Adagrad(rate, parameters=ps, grad_clip=nn.ClipGradByValue(0.1)),
    "rmsprop": lambda rate, ps: RMSProp(rate, momentum=0.9, centered=True, parameters=ps),
}


def net():
    slow = paddle.ParamAttr(learning_rate=0.5)
    return nn.Sequential(nn.Linear(3, 4, weight_attr=slow), nn.Tanh(), nn.Linear(4, 1))


@pytest.mark.parametrize("name", MAKE)
def test_steps_are_those_of_eager(name):
    with unique_name.guard():
        eager = net()
        start = {p.name: p.numpy() for p in eager.parameters()}
        schedule = lr.ExponentialDecay(0.1, 0.5)
        optimizer = MAKE[name](schedule, eager.parameters())
        for _ in range(3):
            loss = nn.functional.mse_loss(eager(paddle.to_tensor(X)), paddle.to_tensor(Y))
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            schedule.step()
    main, startup, scope = static.Program(), static.Program(), static.Scope()
    with unique_name.guard(), static.program_guard(main, startup):
        x, y = static.data("x", [None, 3]), static.data("y", [None, 1])
        model = net()
        loss = nn.functional.mse_loss(model(x), y)
        schedule = lr.ExponentialDecay(0.1, 0.5)
        MAKE[name](schedule, model.parameters()).minimize(loss)
    with NO_JIT.override(True):
        exe = static.Executor()
        exe.run(startup, scope=scope)
        for key, value in start.items():
            scope.find_var(key).get_tensor().set(value)
        for _ in range(3):
            exe.run(main, feed={"x": X, "y": Y}, fetch_list=[loss], scope=scope)
            schedule.step()
    for p in eager.parameters():
        np.testing.assert_allclose(scope.find_var(p.name).get_tensor().numpy(), p.numpy(), rtol=1e-5, atol=1e-6)
