"""Which values become one place, rule by rule, on schedules written by hand: `a` and `b` are lists, and an op makes `b` of `a`."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from dy2st_runtime.executor.coalescing import merge_in_place
from dy2st_runtime.ir import Operator, Program
from dy2st_runtime.loopir.builder import KernelBuilder
from dy2st_runtime.lowering.schedule import Absent, Branch, Call, Guard, Launch, Loop, Schedule, Share, Step


def op(outs: str, ins: str = "", takes: str = "", updates: str = "", views: str = "") -> Launch:
    """A launch that writes and reads variables of one letter; `takes` and `views` pair an output with an input: `ba`."""
    k = KernelBuilder("op")
    for name in outs + ins:
        k.tensor(name, "float32", (), name in outs)
    made = Operator("create_array", {}, {"Out": [outs]}, {"dtype": "float32", "shape": [-1]})
    pairs = [{text[:1]: text[1:]} if text else {} for text in (views, takes)]
    return Launch(k.kernel, made, *pairs, tuple(updates))


def merged(steps: list[Step], keep: str = "", external: str = "", shapes: dict[str, tuple[int, ...]] | None = None) -> set[frozenset[str]]:
    """The sets of variables that became one."""
    names = "abcdefghpqrxy"
    block = Program().global_block()
    kind = "dense" if shapes else "array"
    variables = {name: block.create_var(name, "float32", (shapes or {}).get(name, (-1,)), kind=kind) for name in names}
    variables["t"] = block.create_var("t", "bool", ())
    schedule = Schedule(steps, variables)
    merge_in_place(schedule, set(external), set(keep))
    found: dict[str, set[str]] = {}
    for name in names:
        found.setdefault(schedule.canonical(name), set()).add(name)
    return {frozenset(one) for one in found.values() if len(one) > 1}


def together(*names: str) -> set[frozenset[str]]:
    return {frozenset(one) for one in names}


def loop(body: list[Step], params: str, results: str, test: Sequence[Step] = ()) -> Loop:
    return Loop([*params], [*test], "t", body, [*results], op("x").op)


def branch(then: list[Step], orelse: list[Step]) -> Branch:
    return Branch("t", then, orelse, op("x").op)


APPEND = [op("a"), op("b", "a", "ba")]
OTHER = [op("b"), op("c", "b", "cb"), op("y", "c")]


@pytest.mark.parametrize(
    ("why", "steps", "keep", "expected"),
    [
        ("nobody needs the old value", [*APPEND, op("x", "b")], "", together("ab")),
        ("the old value is read later", [*APPEND, op("x", "a")], "", set()),
        ("the old value is kept", APPEND, "ab", set()),
        ("another operand is the same list", [op("a"), Share("c", "a"), op("b", "ac", "ba")], "b", together("ac")),
        ("a share of the old value is read later", [op("a"), Share("c", "a"), op("b", "a", "ba"), op("x", "c")], "b", together("ac")),
        ("a share of the old value takes its place", [op("a"), Share("c", "a"), op("b", "c", "bc")], "b", together("abc")),
        ("what a share shows is read later", [op("a"), Share("c", "a"), op("b", "c", "bc"), op("x", "a")], "b", together("bc")),
        ("both of two shares are changed", [op("a"), Share("c", "a"), op("b", "a", "ba"), op("d", "c", "dc")], "bd", together("acd")),
        ("one path changes, the other does not", [op("a"), branch([op("b", "a", "ba"), Share("c", "b")], [Share("c", "a")])], "c",
         together("abc")),
        ("both paths change", [op("a"), branch([op("b", "a", "ba"), Share("c", "b")], [op("d", "a", "da"), Share("c", "d")])], "c",
         together("abcd")),
        ("what one path reads, the other has changed", [op("a"), branch([op("b", "a", "ba"), op("x", "b")], [op("y", "a")])], "",
         together("ab")),
        ("a loop carries it", [op("a"), Share("p", "a"), loop([op("b", "p", "bp")], "p", "b")], "p", together("abp")),
        ("a loop carries it from a value that is kept", [op("a"), Share("p", "a"), loop([op("b", "p", "bp")], "p", "b")], "ap",
         together("bp")),
        ("each iteration begins with the same", [op("a"), loop([op("b", "a", "ba"), op("x", "b")], "", "")], "", set()),
        ("the test reads it", [op("a"), Share("p", "a"), loop([op("b", "p", "bp")], "p", "b", [op("t", "p")])], "p", together("abp")),
        ("the body reads the old value", [op("a"), Share("p", "a"), loop([op("b", "p", "bp"), op("x", "p")], "p", "b")], "p",
         together("ap")),
        ("a loop in a loop", [op("a"), Share("p", "a"), loop([Share("q", "p"), loop([op("b", "q", "bq")], "q", "b")], "p", "q")], "p",
         together("abpq")),
        ("two change places", [op("a"), op("b"), Share("p", "a"), Share("q", "b"),
                               loop([op("c", "p", "cp"), op("d", "q", "dq")], "pq", "dc")], "pq", together("adp", "bq")),
        ("one becomes both", [op("a"), op("b"), Share("p", "a"), Share("q", "b"), loop([op("c", "p", "cp"), op("x", "q")], "pq", "cc")],
         "pq", together("ap", "bq")),
        ("a guard keeps the old value", [op("a"), Guard(["x"], ["b"], [op("b", "a", "ba")], {"b": "a"})], "b", together("ab")),
        ("a guard keeps another", [op("a"), op("c"), Guard(["x"], ["b"], [op("b", "a", "ba")], {"b": "c"})], "b", together("ab")),
        ("a guard keeps another that is read in it", [op("a"), op("c"), Guard(["x"], ["b"], [op("b", "a", "ba"), op("y", "c")],
                                                                              {"b": "c"})], "b", together("ab")),
        ("a guard keeps what is changed before", [op("a"), op("c"), op("d", "c", "dc"), op("x", "d"),
                                                  Guard(["x"], ["b"], [op("b", "a", "ba")], {"b": "c"})], "b", together("ab")),
        ("absent on one path", [op("a"), branch([op("b", "a", "ba")], [Absent(["b"])])], "b", together("ab")),
        ("absent while the old value is needed", [op("a"), branch([op("b", "a", "ba")], [Absent(["b"]), op("x", "a")])], "b", set()),
        ("a function reads it", [op("a"), op("b", "a", "ba"), Call("f", ["b"], ["c"], [], op("x").op), op("d", "c", "dc")], "d",
         together("ab", "cd")),
        ("a function gives what a loop carries",
         [op("a"), Share("p", "a"), loop([op("b", "p", "bp"), Call("f", ["b"], ["c"], [], op("x").op)], "p", "c")], "p", together("abp")),
        ("a function reads the old value by itself", [op("a"), op("b", "a", "ba"), Call("f", [], ["c"], ["a"], op("x").op)], "b", set()),
        ("what is changed in place is still the value",
         [branch([op("a"), *OTHER, op("a", "x", updates="a"), Share("d", "a")], [op("b"), Share("d", "b")])], "d", together("ad", "bc")),
        ("what an op writes anew is another value",
         [branch([op("a"), *OTHER, op("a", "x"), Share("d", "a")], [op("b"), Share("d", "b")])], "d", together("abcd")),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)  # fmt: skip
def test_lists(why: str, steps: list[Step], keep: str, expected: set[frozenset[str]]) -> None:
    assert merged(steps, keep) == expected


def test_what_is_bound_from_outside_stays_where_it_is() -> None:
    assert merged(APPEND, "b", external="a") == set()


def test_a_view_of_the_old_value() -> None:
    shapes = {"a": (2,)}
    assert merged([op("a"), op("x", "a", views="xa"), op("b", "a", "ba"), op("y", "x")], "b", shapes=shapes) == set()
    assert merged([op("a"), op("x", "a", views="xa"), op("y", "x"), op("b", "a", "ba")], "b", shapes=shapes) == set()
