"""Programs for `to_static(full_graph=False)`. The statements that run eagerly are marked; each case has calls."""


import random

import numpy as np

from dy2st.tensor import Tensor
from dy2st.tensor.manipulation import concat
from dy2st.tensor.search import one_hot


def at_top_level(x, n):
    y = x * 2 + 1
    order = np.argsort(y.numpy())  # eager
    for i in range(n):
        y = y + i
    return y * float(len(order))  # eager


def scale_of_numpy(x, n):
    y = x * 2
    scale = float(np.median(y.numpy()))  # eager
    z = y * scale + x
    if z.sum() > 10:
        z = z * scale
    return z


def in_a_branch(x, n):
    y = x * 3
    if n > 1:
        y = y + 1
        k = float(y.numpy().max())  # eager
        y = y * k - 1
    else:
        y = y - 1
    return y.sum() * y


def in_a_loop(x, n):
    total = x * 0
    for i in range(int(n)):
        total = total + x * i
        if float(total.numpy().sum()) > 5:  # eager
            break
        total = total * 2 - x
    return total, i


def in_a_while(x, n):
    count = 0
    while x.sum() < 30:
        x = x * 1.5 + n
        count += 1
        if count % 2:
            x = x + float(np.float32(x.numpy()[0]))  # eager
            continue
        x = x - 0.5
    else:
        count = -count
    return x, count


def early_return(x, n):
    if x.sum() > 5:
        return x * n
    y = x * 2 + n
    print(y.numpy().tolist())  # eager
    for row in y:
        if row > 3:
            return row * 10 + n
    return y.mean() * 2


def number_or_text(x, n):
    if x.sum() > 3:  # eager
        scale = 2
    else:
        scale = "half"
    return x * n if scale == "half" else x - n * scale


def caught(x, n):
    last = x * 0
    try:
        last = x + 1
        y = one_hot(n, 2) * 2  # eager
    except IndexError as error:
        y = last * 3 + x
        print(type(error).__name__)
    finally:
        last = last * 2
    return y * last


def raised(x, n):
    y = x * n + 1
    if y.numpy().sum() < 7:  # eager
        raise KeyError("few", int(n))
    return y * 2


def several(x, n):
    a = x * 2 + 1
    first = a.numpy()  # eager
    b = a * a + x
    second = b.numpy()  # eager
    c = b * 3 - a
    return c * float((first * second).sum())  # eager


def key_of_a_dict(x, n):
    table = {2: x * 2, 3: x * 3}
    y = table.pop(int(n))  # eager
    return y * 2 + x


def lists_and_dicts(x, n):
    out = [x]
    seen = {"first": x * 2}
    for _ in range(n):  # eager
        out.append(out[-1] * 2)
    seen["numbers"] = x.numpy().tolist()  # eager
    out.append(seen["first"] + len(seen["numbers"]))
    for v in list(out):
        out[0] = out[0] + v
    return out, seen


def names_of_one_object(x, n):
    y = x * 2
    z = y
    pair = [y, z]
    k = z.numpy()[0] * 0  # eager
    y[0] = 7.0
    pair[1][1] = 8.0
    return pair, z * float(k + 2)  # eager


def closure(x, n):
    y = x * 2 + n
    scale = 2

    def scaled(v):
        return v * scale + y

    z = scaled(x) * 2
    scale = len(z.numpy().tolist())  # eager
    return scaled(z) + scaled(y)


def swapped_by_nonlocal(x, n):
    count = 0

    def bump(v):
        nonlocal count
        count += int(np.sign(1))
        return v * 2 + count

    y = bump(x) + bump(x)
    print(y.numpy().tolist())  # eager
    return bump(y) + 0.5, count


def unset_on_one_path(x, n):
    if n > 2:
        late = x * 2 + 1
    y = x + float(x.numpy()[0])  # eager
    if n > 2:
        y = y * late + 1
    return y * 2


def deleted(x, n):
    y = x * 2 + 1
    z = y * 3 + x
    del y
    print(z.shape, z.numpy().size)  # eager
    return z * 2 + n


