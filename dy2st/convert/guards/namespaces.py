"""Variables of modules, and what classes have, by a key: `globals()[name]`, `vars(module)["x"]`, `sys.modules[name].x`.

No code contains such a name, or none that is known to be one. So converted code tells which key it reads or sets; where it does more with
such a namespace than that, all that is in it counts. What code sets that runs as it is nobody sees: that is found when the trace is over,
and is an error, as a call of the compiled program would not set it.
"""

from __future__ import annotations

import importlib
import inspect
import logging
import sys
import threading
import types
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from ...errors import StagedValueError
from .. import hub, roles
from ..effects.cells import OuterVariable, assigned_outside, contents_of, put_into
from ..hub import current_tracer
from ..pyfacts.attribute_lookup import MISSING
from ..pyfacts.code_names import names_of
from ..pyfacts.foreign import is_foreign_class
from .classification import is_users_module, referent

if TYPE_CHECKING:
    from ..trace.tracer import Tracer
    from .reach import Reach

ROLE = roles.ACTING


class Spaces:
    """The namespaces that a trace has to do with.

    Attributes:
        keys: what is read by a key, by namespace and key: both.
        whole: the namespaces that are read as a whole, by id.
        modules: those that were looked up by their names.
    """

    def __init__(self) -> None:
        self.keys: dict[tuple[int, str], tuple[dict, str]] = {}
        self.whole: dict[int, dict] = {}
        self.modules: list[types.ModuleType] = []
        self._before: dict[int, tuple[dict, dict]] = {}
        self._cells: dict[int, tuple[types.CellType, Any, str]] = {}

    def begin(self, reach: Reach) -> None:
        """The function is about to run: what is in the modules of all that it can reach, and in the variables that functions have kept."""
        for f in reach.functions.values():
            self.note(f.__globals__)
            for name, holder in assigned_outside(f, f.__code__) if f.__closure__ else ():
                if isinstance(holder, types.CellType):
                    self._cells[id(holder)] = holder, contents_of(holder), f"variable {name!r} of the function around {f.__qualname__!r}"
        for x in reach.objects.values():
            if isinstance(x, types.ModuleType):
                self.note(vars(x))

    def note(self, namespace: dict) -> None:
        """What is in a namespace before anything is changed there."""
        if id(namespace) not in self._before:
            self._before[id(namespace)] = namespace, namespace.copy()

    def reach_into(self, reach: Reach) -> None:
        """What is read so may be read by the functions."""
        reach.add(*self.modules)
        for namespace, key in self.keys.values():
            reach.look(namespace, key)
        for namespace in self.whole.values():
            reach.look(namespace)

    def variables(self) -> Iterator[OuterVariable]:
        """The variables that are read so."""
        yield from (OuterVariable(key, namespace) for namespace, key in self.keys.values())
        yield from (OuterVariable(key, namespace) for namespace in self.whole.values() for key in namespace)

    def put_back(self, watched: Iterable[tuple]) -> str | None:
        """Takes back what was changed and is none of the variables that are `watched`; says which one it was."""
        known, found = set(watched), None
        for cell, before, name in self._cells.values():
            if contents_of(cell) is not before and (id(cell), None) not in known:
                found = name
                put_into(cell, before)
        for namespace, before in self._before.values():
            if len(namespace) == len(before) and all(namespace.get(k, MISSING) is v for k, v in before.items()):
                continue
            for key in [k for k in {**namespace, **before} if namespace.get(k, MISSING) is not before.get(k, MISSING)]:
                if str(key).startswith("__") or (id(namespace), key) in known:
                    continue  # what Python keeps there for itself
                if isinstance(namespace.get(key), types.ModuleType) and key not in before:
                    continue  # an import of `package.module` leaves that in the package
                found = f"variable {key!r} of module {before.get('__name__')}"
                if key in before:
                    namespace[key] = before[key]
                else:
                    del namespace[key]
        return found


def _namespace(found: Any) -> dict | None:
    """The dict with the variables of a module, or with what a class has; None if it is anything else."""
    if isinstance(found, types.MappingProxyType):
        variables = referent(found)
        return variables if isinstance(variables, dict) else None
    return found if type(found) is dict and ("__builtins__" in found or "__spec__" in found) else None


def meet_module(tracer: Tracer, module: Any) -> None:
    """A module is looked up by its name."""
    if is_users_module(module):
        tracer.spaces.note(vars(module))
        tracer.spaces.modules.append(module)
        tracer.meet_outside(module)


