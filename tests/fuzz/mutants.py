"""Mutants: programs of the corpus (`tests/programs`) after a few random changes, some with statements of each other.

What goes wrong is near what went wrong before, and the corpus holds that, with all that the grammar does not know. Most mutants end
with an exception, which is compared like a result. The idea is that of LangFuzz (Holler, Herzig, Zeller, USENIX Security 2012).
"""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dy2st.tensor import Tensor

from .changes import Changed, corpus, sliced
from .constructs import ALL
from .reduce import written
from .ways import Outcome, Way

PLAIN_ERRORS = (NameError, AttributeError, TypeError)
"""What Python says of code that makes no sense."""


@dataclass(frozen=True)
class Mutant:
    """A module whose `program` is called with these arguments, one call after the other; `origin` is the function it was."""

    text: str
    calls: Sequence[tuple[Any, ...]]
    origin: str


def mutant(seed: int) -> Mutant:
    """The mutant of a seed, by this corpus and this version of Python."""
    rng = random.Random(seed)
    while True:
        case = rng.choice(corpus())
        changed = Changed(rng, sliced(case.module, case.name), case)
        for _ in range(rng.choice((1, 2, 3, 4, 5, 7))):
            changed.once(rng.choice(ALL))
        if (text := written(changed.tree)) is not None:
            return Mutant(f"{text}\n\nprogram = {case.name}\n", case.calls, f"{case.module}.{case.name}")


class MutantWay(Way):
    """A mutant. The objects of its classes are compared by what is in them; and which of two errors of Python comes first is not: code
    that makes no sense may be an error while it is traced, also on a path that no run takes."""

    restores = False

    def allows(self, wanted: BaseException | None, found: BaseException | None) -> bool:
        if found is not None and _OURS.search(str(found)) and not _OURS.search(str(wanted)):
            return False
        both = isinstance(wanted, Exception) and isinstance(found, Exception)
        if both and (isinstance(wanted, PLAIN_ERRORS) or isinstance(found, PLAIN_ERRORS)):
            return True
        # the first: docs/reference/limits.md, of a number or a tensor with dims
        plain = type(found) is RuntimeError and re.search(r" on one path and |super\(\)", str(found))
        return type(found) in PLAIN_ERRORS or bool(plain)

    def given(self, values: Sequence[Any]) -> tuple[list[Any], dict[str, Tensor]]:
        args, leaves = [], {}
        for i, v in enumerate(copy.deepcopy(values)):
            if isinstance(v, list):
                leaves[f"argument {i}"] = leaf = Tensor(np.array(v, np.float32), stop_gradient=False)
                args.append(leaf * 1 if self.mode & 2 else leaf)
            else:
                args.append(Tensor(v) if type(v) is int else v)
        return args, leaves

    def observe(self, values: Sequence[Any]) -> Outcome:
        found = super().observe(values)
        found.rest = {name: _described(x) for name, x in found.rest.items()}
        if found.leaves is not None:
            found.leaves, found.tree = [_described(x) for x in found.leaves], _NAMED_ANEW.sub("", str(found.tree))
        return found


_OURS = re.compile(r"\b(_dy\w*|(Staged|Dynamic|Record|Maybe|Outer)[A-Z]\w+|OneOf|Options|Undefined|Unread|NoAttribute|Var|Const|Node)\b")
"""Names of our own, which no error may show."""
_NAMED_ANEW = re.compile(r" at 0x[0-9a-f]+|<program \d+>")
"""What texts say of objects that each way has of its own."""


def _described(x: Any, around: tuple[int, ...] = ()) -> Any:
    """A value of a result, other than by what each way has of its own: the classes of the module, functions, layers."""
    if isinstance(x, (np.ndarray, int, float, str, type(None))):
        return x if not around or not isinstance(x, np.ndarray) else [round(v, 3) for v in x.astype(float).ravel().tolist()]
    if isinstance(x, Tensor):
        return _described(x.numpy(), (0,))
    if id(x) in around:
        return "one around it"
    inner = (*around, id(x))
    if isinstance(x, (list, tuple)):
        return [_described(v, inner) for v in x]
    if isinstance(x, dict):
        return {str(k): _described(v, inner) for k, v in x.items()}
    if type(x).__module__ != "random_program" or hasattr(x, "sublayers"):
        return type(x).__name__
    return f"{type(x).__name__} of {_described(vars(x), inner)}"
