"""States of optimizers and schedules, parameter groups, clips of several dtypes; and what is refused."""

import warnings

import numpy as np
import pytest

import dy2st as paddle
from dy2st import Tensor, nn, optimizer
from dy2st.errors import AttributeValueError, DTypeError, StateDictError
from dy2st.optimizer import lr


def parameter(*values, dtype="float32", name=None):
    attr = paddle.ParamAttr(name=name, initializer=nn.initializer.Assign(np.array(values)))
    return paddle.create_parameter([len(values)], dtype, attr=attr)


def step(opt, *params):
    sum((p * 2).sum().astype("float32") for p in params).backward()
    opt.step()
    opt.clear_grad()


def adam(steps, rate, beta1, epsilon):
    """A parameter that starts at 1, with gradient 2, by the formula."""
    p, m, v = 1.0, 0.0, 0.0
    for t in range(1, steps + 1):
        m, v = beta1 * m + (1 - beta1) * 2, 0.999 * v + 0.001 * 4
        root = np.sqrt(1 - 0.999**t)
        p -= rate * root / (1 - beta1**t) * m / (np.sqrt(v) + epsilon * root)
    return p


class TestGroups:
    def test_each_group_has_its_hyperparameters(self):
        a, b = parameter(1.0), parameter(1.0)
        groups = [{"params": [a]}, {"params": [b], "beta1": 0.5, "epsilon": 1.0, "learning_rate": 0.5}]
        opt = optimizer.Adam(0.1, parameters=groups)
        for _ in range(3):
            step(opt, a, b)
        np.testing.assert_allclose(a.item(), adam(3, 0.1, 0.9, 1e-8), rtol=1e-5)
        np.testing.assert_allclose(b.item(), adam(3, 0.05, 0.5, 1.0), rtol=1e-5)

    def test_momentum(self):
        a, b = parameter(1.0), parameter(1.0)
        opt = optimizer.Momentum(0.1, 0.9, parameters=[{"params": [a], "momentum": 0.0}, {"params": [b]}])
        for _ in range(2):
            step(opt, a, b)
        np.testing.assert_allclose([a.item(), b.item()], [1 - 0.4, 1 - 0.2 - 0.38], rtol=1e-6)

    def test_what_an_optimizer_does_not_have(self):
        with pytest.raises(AttributeValueError, match="group of SGD cannot set 'beta1'"):
            optimizer.SGD(0.1, parameters=[{"params": [parameter(1.0)], "beta1": 0.5}])
        with pytest.raises(AttributeValueError, match="beta2 must be in"):
            optimizer.Adam(0.1, parameters=[{"params": [parameter(1.0)], "beta2": 1.5}])


class TestParameters:
    def test_one_that_is_there_twice(self):
        p = parameter(1.0)
        with pytest.raises(AttributeValueError, match="is there twice"):
            optimizer.SGD(0.1, parameters=[p, p])

    def test_two_of_one_name_would_share_their_state(self):
        with pytest.raises(AttributeValueError, match="two parameters have the name 'w'"):
            optimizer.Adam(0.1, parameters=[parameter(1.0, name="w"), parameter(2.0, name="w")])

    def test_what_is_no_tensor(self):
        with pytest.raises(DTypeError, match="must be Tensors, got int"):
            optimizer.SGD(0.1, parameters=[3])


