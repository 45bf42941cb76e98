"""Writes a program: statements are drawn from templates, and each is run eagerly at once, for all calls, so that shapes are known.

A program is a text that can be run as it is:

    import dy2st as paddle
    import dy2st.nn.functional as F

    THREADS = 1                                                # of the kernels
    GRAD = True                                                # whether gradients are recorded
    CALLS = [[("float32", (3, 5), "normal", 11), ...], ...]    # the arguments of each call, see `values`
    FROZEN = ["a1"]                                            # float arguments without a gradient

    def program(a0, a1): ...
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from random import Random

from .builder import Builder, Reject
from .templates import GROUPS, Template

IMPORTS = "import dy2st as paddle\nimport dy2st.nn.functional as F\n"


def program(seed: int, groups: Sequence[str] = ()) -> str:
    """The program of a seed; `groups`: of templates, none for all (other groups make another program)."""
    return Generator(seed, groups).program()


class Generator(Builder):
    """See the module.

    Attributes:
        taken: how often each template gave a statement.
    """

    def __init__(self, seed: int, groups: Sequence[str] = ()):
        super().__init__(Random(seed), short=seed % 2 == 1)
        self.groups = list(groups or GROUPS)
        self.taken: Counter[Template] = Counter()

    def program(self) -> str:
        rng = self.rng
        for _ in range(rng.choice([1, 1, 2, 3])):
            try:
                self.some_argument()
            except Reject:  # too large
                self.argument([[b, 3] for b in self.batches])
        self.keep(self.draft)
        self.write(rng.randint(1, 3) if self.short else rng.randint(3, 11))
        results = self.results()
        arguments = self.draft.arguments
        calls = "".join(f"    {[specs[i] for _, specs in arguments]},\n" for i in range(self.calls))
        body = "".join(f"    {line}\n" for text in self.lines for line in text.split("\n"))
        return (
            f"{IMPORTS}\nTHREADS = {rng.choice([1, 1, 2])}\nGRAD = {self.chance(0.75)}\n"
            f"CALLS = [\n{calls}]\nFROZEN = {sorted(self.draft.frozen)}\n\n\n"
            f"def program({', '.join(n for n, _ in arguments)}):\n{body}    return [{', '.join(results)}]\n"
        )

    def write(self, wanted: int) -> None:
        """Takes statements until there are so many, or none fits."""
        weights = {name: 1.0 if self.short else GROUPS[name][0] for name in self.groups}
        if not self.short:
            for name in self.rng.sample(self.groups, min(2, len(self.groups))):
                weights[name] *= 6  # what a program is about
        for _ in range(200):
            if len(self.lines) >= wanted or self.draft.ended:
                break
            group = self.rng.choices(self.groups, [weights[n] for n in self.groups])[0]
            template = self.rng.choice(GROUPS[group][1])
            with suppress(Reject):
                if self.take(template(self), wild=self.chance(0.8 if self.short else 0.03)):
                    self.taken[template] += 1
            self.take_back()

    def results(self) -> list[str]:
        """Names of what is returned: what nobody reads, or some, so that some is dead and some both read and a result."""
        made = [v.name for v in self.vars if v.name[0] == "v"]
        if not made:
            return [self.vars[-1].name]
        if self.chance(0.35):
            results = [n for n in made if self.chance(0.3)] or made[-1:]
            if self.chance(0.2):
                results += [self.pick(results), self.vars[0].name]
            return results
        read = Counter(re.findall(r"\bv\d+\b", "\n".join(self.lines)))
        return [n for n in made if n == made[-1] or read[n] == 1 or self.chance(0.15)]
