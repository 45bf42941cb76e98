"""Dicts that have some of their keys only in some runs."""

import dy2st as paddle
import dy2st.nn.functional as F
from dy2st import nn


def key_on_one_path(x):
    d = {"a": x}
    if x.sum() > 0:
        d["y"] = x * 3
    return d, len(d), "y" in d, x if "y" in d and d["y"].sum() > 3 else -x


def missing_key(x):
    d = {}
    if x.sum() > 0:
        d["y"] = x * 3
    return d["y"]


def got_or_not(x):
    d = {}
    if x.sum() > 0:
        d["y"] = x * 3
    v = d.get("y")
    return x if v is None else v, d.get("y", x * 9), d.get("z", 1.0), bool(d)


def keys_in_a_loop(x):
    d = {}
    for v in x:
        if v > 0:
            d["pos"] = v
        else:
            d["neg"] = v
    return d


def keys_in_two_loops(x):
    d = keys_in_a_loop(x)
    for v in x:
        if v < 0:
            d["low"] = d.get("low", 0) + 1
        elif "low" in d:
            del d["low"]
    return d


def counted(x):
    d = {}
    for v in x:
        k = "pos" if v > 0 else "neg" if v < -2 else "mid"
        d[k] = d.get(k, 0) + 1
    return d


def summed(x):
    d = {}
    for v in x:
        k = "pos" if v > 0 else "neg"
        if k not in d:
            d[k] = v
        else:
            d[k] += v
    return d, d.get("pos")


def added_under_a_text(x):
    d = {"pos": x * 2}
    k = "pos" if x[0] > 0 else "neg"
    if k in d:
        d[k] += x
    else:
        d[k] = x
    return d


def iterated(x):
    d = {"a": x}
    if x.sum() > 0:
        d["y"] = x * 3
    if x[0] > 0:
        d["z"] = x * 5
    s, n = x * 0, 0
    for k in d:
        s = s + d[k]
        d[k] = s
        n += 1
    for v in d.values():
        s = s * 2 - v
    return s, n, [v * 2 for _, v in d.items()], sum(d.values())


def deleted(x):
    d = {"a": x.sum(), "b": x[0]}
    for v in x:
        if v > 0:
            d["a"] = v
        elif "a" in d:
            del d["a"]
    return d


def deleted_twice(x):
    d = {"a": x.sum()}
    for v in x:
        if v < 0:
            del d["a"]
    return d


def popped(x):
    d = {"a": x, "b": x * 2}
    v = x * 0
    if x.sum() > 0:
        v = d.pop("a")
    w = d.pop("a", x * 7)
    return v, w, d, d.pop("b")


def last_taken(x):
    d = {"a": x, "b": x * 2}
    if x.sum() > 0:
        d["b"] = x * 3
        key, v = d.popitem()
    else:
        key, v = "none", x
    if x.sum() < -1:
        del d["a"]
        d["c"] = x
    d["e"] = x * 4
    return key, v, d.popitem(), d


def under_two_names(x):
    def put(key, value):
        d[key] = value

    d = {}
    e, held = d, [d]
    if x.sum() > 0:
        put("a", x)
    held[0]["b"] = x * 2
    e["a"] = x * 4
    return d, e, d is e


class Memory(nn.Layer):
    def __init__(self):
        super().__init__()
        self.cache = {}
    def forward(self, x):
        if x.sum() > 0:
            self.cache["h"] = x * 2
        if "h" in self.cache:
            x = x + self.cache["h"]
        return x


def kept_by_a_layer(x):
    layer = Memory()
    return layer(x), layer(-x), layer.cache


def other_kinds_of_values(x):
    d = {"f": F.relu}
    if x.sum() > 0:
        d["mode"], d["g"], d["rows"], d["none"] = "train", paddle.tanh, [x, (x * 2, 1)], None
    y = d.get("g", d["f"])(x)
    if "rows" in d:
        y = y + d["rows"][1][0] * d["rows"][1][1]
    return y if d.get("mode") == "train" else -y, "none" in d


