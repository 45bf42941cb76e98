"""The programs of the tables, by name."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from . import lists
from .kinds import KINDS, QUESTIONS, STATEMENTS
from .places import AFTER, CONTROL, PLACES, READ, VARIABLES
from .surroundings import SHARED, SURROUNDINGS
from .things import KEPT, THINGS

WORLD = Path(__file__).with_name("world.py").read_text()


@dataclass(frozen=True)
class Program:
    """A program: the words that name it, and the lines of its `forward(self, x, n)`.

    Attributes:
        lists: see `places`.
        entries: of which kind the entries of the lists `one` and `two` of before are, see `lists`.
        other: the lines of a second method, which is called after each call of `forward`.
        static: which of the two are static functions.
    """

    words: tuple[str, ...]
    forward: str
    lists: bool = False
    other: str = ""
    static: tuple[str, ...] = ("forward",)
    entries: str = "tensor"

    @property
    def name(self) -> str:
        return " | ".join(word.replace("\n", "; ") for word in self.words)

    @property
    def text(self) -> str:
        """Its module."""
        head = f"class Net(Base):\n    lists, entries = {self.lists}, {self.entries!r}\n"
        methods = [
            f"\n    def {name}(self, x, n):\n{_indented(body, 8)}\n"
            for name, body in (("forward", self.forward), ("other", self.other))
            if body
        ]
        return f"{WORLD}\n\n{head}{''.join(methods)}"


def _indented(text: str, by: int) -> str:
    return "\n".join(" " * by + line for line in text.split("\n"))


def _filled(template: str, **lines: str) -> str:
    """A template in which each line that is a name in braces is replaced by these lines."""
    found = []
    for line in template.strip().split("\n"):
        bare = line.lstrip()
        if bare[1:-1] in lines and bare == f"{{{bare[1:-1]}}}":
            found.append(_indented(lines[bare[1:-1]], len(line) - len(bare)) if lines[bare[1:-1]] else "")
        else:
            found.append(line)
    return "\n".join(line for line in found if line)


def of_things() -> Iterator[Program]:
    """Each thing in each surrounding, with each pair of its changes."""
    for (thing, t), (around, template) in itertools.product(THINGS.items(), SURROUNDINGS.items()):
        for c1, c2 in itertools.product(t.changes, repeat=2):
            body = _filled(template, make=t.make, c1=c1, c2=c2).replace("{read}", f"({t.read})")
            yield Program((thing, around, c1, c2), f"{body}\nreturn r")


def of_places() -> Iterator[Program]:
    """A tensor, and a list, put into each two places by each kind of control flow, with each change behind it."""
    for kind, (control, template), (one, two) in itertools.product(
        AFTER, CONTROL.items(), itertools.permutations(PLACES, 2)
    ):
        marks = ("[", "]") if kind == "list" else ("(", ")")
        a, b = (
            [part.replace("@", str(i)) for part in (p.before, p.put, p.get)]
            for i, p in enumerate((PLACES[one], PLACES[two]))
        )
        names = [VARIABLES[place].replace("@", str(i)) for i, place in enumerate((one, two)) if place in VARIABLES]
        nonlocals = f"nonlocal {', '.join(names)}" if names else ""
        body = _filled(template, a=a[1], b=b[1], nonlocals=nonlocals)
        for after in AFTER[kind]:
            parts = [
                a[0],
                b[0],
                body,
                after.format(ga=a[2], gb=b[2]),
                f"return x, {READ[kind].format(a[2])}, {READ[kind].format(b[2])}",
            ]
            text = "\n".join(part for part in parts if part).replace("<<", marks[0]).replace(">>", marks[1])
            yield Program((kind, control, one, two, after), text, kind == "list")


def of_methods() -> Iterator[Program]:
    """Two methods that change the same thing, each in its surrounding, as one or both of them are static functions."""
    for (thing, t), static in itertools.product(KEPT.items(), (("forward", "other"), ("forward",), ("other",))):
        for (one, first), (two, second), c1, c2 in itertools.product(
            SHARED.items(), SHARED.items(), t.changes, t.changes
        ):
            bodies = [
                f"{_filled(a, make=t.make, c1=c).replace('{read}', f'({t.read})')}\nreturn r"
                for a, c in ((first, c1), (second, c2))
            ]
            yield Program((thing, " and ".join(static), one, two, c1, c2), bodies[0], other=bodies[1], static=static)


def of_kinds() -> Iterator[Program]:
    """A value of each two kinds, as the call decides, and each question of it."""
    for one, two in itertools.permutations(KINDS, 2):
        made = f"k = {KINDS[one]}\nif n > 0:\n    k = {KINDS[two]}"
        for question in QUESTIONS:
            yield Program((one, two, question), f"{made}\nreturn {question}")
        for name, statement in STATEMENTS.items():
            yield Program((one, two, name), f"{made}{statement}return r")


def of_generators() -> Iterator[Program]:
    """The same, asked in a generator function."""
    for one, two in itertools.permutations(KINDS, 2):
        made = f"k = {KINDS[one]}\nif n > 0:\n    k = {KINDS[two]}"
        for name, lines in [*((question, f"r = {question}") for question in QUESTIONS), *STATEMENTS.items()]:
            asked = _indented(f"{lines.strip()}\nyield r", 4)
            yield Program((one, two, name), f"{made}\ndef ask():\n{asked}\nreturn next(ask())")


def of_lists() -> Iterator[Program]:
    """Two lists, which two paths change and hand to each other, with entries of each kind."""
    for (kind, entry), (paths, template), one, two, after in itertools.product(
        lists.ENTRIES.items(), lists.PATHS.items(), lists.STEPS, lists.STEPS, lists.AFTER
    ):
        text = _filled(template, one=one.replace("; ", "\n"), two=two.replace("; ", "\n"))
        text = re.sub(r"\b[LG]\b", lambda name: {"L": "self.one", "G": "self.two"}[name[0]], f"{text}\n{after}")
        numbers = itertools.count(5)
        text = re.sub(r"\bV\b", lambda _: entry.replace("#", str(next(numbers))), text)  # noqa: B023
        yield Program((kind, paths, one, two, after), f"{text}\nreturn x * len(self.one)", entries=kind)


TABLES: dict[str, Callable[[], Iterator[Program]]] = {
    "things": of_things,
    "places": of_places,
    "methods": of_methods,
    "lists": of_lists,
    "kinds": of_kinds,
    "generators": of_generators,
}
