"""Exceptions that there are on several paths: what those that a branch leaves in a variable hold of its tensors goes on with them, as the
results of the branch do; and which are raised from others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dy2st_runtime.ir import Block

from ...errors import StagedValueError
from ...tensor.location import path_of, user_location
from .. import roles
from ..effects.may_alias import is_inside
from ..pyfacts.undefined import Undefined
from ..values.one_of import values_of
from .exception_objects import Parts

if TYPE_CHECKING:
    from ..control.join import Fitter
    from ..regions.phi_leaves import Pattern, Var
    from .exception_objects import Parts
    from .tracer import Tracer

ROLE = roles.BOOKKEEPING


class Causes:
    """The exceptions that had been made before, and were raised from others, with the blocks in which they were."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[BaseException, Block]] = {}

    def note(self, error: BaseException, block: Block) -> None:
        self._of[id(error)] = error, block

    def catch(self, error: BaseException, block: Block) -> None:
        """A handler, which is this block, gets an exception, and may raise it again."""
        if id(error) in self._of:
            self.note(error, block)

    def require(self, error: BaseException, block: Block) -> None:
        """StagedValueError if an exception that is raised in a block was raised from another one on a path that does not lead to it."""
        _, home = self._of.get(id(error), (error, block))
        if not is_inside(block, home):
            raise StagedValueError(
                "an exception is raised from another one on one path, and from none on another: what it is raised from is only known "
                "when the program runs",
                location=path_of(error) or user_location(), hint="make another one where it has a cause: raise ValueError(...) from error",
            )  # fmt: skip


class KeptException:
    """One of them, on its way out of a side of a branch.

    Attributes:
        patterns: of what it holds.
    """

    def __init__(self, fitter: Fitter, side: int, parts: Parts):
        self.side, self._parts = side, parts
        self._values = [*parts.marked, *parts.values]
        self.patterns: list[Pattern] = list(map(fitter.alone, self._values))

    def given(self, side: int) -> list[Any]:
        """The values as a side of the branch has them."""
        return self._values if side == self.side else [Undefined("") for _ in self._values]

    def leave(self, tracer: Tracer, make: Callable[[Var], Any], block: Block) -> None:
        """The branch, of which this is the block, has come to its end: the exception holds what the code behind it can read."""
        values = tracer.alternatives.merged(self.patterns, [self._values], make)
        tracer.sharing.merged(self.patterns, values, [(block, self._values)])
        self._parts.hold(iter(values))
        self._parts.give()


def kept(tracer: Tracer, fitter: Fitter, blocks: Sequence[Block], sides: Sequence[Iterable[Any] | None]) -> list[KeptException]:
    """The exceptions among the values that the sides of a branch, these blocks, leave, as far as they hold tensors that end with it."""
    found: dict[int, KeptException] = {}
    for i, (block, values) in enumerate(zip(blocks, sides, strict=True)):
        for error in _exceptions_in(values or ()):
            parts = Parts(tracer, error, of=block)
            if id(error) not in found and (parts.marked or parts.values):
                found[id(error)] = KeptException(fitter, i, parts)
    return list(found.values())


def _exceptions_in(values: Iterable[Any]) -> Iterator[Exception]:
    for x in values:
        if isinstance(x, (tuple, list)):
            yield from _exceptions_in(x)
        else:
            yield from (one for one in values_of(x) if isinstance(one, Exception))
