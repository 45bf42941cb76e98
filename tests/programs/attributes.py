"""Attributes that an object has in some runs only, and attributes that code of the class keeps."""

import functools


class Plain:
    kind = 7

    def put(self, value):
        self.value = value

    def count(self):
        self.kind += 1


class Slotted:
    __slots__ = ("other", "value")

    def __init__(self, value):
        self.value = value

    def double(self):
        self.value = self.value * 2


def set_on_one_path(x):
    it = Plain()
    if x.sum() > 0:
        it.value = x
    return it.value * 2


def set_by_a_method(x):
    it = Plain()
    if x.sum() > 0:
        it.put(3)
    return it.value


def set_in_a_loop(x):
    it = Plain()
    for v in x:
        if not hasattr(it, "best") or v > it.best:
            it.best = v
    return it.best, getattr(it, "nothing", 3)


def asked_for(x):
    it = Plain()
    if x.sum() > 0:
        it.put(x)
    y = getattr(it, "value", x * 3)
    return y + 1 if hasattr(it, "value") else y


def caught(x):
    it = Plain()
    if x.sum() > 0:
        it.value = x
    try:
        return it.value + 1
    except AttributeError:
        return x * 3


def of_the_class(x):
    it = Plain()
    if x.sum() > 0:
        it.count()
    return it.kind, x * it.kind


def deleted(x):
    it = Plain()
    it.kind = 1
    it.value = x
    if x.sum() > 0:
        del it.kind
    else:
        del it.value
    return it.kind, hasattr(it, "value")


def deleted_again(x):
    it = Plain()
    it.value = x
    if x.sum() > 0:
        del it.value
    del it.value
    return x


def an_object(x):
    it = Plain()
    if x.sum() > 0:
        it.value = Cached(x)
    elif x.sum() < -1:
        it.value = Cached(x * 2)
    return it.value.x


def a_text(x):
    it = Plain()
    if x.sum() > 0:
        it.mode = "up"
    return x if getattr(it, "mode", "down") == "up" else -x


def in_slots(x):
    it = Slotted(x)
    if x.sum() > 0:
        it.other = x
    for v in x:
        it.value = it.value + v
    return it.value, it.other if hasattr(it, "other") else None


def slot_set_by_a_method(x):
    it = Slotted(x)
    if x.sum() > 0:
        it.double()
    for v in x:
        if v > 0:
            it.double()
    return it.value


class Cached:
    def __init__(self, x):
        self.x = x
        self.calls = 0

    @functools.cached_property
    def double(self):
        self.calls += 1
        return self.x * 2

    def __getattr__(self, name):
        if name != "late":
            raise AttributeError("only late")
        return self.x * 5


def cached_on_one_path(x):
    it = Cached(x)
    y = it.double if x.sum() > 0 else x
    return y + it.double, it.calls


def cached_in_a_loop(x):
    it, s = Cached(x), 0
    for v in x:
        if v > 0:
            s = s + it.double.sum()
    return s, it.calls


def found_by_getattr(x):
    it = Cached(x)
    if x.sum() > 0:
        it.late = x
    return it.late


class Logged:
    """What a property and a descriptor set is set once, where the program says so."""

    def __init__(self):
        self.log, self.kept = [], 0

    @property
    def value(self):
        return self.kept

    @value.setter
    def value(self, new):
        self.log.append("set")
        self.kept = new * 2

    @value.deleter
    def value(self):
        self.kept = 5

    @property
    def entries(self):
        return self.log


def property_set(x):
    it = Logged()
    if x.sum() > 0:
        it.value = x.sum()
    return it.value, len(it.log)


def property_set_in_a_loop(x):
    it = Logged()
    for v in x:
        it.value = it.value + v
    return it.value, len(it.log)


def property_deleted(x):
    it = Logged()
    it.value = 1
    if x.sum() > 0:
        del it.value
    return it.value


def list_of_a_property(x):
    it = Logged()
    if x.sum() > 0:
        it.entries.append("one more")
    return len(it.entries)


class Scaled:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, it, cls):
        return getattr(it, self.name, 0)

    def __set__(self, it, new):
        setattr(it, self.name, new * 2)


class Doubling:
    scaled = Scaled()

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 3)


class Halving:
    def __init__(self, x):
        self.value = x

    def __getattribute__(self, name):
        return object.__getattribute__(self, name) / 2 if name == "value" else object.__getattribute__(self, name)


def descriptor_set(x):
    it = Doubling()
    if x.sum() > 0:
        it.scaled = x.sum()
    return it.scaled


def set_by_setattr(x):
    it = Doubling()
    it.value = x
    for v in x:
        it.value = it.value + v
    return it.value


def read_by_getattribute(x):
    it = Halving(x)
    if x.sum() > 0:
        it.value = x + 1
    return it.value


class Perhaps:
    def __init__(self, value):
        self.value = value

    def __getattr__(self, name):
        if name.startswith("_") or self.value.sum() > 0:
            raise AttributeError(name)
        return self.value * 2


class Signed:
    def __init__(self, value):
        self.value = value

    @property
    def positive(self):
        if self.value.sum() < 0:
            raise AttributeError("negative")
        return self.value


def there_or_not(x):
    it = Perhaps(x)
    y = it.more if hasattr(it, "more") else x * 5
    return y, getattr(it, "more", x * 3), getattr(Signed(x), "positive", x * 4), hasattr(it, "value")


UP, DOWN, LOW = [1.0, 2.0], [-1.0, 0.5], [-3.0, 1.0]

CASES = [
    (function, [(UP,), (DOWN,), (LOW,)], 1)
    for function in (
        set_on_one_path, set_by_a_method, set_in_a_loop, asked_for, caught, of_the_class, deleted,
        deleted_again, an_object, a_text, in_slots, slot_set_by_a_method, cached_on_one_path,
        cached_in_a_loop, found_by_getattr, property_set, property_set_in_a_loop, property_deleted,
        list_of_a_property, descriptor_set, set_by_setattr, read_by_getattribute, there_or_not,
    )
]  # fmt: skip
