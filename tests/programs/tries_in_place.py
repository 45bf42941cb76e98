"""What is changed in place in the body of a `try`, before or behind something that only the run knows to be raised."""

P = [1.0, 2.0, 3.0]


class Stop(Exception):
    pass


def list_that_a_loop_grows(x, n):
    found = []
    try:
        for v in x:
            if v > n:
                raise Stop
            found.append(v)
    except Stop:
        pass
    return found


def list_with_two_names(x, n):
    found = []
    same = found
    try:
        for v in x:
            if v > n:
                raise Stop
            found.append(v)
    except Stop:
        pass
    same.append(x[0])
    return found


def tensor_made_in_the_body(x, n):
    try:
        y = x * 2
        for v in x:
            if v > n:
                raise Stop
            y.add_(v)
    except Stop:
        pass
    return y


def tensor_made_in_the_iteration(x, n):
    y = x
    try:
        for v in x:
            y = x * v
            if v > n:
                raise Stop
            y.add_(v)
    except Stop:
        pass
    return y


def tensor_carried_by_the_loop(x, n):
    y = x
    try:
        for v in x:
            y = y * v
            if v > n:
                raise Stop
            y.add_(v)
    except Stop:
        pass
    return y


def tensor_with_two_names(x, n):
    y = x * 1
    z = y
    try:
        for v in x:
            if v > n:
                raise Stop
            y.add_(v)
    except Stop:
        y.add_(x)
    return z


def entries_of_a_dict(x, n):
    d = {"y": x * 1, "found": []}
    try:
        for v in x:
            if v > n:
                raise Stop
            d["found"].append(v)
            d["y"].add_(v)
            if v > n - 1:
                raise Stop
    except Stop:
        d["found"].append(x[0])
    return d


def made_between_two_raises(x, n):
    y = x
    try:
        if x.sum() > 100:
            raise Stop
        y = x * 2
        if n > 1:
            raise Stop
        y.add_(x)
    except Stop:
        pass
    return y


def list_grown_on_a_path_that_raises(x, n):
    found = []
    try:
        if x.sum() > 0:
            found.append(x)
            if x[0] > n:
                raise Stop
            found.append(x * 2)
    except Stop:
        pass
    return found


def dict_with_a_key_on_a_path_that_raises(x, n):
    table, last = {"a": x}, 0
    try:
        if x.sum() > 0:
            if x[0] > n - 1:
                table["b"] = x * 2
            if x[0] > n:
                raise Stop
            raise KeyError("no")
    except Stop:
        last = 1
    except KeyError:
        last = 2
    return "b" in table, table.get("b", x), last


def loop_that_only_an_index_ends(x, n):
    i, total = n, x[0] * 0
    try:
        while True:
            total = total + x[i]
            i += 1
    except IndexError:
        total = total + i
    return total


class Slotted(Exception):
    __slots__ = ("value",)

    def __init__(self, value):
        super().__init__("of slots")
        self.value = value


def held_in_slots(x, n):
    y = x
    try:
        while True:
            y = y * 2
            if y.sum() > 20:
                raise StopIteration(y)
            if n > 2:
                raise Slotted(y.sum())
    except StopIteration as stop:
        found = stop.value + 1
    except Slotted as error:
        found = error.value + y
    return found


def modified_between_two_raises(x, n):
    y = x * 2
    try:
        if x.sum() > 0:
            if n > 2:
                raise Stop
            y.add_(x)
            raise Stop
        y.subtract_(x)
    except Stop:
        pass
    return y


def modified_in_a_list_that_grows(x, n):
    y = x * 2
    rows = [y]
    try:
        if x.sum() > n:
            raise Stop
        rows[0].add_(x)
    except Stop:
        rows.append(x)
    return rows, y


def modified_in_a_list_that_grows_behind_several(x, n):
    y = x * 2
    rows = [y]
    try:
        if x.sum() > 0:
            if n > 2:
                raise Stop
            y.add_(x)
            if n > 1:
                raise Stop
            y.add_(x)
            raise Stop
        y.subtract_(x)
    except Stop:
        rows.append(x)
    return rows, y


def dict_that_gets_a_key_in_the_handler(x, n):
    found = {"a": x, "b": x * 2}
    try:
        if x.sum() > n:
            raise Stop
        found["a"] = found["a"] + 1
        found["b"] = found.pop("b") * 3
    except Stop:
        found["c"] = x * 3
    return found


