"""Texts with one of several objects in them, as the run knows, and texts of tensors that change in place later."""

import enum

import dy2st as paddle
import dy2st.nn.functional as F


class Phase(enum.Enum):
    WARM = "warm"
    MAIN = "main"


def printed(x):
    name = "big" if x.max() > 2 else "small"
    print(name, "is", (name, 1), {"key": [name]}, sep=f"<{name}>", end=f" {name!r}\n")
    print(f"{name}: {x.sum():.2f} {name:>8}|{name.upper()!s:<6}|", "%s and %6s" % (name, name), "{0} {0!r}".format(name))  # noqa: UP031, UP032
    return x


def put_together(x):
    name = "big" if x.max() > 2 else "small"
    key = f"{name}/" + "loss" + "-" + name
    key += "!"
    return key, "_".join([name, "x", "a" if x[0] > 0 else "b"]), str(name), repr(name), key == "big/loss-big!", len(key), "" + name


def of_two(x):
    kind, size = "up" if x[0] > 0 else "down", "big" if x.max() > 2 else "small"
    both = f"{kind}-{size}"
    return both, both.split("-"), both.startswith("up"), {"up-big": 1, "up-small": 2}.get(both, 3), f"{kind}{kind}"


def one_text_many_times(x):
    # two texts, however often the text is named: not one for each choice at each place
    name = "u" if x[0] > 0 else "v"
    said = f"{name}{name}{name}{name}{name}{name}{name}{name}"
    return x * {"uuuuuuuu": 1.0, "vvvvvvvv": 2.0}[said]


def in_dicts(x):
    log = {}
    mode = "train" if x.sum() > 0 else "test"
    log["mode"] = f"{mode}_{len(x)}"
    log[f"n_{len(x)}"] = mode + "ing"
    return log


def state_of_a_loop(x):
    status = "start"
    for i, v in enumerate(x):
        print(f"step {i}: {status} {float(v):.1f}")
        status = "up" if v > 0 else "down"
    print("end: " + status)
    return f"last {status}"


def in_a_while(x):
    phase, left = Phase.WARM, 3
    while left > 0:
        if x.sum() > left:
            phase = Phase.MAIN
        print(f"{left} {phase} {phase!r} {phase.value}")
        left -= 1
    return phase


def checked(x):
    name = "weights" if x[0] > 0 else "bias"
    assert x.sum() > -3, name
    assert x.sum() > 0, f"{name} must be positive, got {x.sum().item():.1f}"
    if x.max() > 2.5:
        raise ValueError(name)
    return x


def caught(x):
    name = "left" if x[0] > 0 else "right"
    try:
        for v in x:
            side = name + ("+" if v > 0 else "-")
            if v < -1:
                raise ValueError(f"{side} of {name}", name)
    except ValueError as error:
        print(error, error.args[1])
        return f"failed: {error.args[0]}"
    return name


def many(x):
    """More texts than one of several may be are shown only."""
    said = "".join(["+" if v > 0 else "-" for v in x] + [f" {len(x)}"])
    signs = f"{'a' if x[0] > 0 else 'b'}{'c' if x[1] > 0 else 'd'}{'e' if x[2] > 0 else 'f'}{'g' if x.sum() > 0 else 'h'}"
    more = f"{signs}{'i' if x.min() > 0 else 'j'}"
    print(said, more)
    return signs


def text_or_nothing(x):
    said, kind = None if x.sum() > 0 else "some", int if x.sum() > 0 else float
    print(said, kind, f"{said}|{said!r} {kind}")
    return [said, f"{said}"]


def before_a_change_in_place(x):
    s = x * 1
    said, short = f"{s}", f"{s.sum():.2f}"
    with paddle.no_grad():
        s.add_(paddle.ones([1]))
    print(said, short, s)
    return s.detach()


def before_a_loop_that_changes_it(x):
    s = x.sum().detach()
    said = f"{s:.2f} {s}"
    for v in x:
        s.add_(v.detach())
        print(said, float(s))
    print("%.1f" % s, said)  # noqa: UP031
    return s


def in_an_exception_before_a_change(x):
    s = x.sum().detach()
    try:
        for v in x:
            said = f"{s:.2f}"
            s.add_(v.detach())
            if s < 0:
                raise ValueError(said)
    except ValueError as error:
        print(error)
    return s


def arguments_of_the_api(x):
    how = "sum" if x.max() > 2 else "mean"
    dtype = None if x[0] > 0 else "float32"
    return F.mse_loss(x, x * 2, reduction=how), F.l1_loss(x, x * 3, how), paddle.linspace(0, 1, 3, dtype=dtype)


P, N, S, M = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5], [0.5, -0.25, 0.25], [-0.5, 2.5, 0.5]

CASES = [
    (printed, [(P,), (N,), (M,)], 1),
    (arguments_of_the_api, [(P,), (N,), (S,), (M,)], 1),
    (put_together, [(P,), (N,), (S,), (M,)], 1),
    (of_two, [(P,), (N,), (S,), (M,)], 1),
    (one_text_many_times, [(P,), (N,)], 1),
    (in_dicts, [(P,), (N,)], 1),
    (state_of_a_loop, [(P,), (N,), (M,)], 1),
    (in_a_while, [(P,), (N,), (M,)], 1),
    (checked, [(P,), (N,), (S,), (M,)], 1),
    (caught, [(P,), (N,), (S,), (M,)], 1),
    (many, [(P,), (N,), (S,), (M,)], 1),
    (text_or_nothing, [(P,), (N,)], 1),
    (before_a_change_in_place, [(P,), (N,)], 1),
    (before_a_loop_that_changes_it, [(P,), (N,)], 1),
    (in_an_exception_before_a_change, [(P,), (N,)], 1),
]
