"""One static function in several threads: calls that change what is outside run one at a time, others at once."""

import threading

import numpy as np

from dy2st import jit, nn, no_grad, optimizer, static, zeros
from dy2st.tensor import Tensor

THREADS, CALLS = 4, 100


def in_threads(call):
    def work():
        for _ in range(CALLS):
            call()

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def test_each_call_of_a_training_step_counts():
    layer = nn.Linear(2, 2)
    layer.register_buffer("seen", zeros([1]))
    layer.count = 0
    sgd = optimizer.SGD(0.5, parameters=[layer.bias])

    @jit.to_static
    def step(x):
        layer.seen += 1
        layer.count += 1
        loss = layer(x).sum()
        loss.backward()
        sgd.step()
        sgd.clear_grad()

    x = Tensor(np.ones([1, 2], "float32"))
    for _ in range(3):
        step(x)
    in_threads(lambda: step(x))
    steps = 3 + THREADS * CALLS
    assert (layer.seen.item(), layer.count) == (steps, steps)
    np.testing.assert_array_equal(layer.bias.numpy(), np.full(2, -0.5 * steps, "float32"))


def test_each_run_of_a_program_counts():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [1, 2])
        loss = static.nn.fc(x, 2, bias_attr="bias").sum()
        optimizer.SGD(0.5).minimize(loss)
    scope, executor = static.Scope(), static.Executor()
    executor.run(startup, scope=scope)
    feed = {"x": np.ones([1, 2], "float32")}
    in_threads(lambda: executor.run(main, feed, [loss], scope=scope))
    bias = np.array(scope.find_var("bias").get_tensor())
    np.testing.assert_array_equal(bias, np.full(2, -0.5 * THREADS * CALLS, "float32"))


def test_calls_that_only_read_run_at_once():
    layer = nn.Linear(2, 2)

    @jit.to_static
    def forward(x):
        return layer(x)

    barrier = threading.Barrier(2, timeout=60)
    x = Tensor(np.ones([1, 2], "float32"))
    with no_grad():
        forward(x)
    inside = []

    def call():
        with no_grad():
            forward(x)

    def held():
        """Stands in for a run that takes long: both calls must be in it before one can leave."""
        barrier.wait()
        inside.append(1)

    concrete = forward.concrete_program.forward()
    plain = concrete.call_driver
    concrete.call_driver = lambda frame: (held(), plain(frame))[1]
    threads = [threading.Thread(target=call) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert inside == [1, 1]
