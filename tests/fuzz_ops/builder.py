"""A program that is being written: its arguments, its variables with their values in each call, and its lines, run eagerly at once."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np

import dy2st as paddle
import dy2st.nn.functional as F

from .values import Description, array

SIZES, WEIGHTS = [1, 2, 3, 5, 7, 8, 16, 17, 33, 64, 65], [4, 5, 6, 5, 4, 4, 3, 3, 1, 1, 1]
LIMIT = 700_000  # elements of a tensor
# an exception of one of these is the fault of a template, and says nothing of a program
FAULTS = (TypeError, AttributeError, NameError)


class Reject(Exception):
    """A template does not fit what there is."""


@dataclass(frozen=True, eq=False)
class Var:
    """A variable, with the tensor that it is in each call."""

    name: str
    values: Sequence[Any]

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        return [tuple(int(n) for n in v.shape) for v in self.values]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.shapes[0]

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> str:
        return str(self.values[0].dtype)

    def fixed(self, axis: int) -> bool:
        return len(set(self.sizes(axis))) == 1

    def dim(self, axis: int) -> str:
        """The size of an axis, as a text that holds for all calls."""
        return str(self.shape[axis]) if self.fixed(axis) else f"{self.name}.shape[{axis}]"

    def sizes(self, axis: int) -> list[int]:
        return [s[axis] for s in self.shapes]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Draft:
    """What a template may change, and what is taken back when its lines do not fit."""

    arguments: tuple[tuple[str, tuple[Description, ...]], ...] = ()
    frozen: frozenset[str] = frozenset()  # arguments without a gradient
    vars: tuple[Var, ...] = ()
    lines: tuple[str, ...] = ()
    ended: bool = False  # the last line raises


class Builder:
    """What templates are given: choices, variables and arguments. All of it follows from the random numbers alone.

    Args:
        short: few statements, with odd values and dtypes.
        errors: how likely a line is kept that raises an exception; the program ends with it.
    """

    def __init__(self, rng: Random, short: bool, errors: float = 0.04):
        self.rng, self.short, self.errors = rng, short, errors
        self.calls = rng.choice([2, 2, 3])
        first = self.size()
        self.batches = [first] + [rng.choice([first, self.size(), self.size()]) for _ in range(self.calls - 1)]
        if self.chance(0.04):
            self.batches[rng.randrange(self.calls)] = 0
        self.large = self.chance(0.2)  # one argument with an axis of hundreds
        self.half = self.chance(0.2 if short else 0.06)
        self.kinds = ["normal"] * 12 + ["ties", "ties", "positive"] + ["special"] * self.chance(0.1)
        if short and self.chance(0.5):
            self.kinds = ["special", "ties", "normal", "large"]
        self.count = 0
        self.draft = Draft()
        self.kept = self.draft

    @property
    def vars(self) -> tuple[Var, ...]:
        return self.draft.vars

    @property
    def lines(self) -> tuple[str, ...]:
        return self.draft.lines

    # ---- choices ----
    def size(self) -> int:
        return self.rng.choices(SIZES, WEIGHTS)[0]

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def pick(self, items: Iterable[Any]) -> Any:
        items = list(items)
        if not items:
            raise Reject
        return self.rng.choice(items)

    # ---- texts ----
    def name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def fill(self, patterns: Iterable[str], **names: Any) -> str:
        """One of the patterns, with its capital letters replaced; what is a function is called for a letter that occurs."""
        made: dict[str, str] = {}

        def text(match: re.Match[str]) -> str:
            letter = match[0]
            if letter in names and letter not in made:
                value = names[letter]
                made[letter] = str(value() if callable(value) else value)
            return made.get(letter, letter)

        return re.sub(r"\b[A-Z]\b", text, self.pick(patterns))

    def new(self, patterns: Iterable[str], **names: Any) -> str:
        """An assignment of one of the patterns to a new variable."""
        return f"{self.name()} = {self.fill(patterns, **names)}"

    # ---- variables and arguments ----
    def var(self, dtype: str = "float", rank: int | Sequence[int] | None = None, where: Callable[[Var], bool] | None = None) -> Var:
        """A variable, or now and then a new argument. `dtype` may be the beginning of one, or "any"."""
        ranks = None if rank is None else [rank] if isinstance(rank, int) else list(rank)
        fits = [v for v in self.vars if (v.dtype.startswith(dtype) or dtype == "any")
                and (ranks is None or v.rank in ranks) and (where is None or where(v))]  # fmt: skip
        if fits and not self.chance(0.03):
            # what is new is used more often
            return self.rng.choices(fits, [(1 + 3 * i / len(fits)) * (5 if v.name[0] == "v" else 1) for i, v in enumerate(fits)])[0]
        for _ in range(6):
            made = self.some_argument(dtype, ranks)
            if where is None or where(made):
                return made
        raise Reject

    def partner(self, x: Var, dtype: str | None = None) -> Var:
        """What broadcasts with x: a variable, or a new argument of the same shape or with ones in it, with fewer dims or one more."""
        wanted = dtype or x.dtype
        found = [v for v in self.vars if v.dtype == wanted and v is not x and all(map(broadcast, v.shapes, x.shapes))]
        if found and self.chance(0.7):
            return self.pick(found)
        ones = [self.chance(0.35) for _ in range(x.rank)]
        cut = self.rng.randint(0, x.rank) if self.chance(0.4) else 0
        more = [2] if self.chance(0.06) and x.rank < 4 else []
        shapes = [[1 if one else n for one, n in zip(ones, s, strict=True)][cut:] for s in x.shapes]
        return self.argument([[*more, *s] for s in shapes], wanted)

    def axis(self, v: Var, least: int = 1) -> int:
        """An axis with that many elements, from the front or from the end."""
        axis = self.pick(i for i in range(v.rank) if min(v.sizes(i)) >= least)
        return axis - v.rank if self.chance(0.4) else axis

    def some_argument(self, dtype: str = "float", ranks: Sequence[int] | None = None) -> Var:
        rank = self.rng.choice(ranks) if ranks else self.rng.choices([0, 1, 2, 3, 4], [1, 4, 8, 6, 4])[0]
        shape = [self.size() if rank < 4 else self.rng.choice([1, 2, 3, 4, 5, 7, 8]) for _ in range(rank)]
        if rank and self.large and self.chance(0.4):
            shape[self.rng.randrange(rank)] = self.rng.choice([1000, 4099, 257, 513])
            self.large = False
        if rank and self.chance(0.01):
            shape[self.rng.randrange(rank)] = 0
        shapes = [list(shape) for _ in range(self.calls)]
        if rank and self.chance(0.75):
            for s, b in zip(shapes, self.batches, strict=True):
                s[0] = b
        if rank > 1 and self.chance(0.2):
            axis = self.rng.randrange(1, rank)
            for s in shapes[1:]:
                s[axis] = self.size()
        made = {"float": "float32", "any": "float32", "int": "int64"}.get(dtype, dtype)
        if dtype == "float" and self.chance(0.25 if self.short else 0.06):
            made = "float64"
        if dtype == "float" and self.half and self.chance(0.5):
            made = "float16"
        if dtype == "int" and self.chance(0.3):
            made = "int32"
        return self.argument(shapes, made)

    def weight(self, *shape: int, dtype: str = "float32", kind: str | None = None, trained: bool = True) -> Var:
        """A new argument of one shape for all calls."""
        return self.argument([shape] * self.calls, dtype, kind, trained=trained)

    def indices(self, below: Sequence[int], shapes: Sequence[Sequence[int]], dtype: str | None = None, wrap: bool = False) -> Var:
        """A new argument with numbers below one of each call; `wrap`: some count from the end."""
        kinds = [f"{'wrapping' if wrap else 'index'}:{n}" for n in below]
        return self.argument(shapes, dtype or self.pick(["int64", "int64", "int32"]), kinds)

    def argument(self, shapes: Sequence[Sequence[int]], dtype: str = "float32", kind: str | Sequence[str] | None = None,
                 trained: bool = True) -> Var:  # fmt: skip
        """A new argument, of a shape for each call, of a kind (see `values`) for all or for each."""
        if max(int(np.prod(s)) for s in shapes) > LIMIT:
            raise Reject
        if kind is None:
            kind = self.rng.choice(self.kinds)
        kinds = [kind] * self.calls if isinstance(kind, str) else kind
        name = f"a{len(self.draft.arguments)}"
        specs = tuple((dtype, tuple(s), k, self.rng.randrange(10**6)) for s, k in zip(shapes, kinds, strict=True))
        frozen = {name} if not trained or (dtype.startswith("float") and self.chance(0.15)) else set()
        made = Var(name, [paddle.to_tensor(array(*spec)) for spec in specs])
        self.draft = replace(self.draft, arguments=(*self.draft.arguments, (name, specs)), frozen=self.draft.frozen | frozen,
                             vars=(*self.draft.vars, made))  # fmt: skip
        return made

    # ---- statements ----
    def take(self, text: str, wild: bool = False) -> bool:
        """Runs lines eagerly for all calls and keeps them if that is fine; what they assign to `v...` becomes variables.

        Args:
            wild: whatever the numbers are; else lines are left that give very large ones, or mostly NaN and infinities.
        """
        names = dict.fromkeys(re.findall(r"\bv\d+\b", text))
        results: list[dict[str, Any]] = []
        for call in range(self.calls):
            space: dict[str, Any] = {"paddle": paddle, "F": F} | {v.name: v.values[call] for v in self.vars}
            with warnings.catch_warnings(), np.errstate(all="ignore"), paddle.no_grad():
                warnings.simplefilter("ignore")
                try:
                    exec(text, space)
                except Exception as error:
                    if isinstance(error, FAULTS) or not self.chance(self.errors):
                        return False
                    self.keep(replace(self.draft, lines=(*self.lines, text), ended=True))
                    return True
            results.append(space)
        before = {v.name: v.values[0] for v in self.vars}
        made = [Var(n, [space.get(n) for space in results]) for n in names if results[0].get(n) is not before.get(n)]
        made = [v for v in made if all(isinstance(value, paddle.Tensor) for value in v.values)]
        if any(len(set(map(len, v.shapes))) > 1 or max(int(np.prod(s)) for s in v.shapes) > LIMIT for v in made):
            return False
        if not wild and not all(tame(value) for v in made for value in v.values):
            return False
        others = [v for v in self.vars if v.name not in {m.name for m in made}]
        self.keep(replace(self.draft, lines=(*self.lines, text), vars=(*others, *made)))
        return True

    def keep(self, draft: Draft) -> None:
        self.draft = self.kept = draft

    def take_back(self) -> None:
        """Forgets what was made since lines were kept."""
        self.draft = self.kept


def broadcast(a: Sequence[int], b: Sequence[int]) -> bool:
    """Whether shapes broadcast with each other."""
    return all(m == n or 1 in (m, n) for m, n in zip(reversed(a), reversed(b), strict=False))


def tame(value: Any) -> bool:
    """Whether numbers are neither very large nor mostly NaN and infinities."""
    found = np.asarray(value.numpy())
    if found.size == 0 or found.dtype.kind == "b":
        return True
    if found.dtype.kind != "f":
        return bool(np.abs(found.astype(float)).max() < 1e9)
    finite = found[np.isfinite(found)].astype(float)
    return bool(finite.size > 0.3 * found.size and np.abs(finite).max() < 1e5)
