"""Containers among the arguments that are told from objects outside: by `is`, as keys, by what they are equal to. And arrays of NumPy."""

import functools
from dataclasses import dataclass, field

import numpy as np
import pytest

from dy2st import jit, to_tensor
from dy2st.errors import StagedValueError, StructureError
from dy2st.tensor import Tensor


@dataclass
class Config:
    k: int = 1
    w: object = None


@dataclass(eq=False)
class Node:
    v: object
    kids: list = field(default_factory=list)
    name: str = "n"


DEFAULT, PAIR = Config(), (1, 2)


def tensor(*values):
    return to_tensor(list(values))


def by_default(x, c=DEFAULT, pair=PAIR):
    return (x * 0 if c is DEFAULT else x * c.k), pair is PAIR


class Net:
    def __init__(self):
        self.config, self.buffers, self.seen, self.table = Config(2), [[1.0], [1.0]], [], {}

    def told(self, x, config=None, buffer=None):
        return x, config is self.config, config is not self.config, [b is buffer for b in self.buffers], config is None

    def listed(self, x, node):
        known = node in self.seen
        self.seen.append(node)
        return x * node.v, known, self.seen.index(node), self.seen.count(node), any(n is node for n in self.seen)

    def counted(self, x, node):
        self.table[node] = self.table.get(node, 0) + 1
        node.name += "!"
        return x * self.table[node], {node: node.v}, {node}

    def taken(self, x, node):
        self.table[len(self.table)] = node
        return node, x


class Loud:
    """Says so if its text is asked for."""

    def __init__(self, v):
        self.v = v

    def __repr__(self):
        print("asked")
        return f"Loud({self.v})"


def memo(n, known):
    if n in known:
        return known[n]
    total = n.v.sum()
    for kid in n.kids:
        total = total + memo(kid, known) * 0.5
    known[n] = total
    return total


def visited(n):
    seen, left, total = set(), [n], to_tensor(0.0)
    while left:
        n = left.pop()
        if n not in seen:
            seen.add(n)
            total = total + n.v.sum()
            left.extend(n.kids)
    return total, len(seen)


