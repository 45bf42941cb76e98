"""What is asked of one of several objects, and that one of them does not answer: None, an object of another class, a missing key."""

import inspect
from enum import Enum

import dy2st.nn.functional as F


class Mode:
    def __init__(self, name, **others):
        self.name = name
        vars(self).update(others)

    def shout(self):
        return self.name + "!"


class Plain:
    kind = "plain"

    def only_here(self):
        return 5


class Color(Enum):
    RED = 1
    BLUE = 2


MODE = Mode("up", scale=lambda v: v * 2, steps=[1, 2], sub=Mode("s", n=3), nothing=None)
PLAIN = Plain()


def text_of_an_object_or_none(x):
    o = MODE if x.sum() > 0 else None
    return x * 2 if o is not None and o.name == "up" else x


def text_in_a_tuple(x):
    o = MODE if x.sum() > 0 else None
    return o is not None and o.name in ("up", "down") and isinstance(o.name, str), o is not None and o.nothing is None


def key_of_a_dict(x):
    o = MODE if x.sum() > 0 else None
    return x * {"up": 3}[o.name] if o is not None else x


def method_and_function(x):
    o = MODE if x.sum() > 0 else None
    if o is not None and o.shout() == "up!":
        x = o.scale(x) + o.steps[0] * o.sub.n
        for step in o.steps:
            x = x + step
    return x


def letter_of_a_text_or_none(x):
    s = "abc" if x.sum() > 0 else None
    return s is not None and s[0] == "a", s is not None and s.startswith("ab")


def item_under_a_key_that_may_be_missing(x):
    d = {"a": "r"}
    k = "a" if x.sum() > 0 else "c"
    found = k in d and d[k] == "r"
    try:
        kind = d[k] == "r"
    except KeyError:
        kind = False
    return found, kind


def result_of_a_function_or_none(x):
    f = (lambda v: "a") if x.sum() > 0 else None
    return f is not None and f(x) == "a"


def attribute_of_one_of_two_classes(x):
    o = MODE if x.sum() > 0 else PLAIN
    known = hasattr(o, "kind")
    if isinstance(o, Plain):
        return x * o.only_here()
    return x * len(o.name) + known


def name_of_a_member_or_none(x):
    e = Color.RED if x.sum() > 0 else None
    return e is not None and e.name == "RED"


def found_in_a_loop(x):
    o = None
    for c in (PLAIN, MODE):
        if x.sum() > 0 and hasattr(c, "name"):
            o = c
            break
    return o is not None and o.name == "up"


def matched(x):
    o = MODE if x.sum() > 0 else None
    match o:
        case Mode(name="up"):
            return x * 2
        case None:
            return x
    return x * 9


def shown_and_raised(x):
    o = MODE if x.sum() > 0 else None
    if o is not None:
        print(f"{o.name}", o.name)
    try:
        if o is not None:
            raise ValueError(o.name)
    except ValueError as e:
        return x * (len(e.args[0]) + 1)
    return x


def asked_where_it_is_none(x):
    o = MODE if x.sum() > 0 else None
    try:
        return x * len(o.name)
    except AttributeError:
        return x * 100


def asked_without_a_handler(x):
    o = MODE if x.sum() > 0 else None
    return x * len(o.name)


def best_text(x):
    best = None
    for w in ["b", "a"]:
        if x[ord(w) - 97] < 5 and (best is None or w < best):
            best = w
    return best == "a"


def functions_of_other_arguments(x):
    f, g = (lambda v, k: v * k), (lambda v: v + 1)
    h = f if x.sum() > 0 else g
    y = h(x, 2) if h is f else h(x)
    try:
        return y, h(x)
    except TypeError:
        return y, x * 7


def class_or_none(x):
    k = int if x.sum() > 0 else None
    kinds = (int,) if x.sum() > 0 else (str,)
    return k is not None and isinstance(3, k), isinstance(3, kinds)


def key_or_none(x):
    key = None if x.sum() > 0 else (lambda v: -v)
    items = [2, 0, 1]
    items.sort(key=key)
    return sorted([2, 0, 1], key=key), max(3, 1, 2, key=key), min([3, 1, 2], key=key), items


def kind_of_a_function(x):
    f = F.relu if x.sum() > 0 else None
    return f(x) if inspect.isfunction(f) else x * 9


P, N = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.0]
CASES = [(function, [(P,), (N,)], 1) for function in (
    text_of_an_object_or_none, text_in_a_tuple, key_of_a_dict, method_and_function, letter_of_a_text_or_none,
    item_under_a_key_that_may_be_missing, result_of_a_function_or_none, attribute_of_one_of_two_classes, name_of_a_member_or_none,
    found_in_a_loop, matched, shown_and_raised, asked_where_it_is_none, asked_without_a_handler, best_text,
    functions_of_other_arguments, class_or_none, key_or_none, kind_of_a_function,
)]  # fmt: skip
