"""`static.ExponentialMovingAverage`."""

import numpy as np
import pytest

import dy2st as paddle
import dy2st.fluid as fluid
from dy2st import static
from dy2st.errors import AttributeValueError, ModeError


@pytest.mark.parametrize(("steps", "decay"), [(None, 0.9), (2.0, 3 / 12), (1000.0, 0.9)])
def test_averages_of_a_training(steps, decay):
    main, startup = static.Program(), static.Program()
    with static.scope_guard(static.Scope()), static.program_guard(main, startup):
        attr = paddle.ParamAttr(name="w", initializer=paddle.nn.initializer.Constant(1.0))
        loss = static.nn.fc(static.data("x", [None, 2]), 1, weight_attr=attr, bias_attr=False).mean()
        paddle.optimizer.SGD(0.5).minimize(loss)
        ema = static.ExponentialMovingAverage(0.9, None if steps is None else static.create_global_var([1], steps, "float32", True))
        ema.update()
        exe = static.Executor()
        exe.run(startup)
        average = np.zeros([2, 1], "float32")
        for t in range(1, 4):
            exe.run(main, feed={"x": np.ones([1, 2], "float32")})
            average = decay * average + (1 - decay) * (1 - 0.5 * t)

        def weight():
            return main.state_dict("param")["w"]

        with ema.apply(exe):
            np.testing.assert_allclose(weight(), average / (1 - decay**3), rtol=1e-5)
        assert (weight() == -0.5).all()
        with ema.apply(exe, need_restore=False):
            pass
        assert (weight() != -0.5).all()
        ema.restore(exe)
        assert (weight() == -0.5).all()


def test_what_cannot_be_had():
    with fluid.dygraph.guard(), pytest.raises(ModeError, match="none is being built"):
        static.ExponentialMovingAverage()
    with pytest.raises(AttributeValueError, match="between 0 and 1"):
        static.ExponentialMovingAverage(1.5)
