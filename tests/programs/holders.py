"""Lists, dicts and objects that are changed on some paths, and held by what is no container: named tuples, closures, generators."""

import collections
import contextlib
import functools
import types

State = collections.namedtuple("State", "items scale")


class Box:
    def __init__(self, value):
        self.value = value

    def size(self):
        return len(self.value)


class Row(tuple):
    """A tuple with an attribute."""

    def count_of_first(self):
        return len(self[0])


def recorder():
    log = []

    def add(v):
        log.append(v)

    def get():
        return log

    return add, get


def counter(items):
    def count():
        return len(items)

    return count


# ---- named tuples ----
def list_in_a_named_tuple(x):
    s, other = State([], 2), State([0], 3)
    if x[0] > 0:
        s.items.append(x[0])
        other.items[0] = 5
    return len(s.items), other.items, x * 2


def dict_and_object_in_a_named_tuple(x):
    s, t = State({}, 2), State(Box(x), 3)
    if x[0] > 0:
        s.items["k"] = 1
        t.items.value = x * 3
    return "k" in s.items, t.items.value


def list_in_a_named_tuple_grown_in_a_loop(x):
    s = State([], 2)
    for v in x:
        s.items.append(v * s.scale)
    return s.items


def list_of_a_variable_in_a_named_tuple(x):
    items, by_key = [], {}
    s, t = State(items, 2), [State((by_key, 1), 3)]
    if x[0] > 0:
        items.append(x)
        s.items.append(x * 2)
        by_key["k"] = x
    return len(s.items), len(items), "k" in t[0].items[0], x * 2


def list_in_a_tuple_of_its_own_class(x):
    row = Row([[], x])
    row.name = "first"
    if x[0] > 0:
        row[0].append(x)
    return row.count_of_first(), row.name, len(row[0]), x * 2


class Hypothesis(collections.namedtuple("Hypothesis", "tokens score")):
    __slots__ = ()

    def extended(self, token, score):
        return Hypothesis([*self.tokens, token], self.score + score)


def method_of_a_named_tuple(x):
    h = Hypothesis([1], x.sum())
    for v in x:
        if v > 0:
            h = h.extended(int(v), v)
    return h.tokens, h.score


# ---- closures ----
def closures_of_a_factory(x):
    add, get = recorder()
    if x[0] > 0:
        add(x)
    else:
        add(x * 2)
    return get()[0], len(get())


def closures_on_one_path(x):
    add, get = recorder()
    if x[0] > 0:
        add(x)
    return len(get()), x * 2


def closures_in_a_loop(x):
    add, get = recorder()
    for v in x:
        add(v)
    return get()


def closure_of_a_list(x):
    items = []
    count = counter(items)
    if x[0] > 0:
        items.append(x)
    return count(), x * count()


def object_in_a_closure(x):
    box = (lambda o: lambda: o)(Box(x))
    if x[0] > 0:
        box().value = x * 3
    return box().value


# ---- other functions ----
def defaults(x):
    items, by_key = [], {}
    count, has = (lambda held=items: len(held)), (lambda *, held=by_key: "k" in held)
    if x[0] > 0:
        items.append(x)
        by_key["k"] = x
    return count(), has(), x * 2


def default_that_grows_on_one_path(x):
    def noted(v, seen=[]):  # noqa: B006
        seen.append(v)
        return len(seen)

    noted(1)
    if x.sum() > 0:
        noted(2)
    return x * noted(3)


def partial_of_a_list(x):
    items = []
    count, total = functools.partial(len, items), functools.partial(lambda held, scale: len(held) * scale, items, scale=3)
    if x[0] > 0:
        items.append(x)
        count.args[0].append(x)
    return count(), total(), x * 2


def keywords_of_a_partial(x):
    make = functools.partial(dict, k=[0])
    if x[0] > 0:
        make.keywords["k"].append(1)
    return len(make.keywords["k"]), x * 2


def bound_methods(x):
    items = []
    size, first = Box(items).size, types.MethodType(lambda self: len(self), items)
    if x[0] > 0:
        items.append(x)
    return size(), first(), x * 2


def attributes_of_functions(x):
    def f():
        return len(f.calls)

    f.calls = []
    calls = f.calls
    if x[0] > 0:
        calls.append(x)
    return f(), len(f.calls), x * 2


def namespaces(x):
    space = types.SimpleNamespace(items=[], by_key={})
    items, by_key = space.items, space.by_key
    if x[0] > 0:
        items.append(x)
        by_key["k"] = x
    return len(space.items), "k" in space.by_key, x * 2


