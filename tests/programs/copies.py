"""`copy.copy` and `copy.deepcopy` of what a function holds: objects, lists of dynamic length, values that differ on the paths."""

import copy


class Hypothesis:
    """A part of a search, which is extended by copies."""

    def __init__(self, tokens, score):
        self.tokens, self.score = tokens, score
        self.notes = {"length": 0}

    def extended(self, token):
        new = copy.deepcopy(self)
        new.tokens.append(token)
        new.score = new.score + token
        new.notes["length"] += 1
        return new

    def moved(self, by):
        new = copy.copy(self)
        new.score = self.score + by
        new.tokens = [*self.tokens, by]
        return new


class Counted:
    """A class that says how it is copied."""

    def __init__(self, value, copies=0):
        self.value, self.copies = value, copies

    def __copy__(self):
        if self.value.sum() > 0:
            return Counted(self.value * 2, self.copies + 1)
        return Counted(self.value, self.copies + 1)

    def __deepcopy__(self, memo):
        new = Counted(copy.deepcopy(self.value, memo), self.copies + 10)
        if new.value.sum() > 3:
            new.value = new.value - 1
        return new


def of_objects(x):
    x = x.detach()
    first = Hypothesis([x[0]], x[0])
    second = first.extended(x[1])
    best = second.extended(x[2]) if x.sum() > 0 else first.extended(x[2])
    return len(first.tokens), second.tokens, best.score, first.notes["length"], second.notes["length"]


def of_objects_in_a_loop(x, n):
    found = Hypothesis([x[0]], x[0])
    for i in range(n):
        found = found.moved(x[1] * i)
    return found.tokens, found.score


def as_the_class_says(x):
    one = Counted(x)
    two = copy.copy(one)
    three = copy.deepcopy(Counted(x.detach()))
    return one.value, two.value, two.copies, three.value, three.copies


def of_growing_lists(n):
    rows, pairs = [], {"of": []}
    for i in range(n):
        rows.append(n * i)
        pairs["of"].append((n + i, i))
    same, other = copy.copy(rows), copy.deepcopy(rows)
    deep = copy.deepcopy(pairs)
    other.append(n)
    deep["of"].append((n, -1))
    return rows, len(same), other, len(pairs["of"]), [i for _, i in deep["of"]]


def of_what_a_path_chooses(x, n):
    x = x.detach()
    state = (x, [x * 2]) if n > 1 else None
    name = "a" if n > 1 else "b"
    found = {"all": x}
    if n > 1:
        found["more"] = x + 1
    deep, flat = copy.deepcopy(state), copy.copy(state)
    copied = copy.deepcopy(found)
    copied["all"] += 1
    maybe = copy.deepcopy(x * 3 if n > 1 else None)
    return deep, flat is None, copy.copy(name) == "a", found, copied, maybe


def the_best_so_far(n):
    state, best = {"w": n * 1, "steps": 0}, None
    for i in range(n):
        state["w"] += n * (i - 1)
        state["steps"] += 1
        loss = state["w"] * state["w"]
        if best is None or loss < best[0]:
            best = (loss, copy.deepcopy(state))
    return state, best


def of_an_argument(x):
    y = copy.copy(x)
    return (y * y).sum() + x.sum(), y


def list_copied_on_one_path_before_the_first_grows(x):
    rows = [x, x * 2]
    first = rows
    for v in x:
        if v < 0:
            continue
        rows = list(rows)
        first.append(v * x)
    return [r * 2 for r in rows], [r * 3 for r in first]


def taken_before_what_stands_behind_changes_it(x):
    """`*` takes the items when it is its turn."""
    rows, left = [x, x * 2], iter([x, x + 1])

    def added(v):
        rows.append(v)
        rows[0] = v * 3
        return v

    first = [*rows, added(x - 1), *rows, added(x * 5)]
    second = [*left, next(left, x * 7)]
    if x.sum() > 0:
        second = [*second, first.pop() + added(x), *first]
    return first, second, rows


P, N = [1.0, 2.0, 3.0], [-1.0, 0.5, -2.0]
CASES = [
    (of_objects, [(P,), (N,)], 1),
    (of_objects_in_a_loop, [(P, 2), (N, 0), (P, 3)], 1),
    (as_the_class_says, [(P,), (N,)], 1),
    (of_growing_lists, [(2,), (0,), (3,)], 1),
    (of_what_a_path_chooses, [(P, 2), (N, 0)], 1),
    (the_best_so_far, [(3,), (1,), (0,)], 1),
    (of_an_argument, [(P,), (N,)], 1),
    (list_copied_on_one_path_before_the_first_grows, [(P,), (N,)], 1),
    (taken_before_what_stands_behind_changes_it, [(P,), (N,)], 1),
]
