"""`Reach` finds what code may read, also where the functions that run between two walks change it."""

import types

from dy2st.convert.guards.places import AttributeVariable
from dy2st.convert.guards.reach import Reach


def first(x):
    return x.size


def second(x, y):
    return x == y, x.shape


def class_places(reach: Reach, cls: type) -> set:
    return {p.entry for p in reach.places.values() if isinstance(p.holder, AttributeVariable) and p.holder.holder is cls}


def fresh() -> type:
    cls = types.new_class("Point", exec_body=lambda space: space.update(__module__="user", size=1))
    cls.__len__ = lambda self: 0
    return cls


def test_objects_of_one_class_are_each_looked_through():
    cls = fresh()
    points = [cls() for _ in range(4)]
    for k, x in enumerate(points):
        x.size = [k]
    reach = Reach()
    reach.add(first, points)
    assert all(id(x.size) in reach.objects for x in points)
    assert class_places(reach, cls) == {"size", "__len__"}


def test_a_class_that_changes_between_two_walks():
    cls = fresh()
    reach = Reach()
    reach.add(first, cls())
    assert class_places(reach, cls) == {"size", "__len__"}
    cls.__bool__ = lambda self: True
    cls.size = [1]
    reach.add(cls())
    assert class_places(reach, cls) == {"size", "__len__", "__bool__"}
    assert id(cls.size) in reach.objects


def test_code_that_compares_comes_later():
    cls = fresh()
    cls.__eq__ = lambda self, other: True
    reach = Reach()
    reach.add(first, cls())
    assert "__eq__" not in class_places(reach, cls)
    reach.add(second, cls())
    assert "__eq__" in class_places(reach, cls)


def test_what_is_asked_for_is_a_place_where_it_is_missing():
    cls = fresh()
    x, reach = cls(), Reach()
    reach.add(first, x)
    reach.ask(x, "shape")
    assert "shape" in class_places(reach, cls)
