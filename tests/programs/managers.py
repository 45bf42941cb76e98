"""`with` around what the run may raise, where the manager does nothing that is seen then, or nothing is raised."""

import contextlib

P, N, B = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5], [7.0, 3.0, 4.0]


class Depth:
    depth = 0

    def __enter__(self):
        self.depth += 1
        return self

    def __exit__(self, kind, error, traceback):
        self.depth -= 1
        self.error = error


class Told:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        print("enter", self.name)

    def __exit__(self, kind, error, traceback):
        print("exit", self.name)


@contextlib.contextmanager
def section(name):
    try:
        yield
    finally:
        print("end", name)


@contextlib.contextmanager
def between(name):
    print("begin", name)
    yield
    print("end", name)  # not where the body raises


def quiet(x):
    depth = Depth()
    with depth:
        if x.sum() < 0:
            raise ValueError(f"{float(x.sum())}")
        y = x * depth.depth
    return y * (depth.depth + 2)


def end_that_is_not_reached(x):
    with between("all"):
        assert x[0] < 5, "large"
        y = x * 2
    return y


def nothing_raised(x):
    """No row of a loop is missing, and what is caught inside is not seen outside."""
    y = x[0]
    with Told("all"):
        for v in x:
            with section("row"):
                try:
                    if v > 2:
                        raise ValueError
                    y = y + v
                except ValueError:
                    y = y * v
        for v, w in zip(x, reversed(x), strict=False):
            y = y + v / w
    return y


def callbacks(x):
    done = []
    with contextlib.ExitStack() as stack:
        stack.callback(done.append, 1)
        stack.enter_context(Depth())
        if x.sum() < 0:
            raise ValueError("negative")
    return x * len(done)


def raised_for_sure(x):
    with section("all"), Told("inner"):
        print("in", x[0])
        raise ValueError(f"always {float(x[0])}")


CASES = [(f, [(P,), (N,), (B,)], 1) for f in (quiet, end_that_is_not_reached, nothing_raised, callbacks, raised_for_sure)]
