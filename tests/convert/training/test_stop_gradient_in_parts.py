"""Tensors outside at which gradients stop in a part of a call only, as where two networks are trained against each other."""

import numpy as np
import pytest

import dy2st as paddle
from dy2st import jit, nn, optimizer
from dy2st.errors import StructureError


class Two:
    """Parameters of two networks, each with an optimizer, and a step that is static or not."""

    def __init__(self, step, stage):
        def make(*values):
            start = nn.initializer.Assign(np.array(values, np.float32))
            return paddle.create_parameter([3], "float32", default_initializer=start)

        self.judge, self.bias, self.maker = make(0.5, -1.0, 2.0), make(1.0, 1.0, 1.0), make(2.0, 0.5, 1.0)
        self.of_judge = optimizer.Adam(0.1, parameters=[self.judge, self.bias])
        self.of_maker = optimizer.Adam(0.1, parameters=[self.maker])
        self.step = stage(lambda x: step(self, x))

    def freeze(self, frozen):
        for p in (self.judge, self.bias):
            p.stop_gradient = frozen

    def judged(self, x):
        return (self.judge * x).sum() + self.bias.mean()


def train_maker(two, x):
    two.freeze(True)
    loss = two.judged(two.maker * x)
    loss.backward()
    two.of_maker.step()
    two.of_maker.clear_grad()
    return loss


def train_judge(two, x):
    two.freeze(False)
    loss = two.judged(x) - two.judged((two.maker * x).detach())
    loss.backward()
    two.of_judge.step()
    two.of_judge.clear_grad()
    return loss


def maker_first(two, x):
    return train_maker(two, x), train_judge(two, x)


def judge_first(two, x):
    other = train_judge(two, x)
    return train_maker(two, x), other


def both_in_one_loss(two, x):
    two.freeze(True)
    two.judged(two.maker * x).backward()
    two.freeze(False)
    (two.judged(x) + two.maker.sum()).backward()
    return ()


def used_before_and_behind(two, x):
    loss = two.judged(x * two.maker)
    two.freeze(True)
    loss = loss + 2 * two.judged(x * two.maker)
    two.freeze(False)
    return loss + 3 * two.bias.sum(), two.judge


def under_a_condition(two, x):
    two.freeze(True)
    loss = two.judged(two.maker * x) if x.sum() > 0 else two.maker.sum()
    for row in x:
        loss = loss + row * two.judge.sum() * two.maker.max()
    two.freeze(False)
    return loss + two.judged(x)


def first_without_gradients(two, x):
    with paddle.no_grad():
        known = two.judged(x)
    two.freeze(True)
    loss = two.judged(x * two.maker)
    two.freeze(False)
    return known + loss


def freezes_what_its_result_needs(two, x):
    two.freeze(False)
    y = two.judged(x)
    two.freeze(True)
    return y


def freezes_before_backward(two, x):
    y = two.judged(x)
    two.freeze(True)
    y.backward()
    two.freeze(False)


def freezes_for_the_next_call(two, x):
    y = two.judged(x)
    two.freeze(True)
    return y.detach()


def lets_flow_what_was_frozen(two, x):
    y = two.judged(x * two.maker)
    two.freeze(False)
    y = y + two.judged(x)
    two.freeze(True)
    return y


@pytest.mark.parametrize(("step", "frozen"), [
    (maker_first, False), (judge_first, False), (both_in_one_loss, False), (used_before_and_behind, False),
    (first_without_gradients, False), (freezes_before_backward, False), (freezes_for_the_next_call, False), (judge_first, True),
])  # fmt: skip
def test_the_same_as_eagerly(step, frozen):
    outcomes = []
    for stage in (lambda f: f, jit.to_static):
        two, found = Two(step, stage), []
        two.freeze(frozen)
        for sign in (1, -1, 1):
            results = two.step(paddle.to_tensor(np.array([1.0, 2.0, 3.0], np.float32) * sign))
            results = results if isinstance(results, tuple) else () if results is None else (results,)
            if step not in (maker_first, judge_first, both_in_one_loss) and results and not results[0].stop_gradient:
                results[0].backward()
            for p in (two.judge, two.bias, two.maker):
                found += [p.stop_gradient, p.numpy().tolist(), None if p.grad is None else p.grad.numpy().tolist()]
                p.clear_grad()
            found.append([(t.numpy().tolist(), t.stop_gradient) for t in results])
        outcomes.append(found)
    assert str(outcomes[0]) == str(outcomes[1])


@pytest.mark.parametrize(("step", "frozen"), [
    (under_a_condition, False), (freezes_what_its_result_needs, True), (lets_flow_what_was_frozen, True),
])  # fmt: skip
def test_gradients_that_would_go_nowhere_are_refused(step, frozen):
    two = Two(step, jit.to_static)
    two.freeze(frozen)
    with pytest.raises(StructureError, match="depends on a tensor that the function gives stop_gradient") as caught:
        two.step(paddle.to_tensor([1.0, 2.0, 3.0]))
    assert "p.stop_gradient = frozen" in str(caught.value)
    assert two.judge.stop_gradient is frozen
