"""Lists, dicts and dataclasses that are None on some path."""

import copy
import dataclasses
from collections import namedtuple

import dy2st as paddle


@dataclasses.dataclass
class Best:
    score: object
    places: list


Pair = namedtuple("Pair", "low high")


class Cell:
    def __init__(self, state):
        self._state = state

    def _doubled(self):
        return self._state * 2


def a_list(x):
    best = None
    for v in x:
        if v > 2:
            best = [v, v * 2]
    if best is None:
        return x.sum()
    return best[0] + best[1]


def a_dict(x):
    best = None
    for i, v in enumerate(x):
        if best is None or v > best["v"]:
            best = {"v": v, "i": i}
    return best["v"], best["i"]


def a_dataclass(x):
    best = None
    for i, v in enumerate(x):
        if best is None or v > best.score:
            best = Best(v, [i, i])
    return best.score, best.places, best


def a_list_that_grows(x):
    seen = None
    for v in x:
        if v > 0:
            if seen is None:
                seen = []
            seen.append(v)
    if seen is None:
        return x.sum(), 0
    return paddle.stack(seen).sum(), len(seen)


def changed_where_it_is_there(x):
    cache = None
    if x.sum() > 0:
        cache = {"h": x}
    if cache is not None:
        cache["h"] = cache["h"] * 2
        return cache["h"], cache
    return x, cache


def attribute_set(x):
    best = None
    if x.sum() > 0:
        best = Best(x, [])
    if best:
        best.score = best.score + 1
        del best.places
    return x if best is None else best.score


def made_and_changed(x):
    best = None
    if x.sum() > 0:
        best = Best(x, [])
        best.score = best.score + 1
        best.places.append(2)
    elif x.sum() < -100:
        best = Best(x, [1])
    return (x, []) if best is None else (best.score, best.places)


def changed_in_a_loop(x):
    best = None
    for v in x:
        if best is None:
            best = Best(v, [0])
        elif v > best.score:
            best.score = v
        else:
            best.score = best.score * 0.5
    return best.score


def asked(x):
    c = None
    if x.sum() > 0:
        c = [x]
    return bool(c), isinstance(c, list), c is None, isinstance(c, (dict, type(None)))


def appended(x):
    c = None
    if x.sum() > 0:
        c = [x]
    c.append(x * 2)
    for v in c:
        x = x + v
    return x, c


def measured(x):
    c = None
    if x.sum() > 0:
        c = [x]
    return x * len(c)


def item_set(x):
    c = None
    if x.sum() > 0:
        c = [x]
    c[0] = x * 2
    return c[0]


def iterated(x):
    c = None
    if x.sum() > 0:
        c = [x, x * 2]
    total = x
    for v in c:
        total = total + v
    return total


def filtered(x):
    found = [None] * 3
    for i in range(3):
        if x[i] > 0:
            found[i] = x[i] * 2
    there = [v for v in found if v is not None]
    large = [v for v in found if v is not None and v > 3]
    return there, large, list(filter(lambda v: v is not None, found)), sum(v * 2 for v in there) if len(there) > 0 else x.sum()


def item_read_by_a_function_inside(x):
    entries, record = [None, x], {"best": None}

    def known():
        return entries[1] * 1.0 if entries[0] is None else entries[0] + entries[1]

    def best():
        return record["best"]

    if x.sum() > 1:
        entries[0], record["best"] = x * 2, x.max()
    return known(), best() is None


def named_tuple_with_another_item(x):
    pair = None
    if x.sum() > 0:
        pair = Pair(x.min(), x.max())
    if x.sum() > 1:
        pair = pair._replace(low=x.sum())
        x = x * len(pair._fields) + pair._asdict()["high"]
    return x.sum() if pair is None else x.sum() + pair.low


def functions_of_dataclasses(x):
    best = None
    if x.sum() > 0:
        best = Best(x.max().detach(), [x.min().detach()])
    found = dataclasses.is_dataclass(best)
    if x.sum() > 1:
        best = dataclasses.replace(best, score=x.sum().detach())  # `asdict` copies deeply, which only leaves can be
        x = x + dataclasses.asdict(best)["score"] + dataclasses.astuple(best)[1][0] + len(dataclasses.fields(best))
    return x.sum() if best is None else x.sum() + best.score, found


def private_attributes(x):
    cell = None
    if x.sum() > 0:
        cell = Cell(x.max())
    if x.sum() > 1:
        x = x + cell._state
        cell._state = x.min()
        x = x + cell._doubled()
    return x.sum() if cell is None else x.sum() + cell._state


def classes(x):
    k = None
    if x.sum() > 0:
        k = x * 2
    there = isinstance(k, paddle.Tensor), isinstance(k, (int, paddle.Tensor)), paddle.is_tensor(k), type(k) is paddle.Tensor
    none = isinstance(k, type(None)), type(k) is type(None), k.__class__ is paddle.Tensor
    if isinstance(k, paddle.Tensor):
        x = k + 1
    return there, none, x


