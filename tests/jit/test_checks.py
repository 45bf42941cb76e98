"""Reading many places by few functions finds what reading each of them does."""

import gc
from collections import OrderedDict, UserDict

import pytest

from dy2st.convert.guards.places import ATTRIBUTES, CLASS, CODE, LENGTH, NAMES, SPECIAL, Place, referred
from dy2st.convert.pyfacts.attribute_lookup import MISSING
from dy2st.jit.checks import NOT_THERE, checks, reads
from dy2st.jit.guards import Guard, Guards


def holds(made):
    try:
        return all(check() for check in made)
    except NOT_THERE:
        return False


def cell_of(value):
    return (lambda: value).__closure__[0]


class Loud(dict):
    def __getitem__(self, key):
        raise AssertionError("the entry itself is what counts")


class One:
    pass


class Two:
    pass


class Slotted:
    __slots__ = ("k",)


class SlottedToo:
    __slots__ = ("k",)


def _become(x, cls):
    x.__class__ = cls


def _give(x, attributes):
    x.__dict__ = attributes


def test_names_that_are_not_special_do_not_count_among_the_special_ones():
    place = Place(Two, SPECIAL, "special methods")
    before = place.now()
    Two.more = 1
    try:
        assert place.now() is before
    finally:
        del Two.more


def test_the_class_of_an_object_does_not_keep_it():
    x = One()
    place = Place(referred(x), CLASS, "class")
    assert place.now() is One
    del x
    gc.collect()
    assert place.now() is type(None)


def changes():
    """(place, the value there, what changes it, what brings the value back)"""
    object_ = object()
    for holder in ({"a": object_, "b": 1}, OrderedDict(a=object_, b=1), Loud(a=object_, b=1)):
        for new in (object(), None):
            yield Place(holder, "a", "a"), object_, lambda h=holder, n=new: h.update(a=n), lambda h=holder: h.update(a=object_)
        yield Place(holder, "a", "a"), object_, lambda h=holder: h.pop("a"), lambda h=holder: h.update(a=object_)
        yield Place(holder, "c", "c"), MISSING, lambda h=holder: h.update(c=None), lambda h=holder: h.pop("c")
    strange = {"{0} 'in' \"it\"\n": object_, 3: object_}
    for key in [*strange]:
        yield Place(strange, key, "s"), object_, lambda k=key: strange.update({k: 0}), lambda k=key: strange.update({k: object_})
    items = [object_, 2]
    yield Place(items, 0, "i"), object_, lambda: items.__setitem__(0, 5), lambda: items.__setitem__(0, object_)
    yield Place(items, LENGTH, "n"), 2, lambda: items.append(3), lambda: items.pop()
    cell = cell_of(object_)
    yield Place(cell, None, "c"), object_, lambda: setattr(cell, "cell_contents", 1), lambda: setattr(cell, "cell_contents", object_)
    yield Place(cell, None, "c"), object_, lambda: delattr(cell, "cell_contents"), lambda: setattr(cell, "cell_contents", object_)

    for cls, other in ((One, Two), (Slotted, SlottedToo)):
        x = cls()
        yield Place(referred(x), CLASS, "class"), cls, lambda x=x, c=other: _become(x, c), lambda x=x, c=cls: _become(x, c)
    x, attributes = One(), {"k": 1}
    own = vars(x)
    yield Place(referred(x), ATTRIBUTES, "attributes"), own, lambda: _give(x, attributes), lambda: _give(x, own)
    names, special = Place(One, NAMES, "names"), Place(Two, SPECIAL, "special methods")
    yield names, names.now(), lambda: setattr(One, "new", 1), lambda: delattr(One, "new")
    yield special, special.now(), lambda: setattr(Two, "__len__", len), lambda: delattr(Two, "__len__")

    def function(x=object_, *, y=object_):
        return x

    known = function.__code__, function.__defaults__, function.__kwdefaults__
    place = Place(function, CODE, "f")
    for name, value in zip(("__code__", "__defaults__", "__kwdefaults__"), known, strict=True):
        other = holds.__code__ if name == "__code__" else None
        yield place, known, lambda n=name, o=other: setattr(function, n, o), lambda n=name, v=value: setattr(function, n, v)


CHANGES = [*changes()]
FILLERS = [({f"k{i}": i for i in range(60)}, f"k{i}") for i in range(60)]


@pytest.mark.parametrize("i", range(len(CHANGES)))
def test_a_change_in_one_of_many_places_is_found(i):
    place, _, change, back = CHANGES[i]
    others = [(p, v) for p, v, *_ in CHANGES] + [(Place(d, k, k), d[k]) for d, k in FILLERS]
    made, guards = checks(others), Guards([Guard(p, v) for p, v in others])
    assert len(made) < len(others)
    assert holds(made)
    assert guards.failed() is None
    change()
    try:
        assert not holds(made)
        failed = guards.failed()
        assert failed is not None
        assert failed.place.now is place.now or failed.holder is place.holder
    finally:
        back()
    assert holds(made)
    assert guards.failed() is None


def test_equal_values_in_place_of_each_other_hold():
    d = {"a": 0.5, "b": (1, "x")}
    guards = Guards([Guard(Place(d, "a", "a"), float("0.5")), Guard(Place(d, "b", "b"), tuple(x for x in d["b"]))])
    assert guards.failed() is None
    for key, value in (("a", -0.5), ("b", (True, "x"))):
        before, d[key] = d[key], value
        assert guards.failed().entry == key
        d[key] = before


def test_layers_of_one_class_share_code():
    made = checks([(Place(d, key, key), d[key]) for d in ({"w": object(), "b": object()} for _ in range(5)) for key in d])
    assert len(made) == 5
    assert len({check.__code__ for check in made}) == 1


def test_places_are_read_in_order():
    dicts = [{f"k{i}": (i, j) for i in range(7)} for j in range(9)]
    places = [Place(d, k, k) for i in range(7) for d in dicts for k in [f"k{i}"]] + [Place(UserDict(a=5), "a", "a"), Place([7], 0, "i")]
    values = [p.now() for p in places]
    assert [x for read in reads(places) for x in read()] == values
    del dicts[3]["k3"]
    with pytest.raises(NOT_THERE):
        [x for read in reads(places) for x in read()]