def arguments_of_an_exception(x):
    items = []
    error = ValueError("too many", items)
    if x[0] > 0:
        items.append(x)
    return len(error.args[1]), x * 2


def methods_of_lists(x):
    items, by_key = [], {}
    add, keep = items.append, by_key.__setitem__
    if x[0] > 0:
        add(x[0])
        keep("k", x)
    add(x[1])
    return len(items) + 10 * ("k" in by_key), x * 2


def classes(x):
    class Registry:
        entries = []
        names = {}

        @classmethod
        def count(cls):
            return len(cls.entries)

    registry, other = Registry(), type("Other", (), {"entries": [0]})
    if x[0] > 0:
        registry.entries.append(x)
        Registry.names["k"] = x
        other().entries[0] = 1
    return registry.count(), "k" in registry.names, other.entries, other.__module__ == __name__, x * 2


# ---- generators that go on later ----
@contextlib.contextmanager
def scope(stack, name):
    stack.append(name)
    yield
    stack.pop()


def gives(items):
    yield 1
    items.append(2)
    yield 3


def manager_of_a_generator(x):
    stack = []
    with scope(stack, "a"):
        if x[0] > 0:
            stack.append("b")
    return len(stack), x * 2


def callbacks_of_an_exit_stack(x):
    items = []
    with contextlib.ExitStack() as stack:
        stack.callback(items.append, 2)
        stack.enter_context(scope(items, 3))
        if x[0] > 0:
            items.append(1)
    return items, x * 2


def generator_that_goes_on(x):
    items = []
    for g in gives(items):
        if x[0] > 0:
            items.append(g)
    for _, g in enumerate(gives(items)):
        if x[1] > 0:
            items.append(g)
    return items, x * 2


P, N = [3.0, 1.0], [-3.0, 1.0]

def variable_two_functions_further_out(x):
    count, rows = x * 0, [x, x * 2]

    def all_of(values):
        def add():
            nonlocal count
            count = count + 1
            if len(rows):
                last = rows.pop()
                count = count + last

        for v in values:
            if v > 0:
                add()

    all_of(x)
    return count, len(rows)


def default_of_one_of_two(x):
    kept, rows = {"k": [x.min()]}, [x.sum()]
    get = lambda held=[x.max()]: held  # noqa: B008, E731
    if x.sum() > 0:
        kept["k"] = rows
        get = lambda held=rows: held  # noqa: E731
    kept["k"].append(x.max())
    return len(get()), len(kept["k"]), len(rows)


CASES = [
    (variable_two_functions_further_out, [([1.0, 2.0, 3.0],), ([-1.0, -2.0, 3.5],)], 1),
    (list_in_a_named_tuple, [(P,), (N,)], 1),
    (dict_and_object_in_a_named_tuple, [(P,), (N,)], 1),
    (list_in_a_named_tuple_grown_in_a_loop, [(P,), (N,)], 1),
    (list_of_a_variable_in_a_named_tuple, [(P,), (N,)], 1),
    (list_in_a_tuple_of_its_own_class, [(P,), (N,)], 1),
    (method_of_a_named_tuple, [(P,), (N,)], 1),
    (closures_of_a_factory, [(P,), (N,)], 1),
    (closures_on_one_path, [(P,), (N,)], 1),
    (closures_in_a_loop, [(P,), (N,)], 1),
    (closure_of_a_list, [(P,), (N,)], 1),
    (object_in_a_closure, [(P,), (N,)], 1),
    (defaults, [(P,), (N,)], 1),
    (default_that_grows_on_one_path, [(P,), (N,)], 1),
    (default_of_one_of_two, [(P,), (N,)], 1),
    (partial_of_a_list, [(P,), (N,)], 1),
    (keywords_of_a_partial, [(P,), (N,)], 1),
    (bound_methods, [(P,), (N,)], 1),
    (attributes_of_functions, [(P,), (N,)], 1),
    (namespaces, [(P,), (N,)], 1),
    (arguments_of_an_exception, [(P,), (N,)], 1),
    (methods_of_lists, [(P,), (N,)], 1),
    (classes, [(P,), (N,)], 1),
    (manager_of_a_generator, [(P,), (N,)], 1),
    (callbacks_of_an_exit_stack, [(P,), (N,)], 1),
    (generator_that_goes_on, [(P,), (N,)], 1),
]