def classes_of_a_list(x):
    k = None
    if x.sum() > 0:
        k = [x]
    return isinstance(k, list), isinstance(k, type(None)), type(k) is list, type(k) == type(None), k.__class__ is list  # noqa: E721


def of_classes(x):
    k = None
    if x.sum() > 0:
        k = x * 2
    return issubclass(type(k), paddle.Tensor), isinstance(x, type(k)), type(k).__name__ == "NoneType", type(k) in (list, type(None))


def flags(x):
    done, other = None, None
    if x.sum() > 0:
        done = True
    if x.max() > 2:
        other = False
    known = done is True, done is False, done is None, other is False, other is not True, done == other
    return known, 1 if done is True else 2, done is other


def equal_to_itself(x):
    k, m = None, None
    if x.sum() > 0:
        k = [x]
    if x.max() > 2:
        m = Cell(x)
    return m == m, m == k, k is m, copy.copy(m) is None, m in (None, 3)


def keys(x):
    k, m = None, None
    if x.sum() > 0:
        k = 3
    if x.max() > 2:
        m = x.max()
    table = {3: 4, None: 7}
    return table.get(k), table[k], k in table, k in {3: 1}, table.get(m, 5), m in table, {3: 1}.get(m, 2)


def plus(x):
    k = None
    if x.sum() > 0:
        k = x * 2
    return +k


def callables(x):
    f, k, either, text = None, None, "a", "a"
    if x.sum() > 0:
        f, k, either, text = abs, x * 2, abs, "b"
    known = callable(f), callable(k), callable(either), callable(text), callable(getattr(k, "sum", None))
    return known, hasattr(either, "__len__"), hasattr(text, "__enter__"), getattr(either, "__len__", None) is None


def given_by_a_method_in_place(x):
    k = None
    if x.sum() > 0:
        k = x * 2
    if k is None:
        return x, x
    z = k.add_(x)
    k.scale_(2.0)
    return z, z + k


def modified_in_place_where_it_is_there(x):
    total = None
    if x.sum() > 0:
        total = x * 2
    kept = total
    if total is not None:
        total.add_(x.max())
    if x.sum() > 1:
        total.multiply_(x)
    return (x.sum(), None) if kept is None else (total.sum(), kept.max())


P, N = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5]


def operators_that_say_what_they_are(x, n):
    count = 7
    if n > 0:
        count = None
    if n > 1:
        count += 1
    return x * divmod(count, 2)[0]


CASES = [
    (a_list, [(P,), (N,)], 1),
    (a_dict, [(P,), (N,)], 1),
    (a_dataclass, [(P,), (N,)], 1),
    (a_list_that_grows, [(P,), (N,)], 1),
    (changed_where_it_is_there, [(P,), (N,)], 1),
    (attribute_set, [(P,), (N,)], 1),
    (made_and_changed, [(P,), (N,)], 1),
    (changed_in_a_loop, [(P,), (N,)], 1),
    (asked, [(P,), (N,)], 1),
    (appended, [(P,), (N,)], 1),
    (measured, [(P,), (N,)], 1),
    (item_set, [(P,), (N,)], 1),
    (item_read_by_a_function_inside, [(P,), (N,)], 1),
    (iterated, [(P,), (N,)], 1),
    (filtered, [(P,), (N,), ([1.0, -2.0, 3.0],)], 1),
    (named_tuple_with_another_item, [(P,), (N,), ([0.5, 0.25, -0.5],)], 1),
    (functions_of_dataclasses, [(P,), (N,), ([0.5, 0.25, -0.5],)], 1),
    (private_attributes, [(P,), (N,), ([0.5, 0.25, -0.5],)], 1),
    (classes, [(P,), (N,)], 1),
    (classes_of_a_list, [(P,), (N,)], 1),
    (callables, [(P,), (N,)], 1),
    (of_classes, [(P,), (N,)], 1),
    (flags, [(P,), (N,), ([1.0, 0.5, 0.5],), ([-9.0, 3.0, 1.0],)], 1),
    (equal_to_itself, [(P,), (N,), ([1.0, 0.5, 0.5],), ([-9.0, 3.0, 1.0],)], 1),
    (keys, [(P,), (N,), ([1.0, 0.5, 0.5],), ([-9.0, 3.0, 1.0],)], 1),
    (plus, [(P,), (N,)], 1),
    (given_by_a_method_in_place, [(P,), (N,)], 1),
    (modified_in_place_where_it_is_there, [(P,), (N,), ([0.5, 0.25, -0.5],)], 1),
    (operators_that_say_what_they_are, [(P, 0), (P, 1), (P, 2)], 1),
]