def set_by_default(x):
    d = {}
    if x.sum() > 0:
        d["k"] = x * 2
    return d.setdefault("k", x * 5), d


def copied(x):
    d = {}
    if x.sum() > 0:
        d.update(k=x)
    e = dict(d, z=x)
    f = d.copy()
    f["k"] = x * 8
    return d, e, f


def exit_from_a_loop(x, n):
    d = {}
    for i in range(n):
        if x[i % 2] > 0:
            d["hit"] = i
            break
        d["last"] = i
    return d.get("hit", -1), d.get("last", -1), len(d)


def set_in_a_while(x, n):
    d = {}
    i = 0
    while i < n:
        d["v"], d["w"] = x * i, i
        i += 1
    return d["v"] * d["w"]


def carried(x, n):
    d = {"h": x}
    for i in range(n):
        if d["h"].sum() > i:
            d["g"] = d["h"] * 2
        d["h"] = d["h"] * 1.5 + d.get("g", x * 0)
        if i == 2:
            d.pop("g", None)
    return d


def raised_on_one_path(x):
    d = {"a": x}
    if x.sum() > 0:
        d["b"] = x
        raise ValueError("positive")
    return d


def matched(x):
    d = {"a": x}
    if x.sum() > 0:
        d["b"] = x * 3
    match d:
        case {"b": v}:
            return v
        case {"a": v}:
            return -v


class Rows:
    def __init__(self):
        self.rows = []


def list_in_an_object_under_a_key_of_one_path(x, n):
    found = {}
    if n > 1:
        found["k"] = Rows()
    for _ in range(n - 1):
        found["k"].rows.append(x)
    return len(found["k"].rows) if "k" in found else -1


def taken_in_a_loop_that_ends_there(x):
    d = {"a": x, "b": x * 2}
    for key in d:
        if x.sum() > 0:
            d.pop(key)
            break
    return d


def changed_while_looped_over(x):
    d = {"a": x, "b": x * 2}
    for key in d:
        if x.sum() > 0:
            d.pop(key)
    return d


def values_set_in_the_loop(x):
    d = {"a": x, "b": x * 2}
    for key, v in d.items():
        d["b"] = v + 1
        if x.sum() > 0:
            d[key] = d[key] * 3
    for v in d.values():
        d["b"] = v * 2
        x = x + v
    return d, x


def else_of_a_loop_over_a_dict(x):
    d = {"a": x, "b": x * 2}
    for v in d.values():
        if v.sum() > 7:
            x = x + v
            break
    else:
        x = x * 5
    return x


def views_held(x):
    d = {"a": 1, "b": 2}
    if x.sum() > 0:
        d["c"] = 3
    keys, values, items = d.keys(), d.values(), d.items()
    found = [sum(values), max(values), len(values), len(keys), len(items), "c" in keys, "a" in keys, 3 in values, sum(values, 10)]
    for key in keys:
        found.append(d[key])
    d["e"] = 7
    if values:
        found.extend(values)
        found += list(values)
    return found, any(v > 2 for _, v in items), sorted(values), sorted(d.values(), reverse=True), x


def view_read_by_iterations(x):
    d, total = {"a": 1}, 0
    if x.sum() > 0:
        d["c"] = 3
    values = d.values()
    for v in x:
        total += sum(values) * v
        d["a"] += 1
    return total


def found_under_a_tensor(x):
    t = x + 1
    d = {t: 5, 3: 6}
    return d.get(t), d.get(x, 7), d[t], t in d


P, N, M = [3.0, 1.0], [-3.0, 1.0], [1.0, -4.0]


def order_on_each_path(x):
    d = {"a": 1, "b": x}
    if x.sum() > 0:
        d["p"] = x
        d["q"] = 2
    else:
        d["q"] = 3
        d["p"] = x * 2
    return d


