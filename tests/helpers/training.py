"""What the tests of training steps share: a model with its optimizer, eager and static, and the optimizers."""

import numpy as np

import dy2st as paddle
from dy2st import jit, nn
from dy2st import optimizer as opt
from dy2st.nn import functional as F
from dy2st.tensor import Tensor

OPTIMIZERS = {
    "sgd": lambda rate, p: opt.SGD(rate, p),
    "momentum": lambda rate, p: opt.Momentum(rate, parameters=p, use_nesterov=True),
    "adam": lambda rate, p: opt.Adam(rate, parameters=p),
    "adamw": lambda rate, p: opt.AdamW(rate, parameters=p, weight_decay=0.1),
    "rmsprop": lambda rate, p: opt.RMSProp(rate, parameters=p),
    "adagrad": lambda rate, p: opt.Adagrad(rate, parameters=p),
    "clipped and decayed": lambda rate, p: opt.Adam(rate, parameters=p, weight_decay=0.01, grad_clip=nn.ClipGradByGlobalNorm(0.1)),
    "in groups": lambda rate, p: opt.SGD(rate, [{"params": p[:2], "learning_rate": 0.5}, {"params": p[2:]}]),
}


class Net(nn.Layer):
    """The layer in the middle is used on one path only."""

    def __init__(self):
        super().__init__()
        paddle.seed(5)
        self.first, self.second, self.third = nn.Linear(3, 4), nn.Linear(4, 4), nn.Linear(4, 1)

    def forward(self, x):
        x = F.relu(self.first(x))
        if x.mean() > 0.3:
            x = F.relu(self.second(x))
        return self.third(x)


class Training:
    """A model with its optimizer, and a step of both."""

    def __init__(self, make, stage):
        self.model, self.schedule = Net(), opt.lr.StepDecay(0.1, 2)
        self.optimizer = make(self.schedule, self.model.parameters())
        self.step = stage(self.step)

    def step(self, x, y):
        loss = F.mse_loss(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        return loss

    def state(self):
        of_optimizer = [v for v in self.optimizer.state_dict().values() if isinstance(v, Tensor)]
        return [t.numpy() for t in (*self.model.parameters(), *of_optimizer)]


def batches(count=5):
    rng = np.random.default_rng(3)
    for i in range(count):
        x = rng.normal(size=(4 + i % 2, 3)) * (0.1 if i % 2 else 1)
        yield Tensor(x.astype(np.float32)), Tensor(rng.normal(size=(4 + i % 2, 1)).astype(np.float32))


def same_training(make, tolerance):
    eager, static = Training(make, lambda f: f), Training(make, jit.to_static)
    for x, y in batches():
        a, b = eager.step(x, y), static.step(x, y)
        np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=tolerance)
        for p, q in zip(eager.state(), static.state(), strict=True):
            np.testing.assert_allclose(q, p, rtol=tolerance, atol=tolerance)
        assert all(p.grad is None for p in static.model.parameters())
        for training in (eager, static):
            training.schedule.step()


def two_models():
    for stage in (lambda f: f, jit.to_static):
        yield Net(), stage


def gradients(model):
    return [None if p.grad is None else p.grad.numpy() for p in model.parameters()]


def agree(found, wanted):
    for a, b in zip(found, wanted, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)