def key_that_comes_back_in_its_place(x, n):
    found = {"a": x, "b": x * 2, "c": x * 3}
    try:
        if x.sum() > n:
            raise Stop
        del found["a"]
    except Stop:
        del found["b"]
    return found


def dict_that_gets_a_key_before_a_loop_raises(x, n):
    found, total = {"a": x}, x
    try:
        for v in x:
            if v > n:
                raise Stop
            total = total + found.setdefault("b", x * 2)
    except Stop:
        total = total * 2
    return total, found


class Box:
    def __init__(self, value):
        self.value = value


def object_with_two_names(x, n):
    first = Box(x)
    same = first
    try:
        if x.sum() > n:
            raise Stop
        first = Box(x * 5)
    except Stop:
        same.value = same.value * 2
    return first.value * 1, same.value * 1


def objects_in_a_tuple(x, n):
    both = (Box(x), [x])
    first, rows = both
    try:
        if x.sum() > n:
            raise Stop
        both = (Box(x * 2), [x * 3])
    except Stop:
        first.value = x * 5
        rows[0] = x * 7
    return both[0].value * 1, both[1][0] * 1, first.value * 1, rows[0] * 1


def object_made_in_the_iteration(x, n):
    first = Box(x)
    same = first
    try:
        for i in range(n):
            first = Box(x * 2)
            same = first
            if x.sum() > i * 4:
                raise Stop
            first = Box(x * 3)
    except Stop:
        same.value = x * 5
    return first.value * 1, same.value * 1


def text_of_what_a_list_raises(x, n):
    large = [v for v in x if v > 2]
    try:
        if n == 0:
            large.pop()
        elif n == 1:
            large[n + 3] = x[0]
        else:
            return large[n]
    except LookupError as error:
        raise KeyError(f"{type(error).__name__}: {error}") from None
    return x[0]


def list_in_another_list(x, n):
    rows = [[x]]
    try:
        if n > 0:
            row = [x * 2]
            rows[0] = row
            if x.sum() > n:
                raise Stop
        row = [x]
    except Stop:
        row[0] = x * 5
    return rows, row


def list_that_the_next_iteration_replaces(x, n):
    first = [x]
    try:
        for v in x:
            if v > n:
                raise Stop
            first = [x * 2]
    except Stop:
        first[0] = x * 5
    return first


_CALLS = [(P, 0), (P, 1), (P, 2), (P, 3), ([100.0, 1.0], 2)]
CASES = [
    (list_that_a_loop_grows, _CALLS, 1),
    (list_with_two_names, _CALLS, 1),
    (list_in_another_list, _CALLS, 1),
    (list_that_the_next_iteration_replaces, _CALLS, 1),
    (tensor_made_in_the_body, _CALLS, 1),
    (tensor_made_in_the_iteration, _CALLS, 1),
    (tensor_carried_by_the_loop, _CALLS, 1),
    (tensor_with_two_names, _CALLS, 1),
    (entries_of_a_dict, _CALLS, 1),
    (made_between_two_raises, _CALLS, 1),
    (list_grown_on_a_path_that_raises, _CALLS, 1),
    (dict_with_a_key_on_a_path_that_raises, _CALLS, 1),
    (held_in_slots, [(P, 0), (P, 3)], 1),
    (loop_that_only_an_index_ends, [(P, 0), (P, 2), ([4.0, 1.0], 1)], 1),
    (modified_between_two_raises, [(P, 3), (P, 2), ([-1.0], 3)], 1),
    (modified_in_a_list_that_grows, [(P, 3), (P, 9), ([-1.0], 3)], 1),
    (modified_in_a_list_that_grows_behind_several, [(P, 3), (P, 2), (P, 1), ([-1.0], 3)], 1),
    (dict_that_gets_a_key_in_the_handler, _CALLS, 1),
    (key_that_comes_back_in_its_place, _CALLS, 1),
    (dict_that_gets_a_key_before_a_loop_raises, _CALLS, 1),
    (object_with_two_names, _CALLS, 1),
    (objects_in_a_tuple, _CALLS, 1),
    (object_made_in_the_iteration, _CALLS, 1),
    (text_of_what_a_list_raises, [(P, 0), (P, 1), (P, 2), ([1.0, 2.0], 0), ([3.0, 4.0, 5.0], 2)], 1),
]
