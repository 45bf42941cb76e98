"""Templates of statements, with something in each of their places: what the writers of small programs share."""

from __future__ import annotations

import random
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence


class Filler(ABC):
    """Fills templates in. `<v>` is a name, `<n>` a new one, `<s>` one that is assigned, `<c>` a condition, `<e>` an expression, `<a|b>` one
    of the two.

    Attributes:
        kinds: what the program has: the keys of tables of templates. All have "".
        count: how many names it has made.
    """

    kinds: list[str]

    def __init__(self, rng: random.Random):
        self.rng, self.count = rng, 0

    def of_kind(self, table: Mapping[str, Sequence[str]]) -> str:
        """A template of a table, for one of the kinds."""
        return self.rng.choice(table.get(self.rng.choice(self.kinds), table[""]))

    @abstractmethod
    def condition(self) -> str:
        """The template of a condition."""

    @abstractmethod
    def expression(self) -> str:
        """The template of an expression."""

    def fresh(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def filled(self, template: str, names: Sequence[str]) -> str:
        """A template with something in all its places; those of one line that are assigned are different ones."""
        r, assigned = self.rng, list(names)
        r.shuffle(assigned)

        def part(found: re.Match[str]) -> str:
            what = found[1]
            if what == "n":
                return self.fresh()
            if what == "s":
                return assigned.pop()
            if what == "v":
                return r.choice(names)
            if what == "c":
                return self.filled(self.condition(), names)
            if what == "e":
                return self.filled(self.expression(), names)
            return r.choice(what.split("|"))

        if template == "<s>, <s> = <s>, <s>":
            a, b = assigned[:2]
            return f"{a}, {b} = {b}, {a}"
        return re.sub(r"<(\w|[^<>=]+(?:\|[^<>=]+)+)>", part, template)


def indented(lines: Sequence[str]) -> list[str]:
    return ["    " + line for line in lines]
