"""`Scope`: where the values of persistable variables live between runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from . import forks
from .errors import ScopeError


class ScopeTensor:
    """The value of a variable of a Scope, as `find_var(name).get_tensor()` gives it. `np.array(tensor)` copies it."""

    def __init__(self, variable: ScopeVariable):
        self._variable = variable

    def _array(self) -> np.ndarray:
        value = self._variable.value
        if value is None:
            raise ScopeError(f"variable {self._variable.name!r} has no value",
                             hint="run the startup program first, or set it")  # fmt: skip
        return value

    def set(self, value: Any, place: object = None) -> None:
        """Replaces the value by a copy of an array; `place` is accepted as PaddlePaddle has it, values live on the
        host."""
        self._variable.value = np.array(value)

    def shape(self) -> list[int]:
        """The sizes."""
        return list(self._array().shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        # a view would change under the reader's eyes with the next run
        return np.array(self._array(), dtype=dtype)

    def numpy(self) -> np.ndarray:
        """A copy of the value."""
        return self.__array__()

    def __repr__(self) -> str:
        return repr(self._variable.value)


class ScopeVariable:
    """A name in a Scope; `value` is None until a run or `set` gives one."""

    def __init__(self, name: str):
        self.name = name
        self.value: Any = None

    def get_tensor(self) -> ScopeTensor:
        """The value, to read and to set."""
        return ScopeTensor(self)

    def __repr__(self) -> str:
        return f"ScopeVariable({self.name})"


class Scope:
    """Names with values. A name that a scope does not have is looked up in the scope around it.

    Attributes:
        changing: held by a run that changes values, here or in a scope around; one for all scopes of an outermost one.

    >>> outer = Scope()
    >>> outer.var("w").get_tensor().set([1.0, 2.0])
    >>> inner = outer.new_scope()
    >>> np.array(inner.find_var("w").get_tensor())
    array([1., 2.])
    >>> inner.find_var("b") is None
    True
    """

    def __init__(self, parent: Scope | None = None):
        self.parent = parent
        self._variables: dict[str, ScopeVariable] = {}
        self._kids: list[Scope] = []
        self._lock = forks.lock()
        self.changing: Any = forks.reentrant_lock() if parent is None else parent.changing

    def var(self, name: str) -> ScopeVariable:
        """The variable of this name in this scope; made if there is none."""
        with self._lock:
            return self._variables.setdefault(name, ScopeVariable(name))

    def find_var(self, name: str) -> ScopeVariable | None:
        """The variable of this name here or in an enclosing scope; None if there is none."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope._variables:
                return scope._variables[name]
            scope = scope.parent
        return None

    def new_scope(self) -> Scope:
        """A scope inside this one."""
        kid = Scope(self)
        with self._lock:
            self._kids.append(kid)
        return kid

    def drop_kids(self) -> None:
        """Forgets the scopes inside this one."""
        with self._lock:
            self._kids.clear()

    def erase(self, names: Iterable[str]) -> None:
        """Forgets variables of this scope."""
        with self._lock:
            for name in names:
                self._variables.pop(name, None)

    def local_var_names(self) -> list[str]:
        """The names in this scope, without those around it."""
        return list(self._variables)
