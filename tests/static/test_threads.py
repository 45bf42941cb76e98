"""One Program, and several, run by many threads at once: training and inference mixed."""

import threading

import numpy as np

import dy2st
from dy2st import optimizer, static

THREADS = 8


def network():
    """A training program with a loop and a branch, its startup program, the same for inference; the loss, the prediction."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), dy2st.unique_name.guard():
        x, y, n = static.data("x", [None, 4]), static.data("y", [None, 1]), static.data("n", [1], "int64")
        h = static.nn.fc(x, 8, activation="relu")
        start = dy2st.zeros([1], "int64")
        _, h = static.nn.while_loop(lambda i, h: i < n, lambda i, h: [i + 1, dy2st.tanh(h)], [start, h])
        p = static.nn.cond(h.mean() > 0.1, lambda: static.nn.fc(h, 1), lambda: h.sum(1, keepdim=True))
        loss = ((p - y) ** 2).mean()
        test = main.clone(for_test=True)
        optimizer.Adam(0.01).minimize(loss)
    return main, startup, test, loss, p


def feed(rng):
    rows = int(rng.integers(1, 9))
    return {"x": rng.normal(size=(rows, 4)).astype("f"), "y": np.ones((rows, 1), "f"), "n": rng.integers(0, 4, 1)}


def in_threads(work):
    """Runs `work(number)` in all threads; an exception in one fails the test."""
    failed = []

    def guarded(number):
        try:
            work(number)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(THREADS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if failed:
        raise failed[0]


def test_training_and_inference_of_several_programs(exe):
    programs = [network() for _ in range(2)]
    scopes = [static.Scope() for _ in programs]
    for (_, startup, *_), scope in zip(programs, scopes, strict=True):
        exe.run(startup, scope=scope)

    def work(number):
        rng = np.random.default_rng(number)
        for _ in range(60):
            which = int(rng.integers(len(programs)))
            main, _, test, loss, p = programs[which]
            program, fetch = (main, loss) if number % 2 else (test, p)
            (value,) = exe.run(program, feed=feed(rng), fetch_list=[fetch], scope=scopes[which])
            assert np.isfinite(value).all()

    in_threads(work)  # compiles, too, from all threads at once


def test_each_thread_trains_what_it_would_train_alone(exe):
    """A scope for each thread, the same program."""
    main, startup, _, loss, _ = network()
    startup.random_seed = 1

    def losses(number):
        scope, rng = static.Scope(), np.random.default_rng(number)
        exe.run(startup, scope=scope)
        return [float(exe.run(main, feed=feed(rng), fetch_list=[loss], scope=scope)[0]) for _ in range(20)]

    want = [losses(number) for number in range(THREADS)]
    got = {}
    in_threads(lambda number: got.update({number: losses(number)}))
    assert [got[number] for number in range(THREADS)] == want
