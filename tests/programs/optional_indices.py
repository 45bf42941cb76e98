"""Indices, bounds of slices and ends of ranges that are None on some path, as a search gives them."""

from dy2st import clip, to_tensor


def found(x, limit):
    for i, v in enumerate(x):
        if v > limit:
            return i
    return None


def item_of_one(x):
    items = [x]
    return items[found(x, 2)]


def item_of_several(x):
    items = [x, x * 2, x * 3]
    return items[found(x, 2)]


def item_of_others(x):
    place = found(x, 2)
    return (1, 2)[place], "abc"[place], range(5, 9)[place]


def item_that_nobody_reads(x):
    [x][found(x, 2)]
    return x * 2


def item_of_a_growing_list(x, n):
    items = [x * i for i in range(n)]
    return items[found(x, 2)]


def parts(x):
    items, place = [x, x * 2, x * 3], found(x, 2)
    return items[place:], items[:place], items[place::-1]


def parts_of_a_growing_list(x, n):
    items, place = [x * i for i in range(n)], found(x, 2)
    return items[place:], items[:place]


def counted_up_to(x):
    total = 0
    for i in range(found(x, 2)):
        total = total + i + x
    return total


def set_and_deleted(x):
    items, place = [x, x * 2, x * 3], found(x, 2)
    items[place] = x + 1
    del items[place]
    return items


def made_a_tensor(x):
    return to_tensor(found(x, 2)), x * 2


def parts_of_a_tensor(x):
    place = found(x, 2)
    return x[place:] * 2, x[:place], x[place:-1], x[found(x, 0) : found(x, 3)]


def parts_in_one_of_two_dims(x):
    place = found(x, 2)
    whole = slice(None, place)
    return x.reshape([-1, 1])[place:, 0], x.reshape([1, -1])[..., :place], x[whole]


def part_of_a_tensor_set(x):
    y, z = x * 1, x.reshape([-1, 1]) * 2
    place = found(x, 2)
    y[:place] += 7
    z[place:, 0] = x[0]
    z[place] = 5
    return y, z


def index_that_is_none_where_nothing_is_read(x):
    place = found(x, 2)
    if place is None:
        return x
    return x[place, None]


def bounds_that_need_not_be(x):
    lowest, highest = (None if x.min() < 0 else x[1]), found(x, 2)
    y = x * 1
    y.clip_(max=highest)
    return clip(x, lowest, highest), x.clip(max=lowest), y


EARLY, LATE, NONE = [3.0, 1.0], [1.0, 4.0], [1.0, -1.0]

CASES = [
    *((function, [(EARLY,), (LATE,), (NONE,)], 1) for function in (item_of_several, item_of_others, parts, counted_up_to, set_and_deleted,
                                                                    item_of_one, item_that_nobody_reads, made_a_tensor, parts_of_a_tensor,
                                                                    parts_in_one_of_two_dims, part_of_a_tensor_set,
                                                                    index_that_is_none_where_nothing_is_read, bounds_that_need_not_be)),
    (item_of_a_growing_list, [(EARLY, 2), (LATE, 2), (NONE, 3)], 1),
    (parts_of_a_growing_list, [(EARLY, 2), (LATE, 2), (NONE, 3)], 1),
]  # fmt: skip
