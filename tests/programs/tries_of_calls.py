"""`try` around calls of dy2st that eager mode cannot do either: the handlers take over where only the run knows whether they are called."""

from dy2st import concat

P, N = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5]


class Box:
    def __init__(self, value):
        self.value = value


def in_a_branch(x):
    done = 0
    try:
        if x.mean() > 0.5:
            concat([])
        done = 1
    except ValueError:
        done = 5
    return x * done


def in_each_iteration(x):
    done = 0
    for v in x:
        try:
            if v > 1.5:
                x.matmul(x, nowhere=3)
            done = done + 1
        except TypeError:
            done = done + 5
    return x * done


def in_one_of_several_branches(x):
    done = 0
    try:
        if x[0] > 0.7:
            done = x.nowhere
        elif x[0] > -0.5:
            x.matmul("nothing")
        done = done + 1
    except (AttributeError, TypeError):
        done = done + 5
    return x * done


def behind_what_may_raise(x):
    box = Box(x)
    try:
        if x.mean() > 0.5:
            raise ValueError
        box.value = x * 3
        concat([])
    except ValueError:
        box.value = box.value * 2
    return box.value


def through_a_finally(x):
    done = 0
    try:
        if x.mean() > 0.5:
            raise ValueError
        done = done + 20
        try:
            concat([])
        finally:
            done = done + 100
    except ValueError:
        done = done + 50
    return x * done


CASES = [
    (in_a_branch, [(P,), (N,)], 1),
    (in_each_iteration, [(P,), (N,)], 1),
    (in_one_of_several_branches, [(P,), (N,), ([0.1, 1.0],)], 1),
    (behind_what_may_raise, [(P,), (N,)], 1),
    (through_a_finally, [(P,), (N,)], 1),
]
