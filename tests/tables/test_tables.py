"""A part of the tables, and that they would see what differs."""

import itertools

import pytest

from .compare import verdict
from .programs import TABLES, Program


def differing(table, every):
    found = ((program, verdict(program)) for program in itertools.islice(TABLES[table](), 0, None, every))
    return [f"{v.kind}: {program.name}\n{program.forward}\n{v.why}" for program, v in found if v.kind.isupper()]


@pytest.mark.parametrize("table", TABLES)
def test_some_of_a_table(table):
    assert differing(table, 797) == []


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES)
def test_more_of_a_table(table):
    assert differing(table, 101) == []


@pytest.mark.parametrize(
    ("forward", "kind"),
    [
        ("return x * 2", "same"),
        ("return x if eager else x * 2", "VALUES"),
        ("return x.sum() if eager else x", "VALUES"),
        ("return x, 1 if eager else 2", "SHAPE"),
        ("return (x * 2 if eager else (x * 2).detach()).sum()", "GRADIENT"),
        ("y = x * 2\nreturn [x.detach(), y if eager else y.detach()]", "FLAGS"),
        ("y = x * 2\nself.a = [y, y if eager else y * 1]\nreturn x", "IDENTITY"),
        ("y = x * 2\nself.a = [y, y * 1 if eager else y]\nreturn x", "ONE OF TWO"),
        ("self.h = x.sum() if eager else x.max()\nreturn x", "VALUES"),
        ("if n > 1:\n    if eager:\n        raise ValueError\n    x = x * 2\nreturn x", "NO ERROR"),
        ("if n > 1:\n    raise (ValueError if eager else KeyError)\nreturn x", "OTHER ERROR"),
        ("if not eager:\n    raise RuntimeError\nreturn x", "ERROR"),
        ("return np.sum(x)", "fails eagerly"),
        ("return [x.numpy() for _ in range(2)][0].sum() * x", "refused"),
    ],
)
def test_what_differs_is_seen(forward, kind):
    assert verdict(Program((forward,), f"eager = paddle.in_dynamic_mode()\n{forward}")).kind == kind
