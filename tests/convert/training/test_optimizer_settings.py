"""What an optimizer, its clip, its decay and its parameters are told between the calls of a static training step."""

import numpy as np
import pytest
from training import OPTIMIZERS, Training, agree, batches

import dy2st as paddle
from dy2st import jit, nn
from dy2st import optimizer as opt
from dy2st.errors import StagedValueError
from dy2st.tensor import Tensor


def set_momentum(o, w):
    o._momentum = 0.0


def set_norm(o, w):
    o._grad_clip.clip_norm = 0.1


def set_decay(o, w):
    o.regularization.coeff = 1.0


def set_clipped(o, w):
    w.need_clip = False


def set_own_decay(o, w):
    w.regularizer = paddle.regularizer.L2Decay(1.0)


def set_own_rate(o, w):
    w.optimize_attr["learning_rate"] = 0.25


@pytest.mark.parametrize("change", [set_momentum, set_norm, set_decay, set_clipped, set_own_decay, set_own_rate], ids=lambda f: f.__name__)
def test_settings_of_a_step_that_change(change):
    found = []
    for stage in (lambda f: f, jit.to_static):
        w = paddle.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(1.0))
        decay, clip = paddle.regularizer.L2Decay(0.1), nn.ClipGradByGlobalNorm(0.5)
        optimizer = opt.Momentum(0.1, parameters=[w], weight_decay=decay, grad_clip=clip)

        @stage
        def step(x, optimizer=optimizer):
            (optimizer._parameter_list[0] * x).sum().backward()
            optimizer.step()
            optimizer.clear_grad()

        step(Tensor([1.0]))
        change(optimizer, w)
        step(Tensor([1.0]))
        found.append([w.numpy()])
    agree(*found)


class Counted(nn.ClipGradByGlobalNorm):
    def clip(self, grads):
        self.calls = getattr(self, "calls", 0) + 1
        return grads


def test_code_of_the_users_that_clips_is_refused():
    w = paddle.create_parameter([1], "float32")
    optimizer = opt.SGD(0.1, parameters=[w], grad_clip=Counted(1.0))

    @jit.to_static
    def step(x):
        (w * x).sum().backward()
        optimizer.step()

    with pytest.raises(StagedValueError, match="clipped by a class of your own, Counted"):
        step(Tensor([1.0]))


def test_a_state_that_was_loaded_is_given_up_by_the_first_step():
    w = paddle.create_parameter([1], "float32")
    schedule = opt.lr.StepDecay(0.1, 2)
    optimizer = opt.Momentum(schedule, parameters=[w])
    optimizer.set_state_dict({f"{w.name}_velocity_0": np.ones(1, np.float32), "LR_Scheduler": schedule.state_dict()})

    @jit.to_static
    def step(x):
        (w * x).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
        schedule.step()

    for _ in range(3):
        step(Tensor([1.0]))
    np.testing.assert_allclose(optimizer.state_dict()[f"{w.name}_velocity_0"].numpy(), [3.439], rtol=1e-6)


def test_a_state_that_was_loaded_goes_on():
    first = Training(OPTIMIZERS["adam"], jit.to_static)
    for x, y in batches(2):
        first.step(x, y)
    second = Training(OPTIMIZERS["adam"], jit.to_static)
    second.model.set_state_dict(first.model.state_dict())
    names = dict(zip([p.name for p in first.model.parameters()], [p.name for p in second.model.parameters()], strict=True))
    renamed = {}
    for key, value in first.optimizer.state_dict().items():
        owner = next((p for p in names if key.startswith(f"{p}_")), None)
        renamed[key if owner is None else names[owner] + key.removeprefix(owner)] = value
    second.optimizer.set_state_dict(renamed)
    for x, y in batches():
        assert float(first.step(x, y)) == float(second.step(x, y))
