"""What an exception of a `try` holds, and what was changed before it: the handler has the objects that it knows by other names."""

from collections import Counter
from functools import partial


class Failure(Exception):
    def __init__(self, items):
        self.items = items


def list_in_an_argument(x, n):
    y = x.sum()
    try:
        if n > 0:
            t = [x.sum()]
            raise ValueError(t)
    except ValueError as e:
        e.args[0][0] = x.max()
        y = t[-1] + len(t)
    return y


def list_in_an_argument_that_grows(x, n):
    y = x.sum()
    try:
        if n > 0:
            t = [x.sum()]
            raise ValueError(t, f"{x.max()}")
    except ValueError as e:
        e.args[0].append(x.max())
        print(e.args[1])
        y = t[-1] + len(t)
    return y


def dict_in_two_places_of_an_attribute(x, n):
    y = x.sum()
    try:
        if n > 0:
            t = {"a": x.sum()}
            raise Failure({"b": t, "c": [t]})
    except Failure as e:
        e.items["c"][0]["a"] = x.max()
        y = t["a"] + e.items["b"]["a"]
    return y


def list_of_an_iteration(x, n):
    y = x.sum()
    try:
        for v in x:
            t = [v]
            if v > n:
                raise Failure(t)
    except Failure as e:
        e.items.append(y)
        y = x.max() * 10 + e.items[0] + t[-1]
    return y


def one_exception_raised_twice(x, n):
    y = x.sum()
    try:
        if n > 5:
            raise KeyError("a")
        t = [x.sum() * 2]
        failure = Failure(t)
        if n > 0:
            raise failure
        t[0] = x.max()
        y = failure.items[-1] * 1
        if n < 0:
            t[0] = x.max() * 3
            raise failure
    except Failure as e:
        y = x.max() * 10 + e.items[-1]
    except KeyError:
        y = x.min()
    return y


def attribute_set_between_two_raises(x, n):
    y = x.sum()
    try:
        if n > 5:
            raise KeyError("a")
        t = x.sum() * 2
        failure = Failure(t)
        if n < 0:
            raise failure
        failure.items = t * 2
        if n < 5:
            raise failure
    except Failure as e:
        y = x.max() * 10 + e.items
    except KeyError:
        y = x.min()
    return y


def its_own_cause(x, n):
    y = x.sum()
    try:
        failure = Failure(x.max())
        if n > 0:
            raise failure from failure
    except Failure as e:
        y = e.items * 2
    return y


def went_on_with_where_it_is_not_raised(x, n):
    t = [x.sum() * 2]
    failure = Failure(t)
    try:
        if n > 0:
            raise failure
        t.append(x.max())
        y = failure.items[-1] * 1
    except Failure as e:
        y = x.max() + e.items[-1]
    return y


def item_set_before_the_second_raise(x, n):
    y = x.sum()
    try:
        if n > 5:
            raise KeyError("a")
        t = [x.sum() * 2]
        if n < 0:
            t[0] = x.max() * 3
            raise ValueError
    except ValueError:
        y = x.max() * 10 + t[-1]
    except KeyError:
        y = x.min()
    return y


def entry_set_before_the_second_raise(x, n):
    y = x.sum()
    try:
        if n > 5:
            raise KeyError("a")
        t = {"a": x.sum() * 2, "b": [x]}
        if n < 0:
            t["a"] = x.max() * 3
            del t["b"]
            raise ValueError
    except ValueError:
        y = x.max() * 10 + t["a"] + len(t)
    except KeyError:
        y = x.min()
    return y


def inner_list_that_grew_before_it_was_replaced_elsewhere(x, n):
    try:
        t = [[x.sum() * 2], x]
        if n > 0:
            t[0].append(x.max())
            raise ValueError
        t[0] = [x.min()]
    except ValueError:
        pass
    return t[0][-1] + len(t[0])


def inner_list_that_grew_beside_another_change(x, n):
    try:
        t = [[x.sum() * 2], x]
        if n > 0:
            t[0].append(x.max())
            raise ValueError
        t[1] = x * 2
    except ValueError:
        pass
    return t[0][-1] + len(t[0])


def list_that_the_handler_makes_shorter(x, n):
    try:
        t = [x.sum() * 2]
        if n > 0:
            t = [*t, x.min()]
            raise ValueError
        del t[0]
        r = x.sum() + len(t)
    except ValueError:
        del t[0]
        r = t[-1] + len(t) * 10
    return r + len(t)


def list_of_the_exception_that_the_handler_makes_shorter(x, n):
    try:
        t = [x.sum() * 2]
        if n > 0:
            t = [*t, x.min()]
            raise ValueError(t, "a")
        del t[0]
        r = x.sum() + len(t)
    except ValueError as e:
        t = e.args[0]
        del t[0]
        r = t[-1] + len(t) * 10
    return r + len(t)