def space(found: Any, *keys: str) -> Any:
    """A namespace, of which these keys are read; with none, all that is in it. Anything else is given back as it is."""
    tracer = current_tracer()
    if tracer is None:
        return found
    if found is sys.modules:
        for name in keys or tuple(found):
            meet_module(tracer, found.get(name))
    elif (namespace := _namespace(found)) is not None:
        tracer.spaces.note(namespace)
        for key in keys:
            tracer.spaces.keys[id(namespace), key] = namespace, key
            tracer.reach.look(namespace, key)
        if not keys:
            tracer.spaces.whole[id(namespace)] = namespace
            tracer.reach.look(namespace)
        tracer.meet_outside(*(namespace.get(key) for key in keys or namespace))
    return found


def about_to_set(found: Any, key: Any) -> None:
    """A variable of a module is set or deleted by its key."""
    if type(found) is dict and type(key) is str and (tracer := current_tracer()) is not None and _namespace(found) is not None:
        space(found, key)
        tracer.watch_variable(OuterVariable(key, found))


def space_item(found: Any, key: Any) -> Any:
    """`found[key]`."""
    return hub.getitem(space(found, *_names(key)), key)


def space_get(found: Any, key: Any, *default: Any) -> Any:
    """`found.get(key, default)`."""
    return hub.call(space(found, *_names(key)).get)(key, *default)


def space_run(f: Any, code: Any, found: Any) -> Any:
    """`eval(code, found)`, or `exec`: of what is in a namespace only that counts which the code names."""
    if (f is eval or f is exec) and current_tracer() is not None and isinstance(code, (str, types.CodeType)):
        compiled = compile(code, "<string>", f.__name__) if isinstance(code, str) else code
        names = names_of(compiled)
        named = sorted((names.globals | names.attributes) & found.keys())
        return run_code(f, compiled, space(found, *named) if named else found)
    return hub.call(f)(code, space(found))


def run_code(f: Any, code: Any, /, *spaces: Any) -> Any:
    """`eval` or `exec`: what the code changes is what a function without source changes."""
    tracer = current_tracer()
    if tracer is not None and spaces and type(spaces[0]) is dict and isinstance(code, (str, types.CodeType)):
        code = compile(code, "<string>", f.__name__) if isinstance(code, str) else code
        if not code.co_freevars:
            function = types.FunctionType(code, spaces[0])
            tracer.enter(function, function)
    return f(code, *spaces)


def _names(key: Any) -> tuple[str, ...]:
    return (key,) if type(key) is str else ()


def _looked_up(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A function that finds a module."""
    found, tracer = f(*args, **kwargs), current_tracer()
    if tracer is not None:
        meet_module(tracer, found)
    return found


def _of_the_process(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A function that finds an object which the process has once, and nothing of the user's leads to: what is set there is set outside."""
    found, tracer = f(*args, **kwargs), current_tracer()
    if tracer is not None:
        tracer.given.append(found)
        tracer.meet_outside(found)
    return found


def _listed(f: Any, owner: Any = MISSING, /, *args: Any, **kwargs: Any) -> Any:
    """A function that looks at all that a module, a class or an object has."""
    if owner is MISSING:
        return f()
    if isinstance(owner, types.ModuleType):
        space(vars(owner))
    else:
        for cls in (owner if isinstance(owner, type) else type(owner)).__mro__:
            if not is_foreign_class(cls):
                space(vars(cls))
    return f(owner, *args, **kwargs)


def _found(f: Any, owner: Any, name: str, /, *default: Any) -> Any:
    """`inspect.getattr_static`."""
    tracer = current_tracer()
    if tracer is not None:
        tracer.ask(owner, name)
    return f(owner, name, *default)


OF_NAMESPACES: dict[Any, Any] = {
    **{f: partial(_looked_up, f) for f in (importlib.import_module, __import__, inspect.getmodule)},
    **{f: partial(_of_the_process, f) for f in (logging.getLogger, threading.current_thread, threading.main_thread)},
    **{f: partial(_listed, f) for f in (dir, inspect.getmembers)},
    inspect.getattr_static: partial(_found, inspect.getattr_static),
}
"""What is called in the place of functions that find modules, and what is in them and in classes."""


def untracked_write(what: str) -> StagedValueError:
    """The error of a variable that is set so that a call of the compiled program would not set it."""
    return StagedValueError(
        f"the {what} is set, or deleted, by a key or in code that runs as it is, which would be done once, while tracing, "
        "and not at each call",
        hint="declare it global and assign it by its name, set the attribute of the module, or do it outside of the static function",
    )  # fmt: skip
