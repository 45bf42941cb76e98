"""The primitives that code below their definition calls through the hub."""

import ast
import inspect
from pathlib import Path

import pytest

from dy2st import convert
from dy2st.convert import hub


def test_each_primitive_is_what_the_type_checker_is_told():
    """The names and modules under TYPE_CHECKING are those of the definitions that are registered."""
    (block,) = [n for n in ast.parse(inspect.getsource(hub)).body if isinstance(n, ast.If)]
    told = {a.name: n.module for n in block.body if isinstance(n, ast.ImportFrom) for a in n.names if a.asname}
    assert told == {name: ".".join(Path(getattr(hub, name).__code__.co_filename).with_suffix("").parts[-2:]) for name in hub.PRIMITIVES}
    assert convert.call is hub.call


def test_a_primitive_has_one_definition_and_a_known_name():
    def call(f):
        return f

    def other(f):
        return f

    before = hub.call
    with pytest.raises(AssertionError, match="call"):
        hub.primitive(call)
    with pytest.raises(AssertionError, match="other"):
        hub.primitive(other)
    assert hub.call is before