def list_made_behind_a_raise_that_the_handler_makes_shorter(x, n):
    try:
        if n > 5:
            raise KeyError
        t = [x.sum() * 2]
        if n > 0:
            t.append(x.min())
            raise ValueError
        t.clear()
        r = x.sum() + len(t)
    except ValueError:
        t.pop(0)
        r = t[-1] + len(t) * 10
    except KeyError:
        r, t = x.max(), []
    return r + len(t)


def dict_that_each_iteration_empties(x, n):
    t = {"k": x.sum() * 2}
    try:
        for v in x:
            t.clear()
            if v > n:
                t["m"] = x.max()
                raise ValueError
        r = x.sum() + len(t)
    except ValueError:
        r = sum(t.values(), x.min()) + ("k" in t) + t.get("k", x.max() * 100)
    return r


def key_moved_before_the_second_raise(x, n):
    try:
        if n > 5:
            raise KeyError
        t = {"a": x.sum(), "b": x.max()}
        if n > 0:
            t["a"] = t.pop("a")
            raise ValueError
        r = x.min()
    except ValueError:
        r = sum(v * i for i, v in enumerate(t.values(), 1))
    except KeyError:
        r = x.mean()
    return r


def counted_before_the_second_raise(x, n):
    try:
        if n > 5:
            raise KeyError
        t = Counter(a=1)
        if n > 0:
            raise ValueError
        t["a"] += 1
        if n < 0:
            raise ValueError
        r = x.min()
    except ValueError:
        t["a"] += 1
        r = x.sum() * t["a"]
    except KeyError:
        r = x.mean()
    return r


def partial_that_only_the_exception_holds(x, n):
    try:
        t = [x.sum()]
        total = partial(sum, t)
        if n > 0:
            raise ValueError(total)
        r = x.min()
    except ValueError as e:
        total = e.args[0]
        t.append(x.max())
        r = total() * 2
    return r


def partial_that_is_replaced_behind_a_raise(x, n):
    t = [x.sum()]
    total = partial(sum, t)
    try:
        if n > 0:
            raise ValueError
        t.append(x.max())
        total = partial(sum, [x.min()])
        r = total()
    except ValueError:
        r = total() * 2
    return r


class Steps:
    def __init__(self, x):
        self.total = x.sum()

    def take(self, n):
        if n > 0:
            raise IndexError
        self.total = self.total + 1


def object_made_behind_a_raise_whose_method_raises(x, n):
    try:
        if n > 5:
            raise KeyError
        steps = Steps(x)
        steps.take(n)
        steps.take(n + 1)
        r = steps.total
    except KeyError:
        r = x.mean()
    except IndexError:
        r = steps.total * 10
    return r


def list_made_behind_a_raise_that_a_function_replaces(x, n):
    try:
        if n > 5:
            raise KeyError
        t = [x.sum()]

        def put(v):
            nonlocal t
            t = [v]

        if n > 0:
            t[0] = x.min()
            raise ValueError
        put(x.max())
    except ValueError:
        r = t[0] * 10
    except KeyError:
        r = x.mean()
    else:
        r = t[0] * 2
    return r


X = [1.0, 2.0, 3.0]
def dict_emptied_before_what_each_run_raises(x, n):
    table = {"kind": ValueError}
    try:
        for _ in x:
            table.clear()
            raise ValueError
        x = x.missing
    except ValueError:
        pass
    return table, len(table), "kind" in table, x


CASES = [(function, [(X, 1), (X, 0), (X, -1), (X, 9)], 1) for function in (
    list_in_an_argument, list_in_an_argument_that_grows, dict_in_two_places_of_an_attribute, list_of_an_iteration,
    one_exception_raised_twice, attribute_set_between_two_raises, its_own_cause, went_on_with_where_it_is_not_raised,
    item_set_before_the_second_raise,
    entry_set_before_the_second_raise, inner_list_that_grew_before_it_was_replaced_elsewhere, inner_list_that_grew_beside_another_change,
    list_that_the_handler_makes_shorter, list_of_the_exception_that_the_handler_makes_shorter,
    list_made_behind_a_raise_that_the_handler_makes_shorter, dict_that_each_iteration_empties,
    dict_emptied_before_what_each_run_raises,
    key_moved_before_the_second_raise, counted_before_the_second_raise,
    partial_that_only_the_exception_holds, partial_that_is_replaced_behind_a_raise,
    object_made_behind_a_raise_whose_method_raises, list_made_behind_a_raise_that_a_function_replaces,
)]  # fmt: skip
