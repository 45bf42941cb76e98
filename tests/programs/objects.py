"""Objects of users' classes that are made while a function is traced: on several paths, anew in each iteration, as results."""

from __future__ import annotations

import dataclasses


class State:
    def __init__(self, h, k=0):
        self.h = h
        self.k = k

    def value(self):
        return self.h * 2 + self.k

    def advance(self):
        self.h = self.h + 1
        self.k += 1


@dataclasses.dataclass(frozen=True, slots=True)
class Point:
    x: object
    y: object = 0.0

    def moved(self, by):
        return dataclasses.replace(self, x=self.x + by)

    def filled(self, y):
        object.__setattr__(self, "y", y)
        return self


class Vector(tuple):
    pass


class Node:
    def __init__(self, v):
        self.v = v
        self.next = self.before = None


class Branch:
    """A tree that is grown by its own methods."""

    def __init__(self, v, above=None):
        self.v, self.above, self.twigs = v, above, []

    def grow(self, v):
        self.twigs.append(Branch(v, self))
        return self.twigs[-1]


@dataclasses.dataclass(eq=False)
class Place:
    """A dataclass that leads back to itself."""

    weight: float
    above: Place | None = None
    below: list = dataclasses.field(default_factory=list)

    def add(self, weight):
        self.below.append(Place(weight, self))
        return self.below[-1]


root = Place(2.0)
leaf = root.add(0.5).add(-3.0)
root.add(1.5)


def made_on_both_paths(x):
    if x.sum() > 0:
        s = State(x)
    else:
        s = State(x * 2, 1)
    return s.value(), s.k


def made_in_a_loop(x):
    s = State(x)
    while s.h.abs().sum() < 100:
        s = State(s.h * 2, s.k + 1)
    s.advance()
    return s.value(), s.k


def changed_or_replaced(x):
    s = State(x)
    for v in x:
        if v > 0:
            s.advance()
        else:
            s = State(s.h, 5)
    return s.value(), s.k


def in_a_list(x, n):
    states = []
    for i in range(n + 1):
        states.append(State(x * i, i))
    total = x.sum() * 0
    for s in states:
        total = total + s.value().sum() * s.k
    best = max(states, key=lambda s: s.k)
    return total, best.value()


def none_or_object(x):
    best = None
    for v in x:
        if best is None or v > best.h:
            best = State(v, 1)
    return best.value()


def objects_in_objects(x):
    if x.sum() > 0:
        s = State(State(x), 2)
    else:
        s = State(State(x * 3), 4)
    s.h.advance()
    return s.h.value(), s.k, s.h.k


def linked(x):
    a, b = Node(x), Node(x * 2)
    a.next, b.before = b, a
    if x.sum() > 0:
        a.v = a.v + 1
    for v in x:
        a.next.v = a.next.v + v
    return a.v, b.v, b.before.v


def returned(x):
    if x.sum() > 0:
        return State(x)
    return State(x * 2, 3)


def returned_attributes(x):
    s = returned(x)
    return s.h, s.k


def compared_by_identity(x):
    a, b, c = State(x), State(x), [1]
    d, e = c, []
    f = e
    if x.sum() > 0:
        a.h = a.h * 2
    for v in x:
        e.append(v)
    return a is b, a is a, c is d, a is not b, e is f, len(f)


def grown_by_a_method(x):
    tree = Branch(x)
    twig = tree.grow(x * 2)
    twig.grow(x * 3)
    if x.sum() > 0:
        twig.v = twig.v + twig.above.v
    total = x * 0
    while twig is not None:
        total = total * 2 + twig.v
        twig = twig.above
    return total, len(tree.twigs), tree.twigs[0].twigs[0].above.v


def leads_back_to_itself(x):
    def value(place):
        total = x.sum() * place.weight
        for one in place.below:
            total = total + value(one)
        if total > 3 and place.above is not None:
            total = total * place.above.weight
        return total

    up, place = x, leaf
    while place is not None:
        up = up * place.weight
        place = place.above
    return value(root), up, leaf.above.above is root, root.above is leaf


def frozen_with_slots(x):
    p, rows = Point(x.sum()), []
    for v in x:
        if p.x > v:
            p = p.moved(v)
        rows.append(Point(v, p.x))
    q = Point(p.x) if x.max() > 0 else p
    return p.x, q.x, q.y, sum(r.x * r.y for r in rows) if rows else x.sum()


def frozen_and_filled_on_a_path(x):
    p, kept = Point(x.sum()), [Point(x.max())]
    if x.sum() > 0:
        p.filled(x.min())
        kept[0].filled(x * 2)
    else:
        kept = [Point(x.min(), x * 3)]
    return p.x, p.y * x.max(), kept[0].x, kept[0].y


def tuples_of_a_class(x):
    sizes = Vector([2, 3])
    if x.sum() > 0:
        sizes = Vector([4, 5])
    pair = Vector([x, x * 2])
    if x.max() > 2:
        x = x + pair[1]
    return x * sizes[0], len(sizes), pair[0]


P, N = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5]

CASES = [
    (made_on_both_paths, [(P,), (N,)], 1),
    (made_in_a_loop, [(P,), (N,)], 1),
    (changed_or_replaced, [(P,), (N,)], 1),
    (in_a_list, [(P, 3), (N, 1), (P, 0)], 1),
    (none_or_object, [(P,), (N,)], 1),
    (objects_in_objects, [(P,), (N,)], 1),
    (linked, [(P,), (N,)], 1),
    (grown_by_a_method, [(P,), (N,)], 1),
    (leads_back_to_itself, [(P,), (N,)], 1),
    (returned_attributes, [(P,), (N,)], 1),
    (compared_by_identity, [(P,), (N,)], 1),
    (frozen_with_slots, [(P,), (N,)], 1),
    (frozen_and_filled_on_a_path, [(P,), (N,)], 1),
    (tuples_of_a_class, [(P,), (N,)], 1),
]
