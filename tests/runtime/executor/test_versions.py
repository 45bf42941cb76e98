"""A change of any of many dicts is seen, and so is another object in a list."""

import sys
import weakref
from collections import OrderedDict

import pytest
from dy2st_runtime.executor import compile as compiling
from dy2st_runtime.executor import identities, versions, versions_of
from dy2st_runtime.executor.identities import Identities, PlainIdentities
from dy2st_runtime.executor.versions import Versions

# Python 3.13 has none to rely on: there everything is looked at, and `tests/convert/guards/test_outer_changes.py` has the same changes
with_versions = pytest.mark.skipif(sys.version_info >= (3, 13), reason="dicts have no versions")


class Object:
    def __init__(self):
        self.a = 1


def set_attribute(x, value):
    x.a = value


HOLDERS = {
    "dict": (lambda: {"a": 1}, lambda d: d, dict.__setitem__),
    "large": (lambda: dict.fromkeys(map(str, range(1000))), lambda d: d, lambda d, v: d.update(a=v)),
    "ordered": (lambda: OrderedDict(a=1), lambda d: d, dict.__setitem__),
    "attributes": (Object, vars, set_attribute),
    "class": (lambda: type("Own", (), {"a": 1}), versions.namespace, set_attribute),
}


def set_in(kind, holder, value):
    change = HOLDERS[kind][2]
    change(holder, "a", value) if change is dict.__setitem__ else change(holder, value)


@with_versions
@pytest.mark.parametrize("kind", HOLDERS)
@pytest.mark.parametrize("others", [0, 1, 1500])
def test_a_change_of_one_is_seen_and_only_then(kind, others):
    make, dict_of, _ = HOLDERS[kind]
    holder = make()
    dicts = [{} for _ in range(others)]
    dicts.insert(others // 2, dict_of(holder))
    known = Versions(dicts)
    for _ in range(60):  # Python specializes instructions that run often
        assert not known.changed()
        set_in(kind, holder, object())
        assert known.changed()
        now = known.again()
        assert now.differing(known) == [others // 2]
        assert not now.changed()
        assert known.changed()
        known = now


@with_versions
def test_a_value_that_comes_back_is_a_change():
    d = {"a": 1}
    known = Versions([d])
    d["a"] = 2
    d["a"] = 1
    assert known.changed()


@with_versions
@pytest.mark.parametrize("change", [lambda d: d.move_to_end("a"), lambda d: d.move_to_end("b", last=False)])
def test_another_order_of_an_ordered_dict_is_a_change(change):
    dicts = [{}, OrderedDict(a=1, b=2), OrderedDict(a=1, b=2)]
    known = Versions(dicts)
    assert not known.changed()
    change(dicts[1])
    assert known.changed()
    now = known.again()
    assert now.differing(known) == [1]
    assert not now.changed()


@with_versions
@pytest.mark.parametrize("others", [0, 300])
def test_another_class_of_an_object_is_a_change_and_so_is_its_end(others):
    class Other(Object):
        pass

    objects = [Object() for _ in range(others + 1)]
    known = Versions([{}, *map(weakref.ref, objects)])
    assert not known.changed()
    objects[others // 2].__class__ = Other
    assert known.changed()
    now = known.again()
    assert now.differing(known) == [1 + others // 2]
    assert not now.changed()
    objects[others // 2].a = 3  # its attributes are another matter
    assert not now.changed()
    del objects[-1]
    assert now.changed()
    last = now.again()
    assert last.differing(now) == [1 + others]
    assert not last.changed()


@with_versions
def test_some_of_the_holders():
    x, kept = Object(), Object()
    holders = [weakref.ref(x), {}, OrderedDict(a=1, b=2), weakref.ref(kept)]
    known = Versions(holders)
    holders[2].move_to_end("a")
    assert not known.only([0, 1, 3]).changed()
    assert known.only([2, 0]).changed()
    x.__class__ = type("Other", (Object,), {})
    assert known.only([0]).changed()
    assert not known.only([3, 1]).changed()
    part = known.only([3, 2, 0])
    assert part.again().differing(part) == [1, 2]


@with_versions
@pytest.mark.parametrize("name", ["_ORDER", "_CLASS", "_REFERENT"])
def test_objects_of_another_layout_are_found_out(name, monkeypatch):
    monkeypatch.setattr(versions, name, getattr(versions, name) - versions.WORD)
    assert not versions.are_kept.__wrapped__()


@with_versions
def test_some_of_the_dicts():
    dicts = [{}, {}, {}]
    known = Versions(dicts)
    dicts[1]["a"] = 1
    assert known.changed()
    assert not known.only([0, 2]).changed()
    assert known.only([1, 2]).changed()
    assert not known.only([]).changed()


@with_versions
@pytest.mark.parametrize("words", [0, 1, 2, 4])
def test_dicts_without_a_version_are_found_out(words, monkeypatch):
    """As in a Python that has something else there."""
    assert versions.are_kept()
    monkeypatch.setattr(versions, "_OFFSET", words * versions.WORD)
    assert not versions.are_kept.__wrapped__()


@pytest.mark.skipif(sys.version_info < (3, 13), reason="dicts have versions")
def test_there_are_none_to_rely_on():
    assert not versions.are_kept()


def test_lists_of_another_kind_are_found_out(monkeypatch):
    assert identities.are_told()
    monkeypatch.setattr(identities, "_ITEMS", 2 * identities.WORD)
    assert not identities.are_told.__wrapped__()


def test_without_versions_there_are_none(monkeypatch):
    assert compiling  # LLVM is loaded
    monkeypatch.setattr(versions, "are_kept", lambda: False)
    assert versions_of([{}]) is None


@pytest.mark.parametrize("kind", [Identities, PlainIdentities])
@pytest.mark.parametrize("count", [0, 1, 5, 300])
def test_another_object_in_a_list_is_seen(kind, count):
    objects = [object() for _ in range(count)]
    known = kind(objects)
    assert known.are([*objects])
    assert not known.are([*objects, object()])
    for i in {0, count // 2, count - 1} if count else ():
        assert not known.are([*objects[:i], object(), *objects[i + 1 :]])
        assert not known.are([*objects[:i], *objects[i + 1 :]])