def random_numbers(x, n):
    y = x * 2 + 1
    k = random.sample([1.0, 2.0, 3.0], 1)[0]  # eager
    return y * k + x


def text_of_a_tensor(x, n):
    label = f"{x.sum()}"  # eager
    return x * len(label) + 1  # eager


def with_block(x, n):
    from dy2st import no_grad

    with no_grad():
        k = x * 2 + 1
        print(k.numpy().tolist())  # eager
        k = k * 3 - 1
    return x * k + n


def generator(x, n):
    def multiples(x, n):
        for i in range(int(n)):  # eager
            yield x * i

    y = x * 2 + 1
    return concat([v * 2 + 1 for v in multiples(y, n)])


def matched(x, n):
    match x.numpy().tolist():  # eager
        case [a, b]:
            y = x * a + b
        case _:
            y = x * 2 + 1
    return y * y + 1


def in_place(x, n):
    y = x * 2 + 1
    y[0] = float(y.numpy()[1])  # eager
    y[1] = y[0] * 2 + n
    y += 1
    return y * y


def read_in_a_finally(x, n):
    try:
        name = {1: "one", 3: "three"}[int(x.numpy()[0])]  # eager
    finally:
        x = x * len(name)
    return x + n


def own_variables(x, n):
    y = x * 2
    unused = y + 1
    names = sorted(locals())
    return y * len(names) + n, names


def class_on_both_sides(x, n):
    class Seen:
        count = 0

    y = x * 2 + Seen.count
    y = y + float(y.numpy()[0])  # eager
    Seen.count += 1
    return y * Seen.count + n, Seen.count


def class_of_an_object_on_both_sides(x, n):
    Seen = type("Seen", (), {"count": 0})  # eager: as calls would share what it gets
    seen = Seen()
    y = x * 2 + seen.count
    y = y + float(y.numpy()[0])  # eager
    type(seen).count += 1
    return y * seen.count + n, seen.count


def functions_that_share_a_variable(x, n):
    def counter():
        k = 0

        def add():
            nonlocal k
            k += 1
            return k

        return add, lambda: k

    add, get = counter()  # eager: likewise
    y = x * 2 + 1
    y = y + float(y.numpy()[0])  # eager
    y = y * add() + 1
    y = y + float(y.numpy()[0])  # eager
    return y * add() + n, get()


def function_with_an_attribute(x, n):
    def double(v):
        return v * 2

    y = double(x)
    double.calls = getattr(double, "calls", 0) + len(y.numpy())  # eager
    y = double(y) + n
    return y * double.calls, double.calls


def recursion_on_both_sides(x, n):
    order = []

    def go(k):
        order.append(k)
        if k < n:
            go(k + 1)
        return len(order)

    first = go(n * 0)  # eager: the list gets numbers that may be one object, as only the run knows
    y = x * first + float(x.numpy()[0])  # eager
    second = go(n - 1)  # eager: likewise
    return y * second + 1, len(order), order[0] + order[1]


SMALL, LARGE = ([1.0, 2.0], 2), ([3.0, 4.0], 3)
CASES = [
    (f, [SMALL, LARGE, SMALL])
    for f in (
        at_top_level, scale_of_numpy, in_a_branch, in_a_loop, in_a_while, early_return, number_or_text, several, key_of_a_dict,
        lists_and_dicts, names_of_one_object, closure, swapped_by_nonlocal, unset_on_one_path, deleted, random_numbers,
        text_of_a_tensor, with_block, generator, matched, in_place, raised, read_in_a_finally, own_variables,
        class_on_both_sides, class_of_an_object_on_both_sides, functions_that_share_a_variable, function_with_an_attribute,
        recursion_on_both_sides,
    )
] + [(caught, [([1.0, 2.0], 0), ([1.0, 2.0], 5), ([1.0, 2.0], 1)])]  # fmt: skip


class Refuses:
    """A callable object."""

    def __init__(self):
        self.calls = []

    def __call__(self, x):
        y = x * 2 + 1
        self.calls.append(float(y.numpy().sum()))  # eager
        return y * len(self.calls)


def tensor(*values):
    return Tensor(np.array(values, np.float32), stop_gradient=False)