def plain(value):
    """A result without the objects in it, of which each way has its own."""
    if isinstance(value, Tensor):
        return value.numpy().tolist()
    if isinstance(value, (list, tuple, set)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return [[plain(k), plain(v)] for k, v in value.items()]
    return [plain(value.v), plain(value.kids), value.name] if isinstance(value, Node) else value


def in_both_ways(scenario):
    """What a scenario gives eagerly and statically is the same; the static result."""
    expected, found = scenario(lambda f: f), scenario(jit.to_static)
    assert plain(found) == plain(expected)
    return found


def test_an_argument_is_the_default_one_or_another():
    def scenario(way):
        f = way(by_default)
        return [
            f(tensor(1.0)),
            f(tensor(2.0), Config(3)),
            f(tensor(3.0), DEFAULT),
            f(tensor(4.0), pair=(1, 3)),
            f(tensor(5.0), Config(3)),
        ]

    in_both_ways(scenario)


def test_an_argument_is_what_an_attribute_holds():
    def scenario(way):
        net = Net()
        f, x, own = way(net.told), tensor(1.0), Config(2)
        found = [
            f(x),
            f(x, net.config),
            f(x, own),
            f(x, None, net.buffers[0]),
            f(x, None, net.buffers[1]),
            f(x, None, [1.0]),
        ]
        net.config = own
        net.buffers.reverse()
        return [*found, f(x, own), f(x, Config(2)), f(x, None, net.buffers[1])]

    in_both_ways(scenario)


def test_objects_that_are_equal_to_themselves_only_in_a_list():
    def scenario(way):
        net, a, b = Net(), Node(tensor(1.0)), Node(tensor(1.0))
        f = way(net.listed)
        found = [f(tensor(2.0), n) for n in (a, b, a, Node(tensor(3.0)))]
        return found, [[m is n for n in (a, b)] for m in net.seen]

    in_both_ways(scenario)


def test_objects_that_are_equal_to_themselves_only_as_keys():
    def scenario(way):
        net, a, b = Net(), Node(tensor(1.0)), Node(tensor(1.0))
        f, found = way(net.counted), []
        for n in (a, b, a):
            y, keys, members = f(tensor(2.0), n)
            found.append((y, next(iter(keys)) is n, members == {n}, n.name))
        return found, net.table[a], net.table[b], len(net.table)

    in_both_ways(scenario)


def test_keys_in_a_recursion_and_in_a_set():
    def scenario(way):
        leaf = Node(tensor(1.0, 2.0))
        root, known = Node(tensor(3.0), [leaf, leaf, Node(tensor(4.0), [leaf])]), {}
        f, g = way(memo), way(visited)
        found = [f(root, known), len(known), known[leaf], f(root, known), g(root), g(leaf)]
        leaf.v = tensor(5.0)
        return [*found, g(root), f(root, {})]

    in_both_ways(scenario)


def test_objects_that_nobody_compares_are_served_by_one_trace():
    net = Net()
    f = jit.to_static(net.taken)
    for i in range(3):
        node = Node(tensor(1.0))
        assert f(tensor(2.0), node)[0] is node
        assert net.table[i] is node
        net.table = dict(net.table)
    g = jit.to_static(lambda n, x: n.v * x)
    for _ in range(3):
        g(Node(tensor(1.0)), tensor(2.0))
    assert len(g.concrete_programs) == 1


def test_a_key_is_not_asked_for_its_text(capsys):
    table, a = {}, Loud(tensor(1.0))

    @jit.to_static
    def f(x, o):
        table[o] = x * o.v
        return table[o] + len(table)

    assert f(tensor(2.0), a).numpy() == [3.0]
    assert f(tensor(3.0), Loud(tensor(2.0))).numpy() == [8.0]
    assert table[a].numpy() == [2.0]
    assert capsys.readouterr().out == ""


def test_the_id_of_an_argument_is_not_kept():
    net, items = Net(), [tensor(1.0)]

    @jit.to_static
    def keeps(x, items):
        net.last = id(items)
        return x

    @jit.to_static
    def compares(x, items):
        return x if id(items) == 5 else -x

    for f in (keeps, compares):
        with pytest.raises(
            StagedValueError, match=r"the id\(\) of a list among the arguments is another one while tracing"
        ):
            f(tensor(1.0), items)
    assert not hasattr(net, "last")


def changed(a, k, b=None):
    a[0] = k
    if a.sum() > 0:
        a[1] = k * 2
    return (a if b is None else b) * 2


def test_an_array_that_is_changed_in_place_is_the_callers():
    f = jit.to_static(changed)
    for k in (3.0, -3.0):
        for n in (2, 3):
            expected, found = np.zeros(n, np.float32), np.zeros(n, np.float32)
            y = changed(expected, k)
            assert f(found, k).numpy().tolist() == y.tolist()
            assert found.tolist() == expected.tolist()
    whole = np.zeros((3, 2))
    f(whole[:, 1], 4.0)
    assert whole.tolist() == [[0, 4], [0, 8], [0, 0]]
    nested = {"a": np.zeros(2)}
    jit.to_static(lambda d: changed(d["a"], 1.0))(nested)
    assert nested["a"].tolist() == [1, 2]


def test_an_array_that_is_two_arguments():
    f, a = jit.to_static(changed), np.zeros(3)
    assert f(a, 1.0, a).numpy().tolist() == [2, 4, 0]
    assert f(a, 2.0, np.zeros(3)).numpy().tolist() == [0, 0, 0]
    assert a.tolist() == [2, 4, 0]
    with pytest.raises(StructureError, match="changes the array 'a', of which another argument is a part"):
        f(a, 3.0, a[1:])
    assert a.tolist() == [2, 4, 0]


def test_an_array_that_cannot_be_changed():
    a = np.zeros(3)
    a.flags.writeable = False
    with pytest.raises(ValueError, match="assignment destination is read-only"):
        jit.to_static(changed)(a, 1.0)


def test_numbers_of_numpy_and_slices_are_known_by_their_values():
    @jit.to_static
    def f(x, i, part, steps):
        return x[int(i)] * float(i), x[part], len(steps)

    for _ in range(2):
        for i in np.arange(2):
            first, rest, count = f(tensor(1.0, 2.0), i, slice(1, None), range(3))
            assert (first.item(), rest.numpy().tolist(), count) == (float(i) * (i + 1), [2.0], 3)
    assert len(f.concrete_programs) == 2
    assert f(tensor(1.0, 2.0), np.int32(1), slice(0, 1), range(2))[1].numpy().tolist() == [1.0]


@dataclass
class Branch:
    v: object
    parent: object = None
    kids: list = field(default_factory=list)
    h: object = None


def tree(k):
    root = Branch(tensor(1.0 * k))
    root.kids += [Branch(tensor(2.0 * k), root), Branch(tensor(-3.0 * k), root)]
    root.kids[0].kids.append(Branch(tensor(4.0 * k), root.kids[0]))
    return root


def up(n, x):
    depth = 0
    while n is not None:
        x = x + n.v if x > 0 else x - n.v
        n.h, n, depth = x, n.parent, depth + 1
    return x, depth


def down(n):
    n.h = n.v if n.parent is None else n.v + n.parent.h
    total = n.h if n.h > 0 else -n.h
    for kid in n.kids:
        total = total + down(kid)
    return total


def test_dataclasses_that_lead_back_to_themselves():
    def scenario(way):
        f, g, found = way(up), way(down), []
        for k in (1, -1):
            root = tree(k)
            leaf = root.kids[0].kids[0]
            found += [f(leaf, tensor(1.0)), f(leaf, tensor(-9.0)), leaf.h, root.h, f(root, tensor(2.0))]
            found += [g(root), leaf.h, root.kids[1].h, leaf.parent.parent is root]
        return found

    in_both_ways(scenario)


def counts(x, c=DEFAULT):
    c.k += 1
    return x * c.k, c


def test_a_dataclass_by_default_that_changes():
    def scenario(way):
        counts.__defaults__ = (Config(2),)
        f = way(counts)
        found = [f(tensor(1.0))[0] for _ in range(3)]
        own = Config(7)
        found += [f(tensor(1.0), own)[0], own.k, f(tensor(1.0))[1] is counts.__defaults__[0]]
        return [*found, counts.__defaults__[0].k]

    in_both_ways(scenario)


@functools.lru_cache
def numbers(n):
    return {"n": n, "more": []}


class Keeps:
    def returned(self, x, items=[1], c=DEFAULT):  # noqa: B006
        items.append(len(items))
        return items, x * c.k, c

    def kept(self, x, items=[1], *, pair=([1], DEFAULT)):  # noqa: B006
        self.items, self.pair = items, pair
        return x

    def found(self, x):
        self.items = numbers(3)["more"]
        self.items.append(1)
        return numbers(3), x * len(self.items)


def test_what_is_by_default_and_in_a_cache_stays_one_object():
    def scenario(way):
        numbers.cache_clear()
        o, x, found = Keeps(), tensor(1.0), []
        f, g, h = way(o.returned), way(o.kept), way(o.found)
        items, c = Keeps.returned.__defaults__
        items[:] = [1]
        for _ in range(3):
            mine, y, own = f(x)
            g(x)
            found += [mine is items, own is c, list(mine), y, o.items is Keeps.kept.__defaults__[0]]
            found.append([a is b for a, b in zip(o.pair, Keeps.kept.__kwdefaults__["pair"], strict=True)])
            table, z = h(x)
            found += [table is numbers(3), o.items is table["more"], list(o.items), z]
            mine.append(7)
        return found

    in_both_ways(scenario)


def test_a_saved_model_takes_what_is_by_default_for_what_it_is(tmp_path):
    with pytest.warns(UserWarning, match=r"are not in it"):
        jit.save(by_default, f"{tmp_path}/model", [jit.InputSpec([None])])
    assert jit.load(f"{tmp_path}/model")(tensor(2.0, 3.0)).numpy().tolist() == [0, 0]