def moved_to_the_end(x):
    d = {"a": 1, "b": x, "c": 3}
    for v in x:
        if v > 0:
            d["a"] = d.pop("a")
        else:
            d["b"] = d.pop("b")
    return d


def one_order_on_both_paths(x):
    d = {}
    if x.sum() > 0:
        d["p"] = x
        d["q"] = 2
    else:
        d["p"] = x * 2
        d["q"] = 3
    return list(d), {**d}


def _key(x, other):
    key = "a"
    if x.sum() < 0:
        key = other
    return key


def set_under_a_key_of_a_path(x):
    d = {"a": x, "b": -x}
    d[_key(x, "z")] = x * 7
    return len(d), "z" in d, d["a"]


def deleted_under_a_key_of_a_path(x):
    d = {"a": x, "b": -x, "c": x * 3}
    del d[_key(x, "b")]
    return len(d), [d[k] for k in d]


def missing_under_a_key_of_a_path(x):
    d = {"a": x, "b": -x}
    del d[_key(x, "z")]
    return len(d)


def popped_under_a_key_of_a_path(x):
    d = {"a": x, "b": -x, "c": x * 3}
    return d.pop(_key(x, "z"), x * 9), len(d)


def default_under_a_key_of_a_path(x):
    d = {"a": x, "b": -x}
    y = d.setdefault(_key(x, "z"), x * 9)
    return y, len(d), "z" in d


def keys_listed(x):
    found = {"a": x, "b": x * 2}
    if x.sum() > 0:
        found.clear()
    found["last"] = x * 3
    return list(found)


class AttrDict(dict):
    def __getattr__(self, name):
        return self[name]

    def __setattr__(self, name, value):
        self[name] = value


SETTINGS = AttrDict(scale=1, deep=AttrDict(shift=0.5))


def items_as_attributes(x):
    d = AttrDict(n=0, y=x)
    if x.sum() > 0:
        d.n = 1
    for v in x:
        d.n = d.n + 1
        d.y = d.y * v
    return d.n, d.y, d["y"] + 1


def items_as_attributes_outside(x):
    before = SETTINGS.deep.shift
    if x.sum() > 0:
        SETTINGS.deep.shift = x.sum()
    y = x * SETTINGS.scale + SETTINGS.deep.shift
    SETTINGS.deep.shift = before
    return y


CASES = [
    *((f, [([1.0, 2.0],), ([-1.0, 0.5],)], 1) for f in (
        set_under_a_key_of_a_path, deleted_under_a_key_of_a_path, missing_under_a_key_of_a_path, popped_under_a_key_of_a_path,
        default_under_a_key_of_a_path,
    )),
    *((f, [(P,), (N,), (M,)], 1) for f in (
        key_on_one_path, missing_key, got_or_not, keys_in_a_loop, keys_in_two_loops, counted, summed, iterated, deleted, deleted_twice,
        popped, last_taken, under_two_names, kept_by_a_layer, other_kinds_of_values, set_by_default, copied, raised_on_one_path, matched,
        added_under_a_text, taken_in_a_loop_that_ends_there, changed_while_looped_over, values_set_in_the_loop, else_of_a_loop_over_a_dict,
    )),
    *((f, [(P, 0), (P, 3), (N, 2), (N, 1), (M, 5)], 1) for f in (
        exit_from_a_loop, set_in_a_while, carried, list_in_an_object_under_a_key_of_one_path)),
    (order_on_each_path, [([1.0, 2.0],), ([-1.0, 0.5],)], 1),
    (moved_to_the_end, [([1.0, 2.0],), ([-1.0, 0.5],), ([1.0, -0.5],)], 1),
    (one_order_on_both_paths, [([1.0, 2.0],), ([-1.0, 0.5],)], 1),
    *((f, [(P,), (N,)], 1) for f in (keys_listed, views_held, view_read_by_iterations, found_under_a_tensor)),
    (items_as_attributes, [(P,), (N,)], 1),
    (items_as_attributes_outside, [(P,), (N,)], 1),
]  # fmt: skip
