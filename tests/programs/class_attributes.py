"""Attributes of classes, also of those that a function makes, are state; and a method of such a class that calls itself is recursion."""


def counted(x, n):
    class Counter:
        count = 0

        def __init__(self):
            type(self).count += 1

    def hit():
        Counter.count += 1

    for i in range(3):
        if x[i] > 1:
            hit()
        if x[i] > 2:
            Counter()
    while Counter.count < n:
        hit()
    return x * Counter.count, Counter.count


def flag(x, n):
    class State:
        done = False

    def check(v):
        if v > 3:
            State.done = True

    i = n
    while not State.done:
        check(i)
        i += 1
    return x * i


def best(x, n):
    class Best:
        value, at = None, -1

    def see(i, v):
        if Best.value is None or v > Best.value:
            Best.value, Best.at = v, i

    for i in range(3):
        see(i, x[i] * (-1) ** i)
    return Best.value, Best.at + n


def by_a_function_outside(x, n):
    class Sum:
        total = 0

    for i in range(3):
        if x[i] > 1:
            _add_to(Sum, i)
    return x * Sum.total, n


def _add_to(cls, k):
    cls.total = cls.total + k


def each_has_its_own(x, n):
    def made():
        class Positive:
            n = 0

            def see(self, v):
                if v > 0:
                    Positive.n += 1

        return Positive

    first, second = made(), made()
    for i in range(3):
        first().see(x[i])
        second().see(-x[i])
        second().see(x[i] * 0 + 1)
    return first.n, second.n, n


def one_instance(x, n):
    class Single:
        instance = None

        def __init__(self):
            self.n = n

        @classmethod
        def get(cls):
            if cls.instance is None:
                cls.instance = cls()
            return cls.instance

    for i in range(3):
        if x[i] > 1:
            Single.get().n += 1
    return Single.get().n


def restored_behind_a_call(x, n):
    class Config:
        scale, depth = 1.0, 0

    class Using:
        def __init__(self, **values):
            self.values = values

        def __enter__(self):
            self.old = {name: getattr(Config, name) for name in self.values}
            for name, value in self.values.items():
                setattr(Config, name, value)

        def __exit__(self, *error):
            for name, value in self.old.items():
                setattr(Config, name, value)

    def net(v, k):
        if k <= 0:
            return v * Config.scale + Config.depth
        with Using(scale=Config.scale * 2, depth=Config.depth + 1):
            return net(v + 1, k - 1)

    return net(x, n), Config.scale, Config.depth


def tensor_restored_behind_a_call(x, n):
    class Config:
        scale = x

    def net(v, k):
        if k <= 0:
            return v * Config.scale
        old = Config.scale
        Config.scale = Config.scale * 2
        found = net(v + 1, k - 1)
        Config.scale = old
        return found

    return net(x, n), Config.scale


def methods_that_call_each_other(x, n):
    class First:
        def __init__(self):
            self.calls, self.value, self.other = 0, x, None

        def go(self, k):
            self.calls += 1
            if k <= 0:
                return self.value
            self.value = self.value + 1
            return self.other.go(k - 1) + self.value

    class Second(First):
        def go(self, k):
            if k > 1:
                self.value = self.value * 2
                found = super().go(k)
                self.value = self.value / 2
                return found
            return super().go(k)

    a, b = First(), Second()
    a.other, b.other = b, a
    return a.go(n), a.calls, b.calls, a.value, b.value


class Config:
    scale, depth = 1.0, 0


class Using:
    """Restores attributes of a class; no code has their names beside `setattr`."""

    def __init__(self, **values):
        self.values = values

    def __enter__(self):
        self.old = {name: getattr(Config, name) for name in self.values}
        for name, value in self.values.items():
            setattr(Config, name, value)

    def __exit__(self, *error):
        for name, value in self.old.items():
            setattr(Config, name, value)


def outside_restored_behind_a_call(x, n):
    def net(v, k):
        if k <= 0:
            return v * Config.scale + Config.depth
        with Using(scale=Config.scale * 2, depth=Config.depth + 1):
            return net(v + 1, k - 1)

    return net(x, n), Config.scale, Config.depth


def names_in_a_tuple(x, n):
    class Sizes:
        width, height = 1.0, 2

    def double():
        for name in ("width", "height"):
            setattr(Sizes, name, getattr(Sizes, name) * 2)

    if x.sum() > n:
        double()
    return x * Sizes.width, Sizes.height


class Registry:
    pass


class Named(type):
    pass


class Marked(metaclass=Named):
    pass


def _register(cls, value):
    cls.last = value


class Logger:
    @classmethod
    def keep(cls, value):
        cls.kept = value

    def see(self, value):
        type(self).seen = value
        self.keep(value * 2)


def outside_gets_a_new_attribute(x, n):
    _register(Registry, x * n)
    for i in range(3):
        if x[i] > 1:
            _register(Registry, Registry.last + i)
    found = Registry.last
    del Registry.last
    return found, hasattr(Registry, "last")


def outside_gets_a_new_attribute_of_methods(x, n):
    Logger().see(x * n)
    if x.sum() > n:
        Logger.keep(Logger.seen + 1)
    found = Logger.seen, Logger.kept
    del Logger.seen, Logger.kept
    return found


def outside_with_a_metaclass_gets_one_in_some_runs(x, n):
    if x.sum() > 0:
        _register(Marked, x * n)
    there = hasattr(Marked, "last")
    found = getattr(Marked, "last", x)
    if there:
        del Marked.last
    return found, there


P, N = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5]
RUNS = [(P, 3), (N, 2), (P, 0), (P, 1)]

CASES = [
    (function, RUNS, 1)
    for function in (
        counted, flag, best, by_a_function_outside, each_has_its_own, one_instance, restored_behind_a_call, tensor_restored_behind_a_call,
        methods_that_call_each_other, outside_restored_behind_a_call, names_in_a_tuple,
        outside_gets_a_new_attribute, outside_gets_a_new_attribute_of_methods, outside_with_a_metaclass_gets_one_in_some_runs,
    )
]  # fmt: skip