class TestStates:
    def trained(self):
        a, b = parameter(1.0, 2.0), parameter(3.0)
        schedule = lr.StepDecay(0.1, 2)
        opt = optimizer.Adam(schedule, parameters=[a, b])
        step(opt, a, b)
        return b, opt

    def saved(self, opt):
        return {k: v.numpy() if isinstance(v, Tensor) else dict(v) for k, v in opt.state_dict().items()}

    @pytest.mark.parametrize("wrong", ["shape", "text", "schedule"])
    def test_nothing_is_changed_if_something_is_wrong(self, wrong):
        b, opt = self.trained()
        before = self.saved(opt)
        state = {k: v if k == "LR_Scheduler" else v + 1 for k, v in before.items()}
        state["LR_Scheduler"] = {"last_epoch": 7, "last_lr": 0.5}
        if wrong == "schedule":
            del state["LR_Scheduler"]["last_lr"]
        else:
            state[f"{b.name}_moment1_0"] = np.zeros(7) if wrong == "shape" else "text"
        with pytest.raises((StateDictError, AttributeValueError)):
            opt.set_state_dict(state)
        after = self.saved(opt)
        assert after["LR_Scheduler"] == before["LR_Scheduler"]
        assert all(np.array_equal(after[k], before[k]) for k in before if k != "LR_Scheduler")

    def test_a_shape_is_checked_before_the_state_is_used(self):
        p = parameter(1.0)
        with pytest.raises(StateDictError, match="_moment1_0"):
            optimizer.Adam(0.1, parameters=[p]).set_state_dict({f"{p.name}_moment1_0": np.zeros(7)})

    def test_state_of_other_parameters_is_warned_about(self):
        _, opt = self.trained()
        other = optimizer.Adam(0.1, parameters=[parameter(1.0)])
        with pytest.warns(UserWarning, match="_moment1_0.*belongs to no parameter"):
            other.set_state_dict({k: v for k, v in self.saved(opt).items() if k != "LR_Scheduler"})

    def test_state_that_is_not_restored_is_warned_about(self):
        b, opt = self.trained()
        state = self.saved(opt)
        del state[f"{b.name}_moment1_0"], state["LR_Scheduler"]
        with pytest.warns(UserWarning, match=f"'{b.name}_moment1_0', 'LR_Scheduler': missing"):
            opt.set_state_dict(state)

    def test_what_paddle_writes_besides_is_no_state(self):
        _, opt = self.trained()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            opt.set_state_dict({**self.saved(opt), "master_weights": {}})

    def test_what_is_no_dict(self):
        with pytest.raises(StateDictError, match="must be a dict, got int"):
            optimizer.SGD(0.1, parameters=[parameter(1.0)]).set_state_dict(3)

    def test_a_warmup_lacks_the_state_of_the_schedule_after_it(self):
        schedule = lr.LinearWarmup(lr.StepDecay(0.1, 2), 3, 0.0, 0.1)
        with pytest.raises(AttributeValueError, match="LinearWarmup_LR"):
            schedule.set_state_dict({"last_epoch": 5, "last_lr": 0.5})
        assert schedule.last_epoch == 0


class TestClips:
    def test_gradients_of_several_dtypes_have_one_norm(self):
        grads = [Tensor(np.array([3.0], d)) for d in ("float64", "float32", "float16")]
        clipped = nn.ClipGradByGlobalNorm(1.0).clip(grads)
        assert [g.dtype for g in clipped] == ["float64", "float32", "float16"]
        np.testing.assert_allclose([g.item() for g in clipped], [3 / np.sqrt(27)] * 3, rtol=1e-3)

    def test_squares_of_float16_do_not_overflow(self):
        (clipped,) = nn.ClipGradByGlobalNorm(1.0).clip([Tensor(np.array([300.0, 400.0], "float16"))])
        np.testing.assert_allclose(clipped.numpy(), [0.6, 0.8], rtol=1e-3)

    def test_limits(self):
        for clip in (nn.ClipGradByNorm, nn.ClipGradByGlobalNorm):
            with pytest.raises(AttributeValueError, match="must be positive, got -1"):
                clip(-1)
        with pytest.raises(AttributeValueError, match=r"min 1\.0 is larger than max -1\.0"):
            nn.ClipGradByValue(-1.0)


class TestPlateau:
    def test_a_step_without_a_metric_is_an_error(self):
        with pytest.raises(TypeError, match="metrics"):
            lr.ReduceOnPlateau(1.0).step()

    def test_relative_thresholds_below_zero_are_paddles(self):
        # better is below best - best * threshold: -2 + 0.2
        schedule = lr.ReduceOnPlateau(1.0, patience=0, threshold=0.1)
        for metric in (-2.0, -1.9):
            schedule.step(metric)
        assert (schedule(), schedule.best) == (1.0, -1.9)
        schedule.step(-1.7)
        assert schedule() == pytest.approx(0.1)
