"""What a trace depends on: the structure, dtypes and ranks of the arguments, Python values, modes. Sizes are a matter of their own."""

from __future__ import annotations

import functools
import inspect
import re
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from typing import Any

import numpy as np
from dy2st_runtime import dims

from ..convert.values.trees import Tree, flatten, is_frozen, paths, split
from ..errors import FeedError
from ..framework.dtype import get_default_dtype
from ..static.input_spec import InputSpec
from ..tensor import Parameter, Tensor, dispatch
from .captures import View


class Constant:
    """A Python value as part of a key: equal by type and value, or by identity if it is no plain value.

    It does not keep an object alive: when that is gone the key is equal to no other, and `value` is None.
    """

    __slots__ = ("_held", "_identity")

    def __init__(self, value: Any):
        self._held: Callable[[], Any] | None = None
        self._identity: tuple
        if isinstance(value, _PLAIN):
            # 0.0 and -0.0 are equal, but not the same
            self._identity = (value, float, "nan") if isinstance(value, float) and value != value else (value, type(value), str(value))
            return
        if (parts := _parts(value)) is not None:
            self._identity = (value, type(value), parts)
            return
        try:
            self._held = weakref.ref(value)
        except TypeError:  # __slots__ without a place for weak references
            self._held = functools.partial(_same, value)
        self._identity = (object, id(value))

    @property
    def value(self) -> Any:
        return self._identity[0] if self._held is None else self._held()

    def __hash__(self) -> int:
        return hash(self._identity[1:])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constant) or self._identity[1:] != other._identity[1:]:
            return False
        return self is other or self._held is None or self.value is other.value is not None

    def __repr__(self) -> str:
        return f"Constant({self.value!r})"


def _same(x: Any) -> Any:
    return x


def _parts(value: Any) -> Any:
    """What tells a value that is made anew for each call, and is no plain one, from others of its class; None: it is told as an object."""
    if isinstance(value, np.generic):
        return value.dtype.str, value.tobytes()
    if isinstance(value, (range, slice)) and all(isinstance(x, _PLAIN) for x in (value.start, value.stop, value.step)):
        return Constant(value.start), Constant(value.stop), Constant(value.step)
    return None


_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))


@dataclass(frozen=True)
class TensorKey:
    """A tensor argument as part of a key. `alias`: position of an earlier leaf that is the same tensor; `number`: it is a Python number."""

    dtype: str
    rank: int
    stop_gradient: bool
    alias: int = -1
    number: bool = False


@dataclass(frozen=True)
class Key:
    """All that decides on a trace but sizes and what the function reads besides its arguments.

    `whole`: the classes of dataclasses whose objects are leaves, as the function tells them from each other.
    """

    tree: Tree
    leaves: tuple[TensorKey | Constant, ...]
    grad: bool
    default_dtype: str
    may_record: bool
    whole: frozenset[type] = frozenset()

    @functools.cached_property
    def _hash(self) -> int:
        return hash((self.tree, self.leaves, self.grad, self.default_dtype, self.may_record))

    def __hash__(self) -> int:
        return self._hash

    def objects(self) -> Iterator[Any]:
        """The objects among the arguments that can be gone one day: then there are no calls with this key any more."""
        found = (k.value for k in self.leaves if isinstance(k, Constant) and isinstance(k._held, weakref.ref))
        return (x for x in found if x is not None)

    @functools.cached_property
    def fed(self) -> list[int]:
        """Which leaves are tensors that are fed: each once."""
        return [i for i, k in enumerate(self.leaves) if isinstance(k, TensorKey) and k.alias < 0]


class UnfitError(TypeError):
    """Arguments do not fit the parameters of a function."""


class Parameters:
    """How arguments go to the parameters of a function, and the keys of calls with plain arguments, which are known again at sight.

    Attributes:
        signature: of the function; bound, for a method.
        records: whether the function records gradients where its caller does not.
        whole: the classes of dataclasses whose objects it tells from all others.

    Args:
        wrapped: that of the function inside, which a decorator stands for: it has names where the decorator has `*args`.
    """

    def __init__(self, signature: inspect.Signature, wrapped: inspect.Signature | None = None):
        self.signature = signature
        self._inside = list(signature.parameters if wrapped is None else wrapped.parameters)
        self.keys: dict[tuple, Key] = {}
        parameters = signature.parameters.values()
        self._names = tuple(signature.parameters)
        self._defaults = {p.name: p.default for p in parameters if p.default is not p.empty and not _is_state(p)}
        self.records = False
        self.whole: frozenset[type] = frozenset()
        self._simple = all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)

    def called(self, names: list[str]) -> list[str]:
        """What the caller calls leaves: those in `*args` as the function inside does, if that is one name for each."""
        first = next((i for i, p in enumerate(self.signature.parameters.values()) if p.kind is p.VAR_POSITIONAL), None)
        if first is None or self._inside == list(self._names):
            return names
        of_rest = {f"{self._names[first]}[{i - first}]": name for i, name in enumerate(self._inside) if i >= first}
        found = [re.sub(r"^\w+\[\d+\]", lambda match: of_rest.get(match[0], match[0]), name) for name in names]
        return found if len(set(found)) == len(found) else names

    def bind(self, args: tuple, kwargs: dict[str, Any], name: str) -> dict[str, Any]:
        """The arguments by parameter; UnfitError if they do not fit the function, which is called `name`."""
        names = self._names
        if self._simple and not kwargs and len(args) == len(names):
            return dict(zip(names, args, strict=True))
        if self._simple and len(args) <= len(names):
            bound = dict(zip(names, args, strict=False))
            rest = names[len(args) :]
            given = [p for p in rest if p in kwargs]
            if len(given) == len(kwargs) and all(p in kwargs or p in self._defaults for p in rest):
                bound.update((p, kwargs[p] if p in kwargs else self._defaults[p]) for p in rest)
                return bound
        try:
            found = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise UnfitError(f"{name}() {error}") from None
        explicit = set(found.arguments)
        found.apply_defaults()
        # a list or a dataclass by default is the function's own, and the same at each call: state, like a variable around it
        return {n: v for n, v in found.arguments.items() if n in explicit or not _is_state(self.signature.parameters[n])}


_MOST_KEYS = 1_000


class Arguments:
    """The arguments of one call.

    Attributes:
        bound: the arguments by parameter, as the caller gave them (with defaults that cannot change).
        leaves: the flat leaves; arrays are tensors.
        arrays: the arrays of the caller's, by the ids of these tensors.
        key: the key.
        view: what the trace that serves the call has found outside of them; None for one that was just made.
        seen: how many calls had changed the outside before that.

    Args:
        numbers: parameters whose Python numbers are fed, so that they are no part of the key.

    Raises:
        UnfitError: they do not fit the parameters; `name` is what the function is called.
    """

    def __init__(self, parameters: Parameters, args: tuple, kwargs: dict[str, Any], name: str, numbers: Collection[str] = ()):
        self.bound = parameters.bind(args, kwargs, name)
        for name in numbers:
            self.bound[name] = dispatch.constant(self.bound[name], weak=True)
        grad = dispatch.is_grad_enabled()
        look = _look(self.bound, grad)
        key = None if look is None else parameters.keys.get(look)
        if key is None:
            key = self._flatten(grad, grad or parameters.records, parameters.whole)
            if look is not None:
                if len(parameters.keys) >= _MOST_KEYS:
                    parameters.keys.clear()
                parameters.keys[look] = key
        else:
            self.leaves = list(self.bound.values())
            self.arrays: dict[int, np.ndarray] = {}
        self.key, self.tree = key, key.tree
        self.view: View | None = None
        self.seen = 0
        self._tensors = [self.leaves[i] for i in key.fed]

    def note_gradients(self, parameters: Parameters) -> None:
        """The function records gradients where its caller does not: which arguments want one is a part of keys from now on."""
        parameters.records = True
        self._begin_anew(parameters)

    def note_objects(self, parameters: Parameters, cls: type) -> None:
        """The function tells arguments of this class from all other objects: which ones they are is a part of keys from now on."""
        parameters.whole |= {cls}
        self._begin_anew(parameters)

    def _begin_anew(self, parameters: Parameters) -> None:
        parameters.keys.clear()
        grad = dispatch.is_grad_enabled()
        self.key = self._flatten(grad, grad or parameters.records, parameters.whole)
        self.tree = self.key.tree
        self._tensors = [self.leaves[i] for i in self.key.fed]

    def _flatten(self, grad: bool, may_record: bool, whole: frozenset[type]) -> Key:
        leaves, tree = flatten(self.bound, twins=True, whole=whole)
        given = {id(x): (Tensor(x), x) for x in leaves if isinstance(x, np.ndarray)}
        self.leaves = [given[id(x)][0] if id(x) in given else x for x in leaves]
        self.arrays = {id(t): x for t, x in given.values()}
        seen: dict[int, int] = {}
        keys: list[TensorKey | Constant] = []
        for i, x in enumerate(self.leaves):
            if isinstance(x, Tensor):
                alias = seen.setdefault(id(x), i)
                stop = x._stops or not may_record or not x.dtype.startswith("float")
                keys.append(TensorKey(x.dtype, x.ndim, stop, -1 if alias == i else alias, x._weak))
            else:
                keys.append(Constant(x))
        return Key(tree, tuple(keys), grad, get_default_dtype(), may_record, whole)

    def tensors(self) -> list[Tensor]:
        """The tensors that are fed: each once."""
        return self._tensors

    def at(self, path: Sequence[Any]) -> Any:
        """What the caller has at the end of a way through the arguments."""
        value: Any = self.bound
        for step in path:
            keys, children = split(value)
            assert children is not None
            value = children[keys.index(step)] if keys else children[step]
        return value

    def names(self) -> list[str]:
        """What the caller calls each leaf: `x`, `state['h'][0]`."""
        return leaf_names(self.tree)


def _look(bound: dict[str, Any], grad: bool) -> tuple | None:
    """What tells the key of arguments that are all tensors or plain values, each tensor another one; None for any others."""
    found: list[Any] = [grad, get_default_dtype()]
    tensors: set[int] = set()
    count = 0
    for name, x in bound.items():
        cls = x.__class__
        if cls is Tensor or cls is Parameter:
            v = x._value
            if x._kinds is not None or v.__class__ is not np.ndarray:
                return None
            tensors.add(id(x))
            count += 1
            found += (name, v.dtype, v.ndim, x._stop, x._weak)
        elif cls in _HASHED:
            found += (name, cls, x)
        else:
            return None
    return tuple(found) if len(tensors) == count else None


_HASHED = (bool, int, str, type(None))


def _is_state(parameter: inspect.Parameter) -> bool:
    default = parameter.default
    return isinstance(default, (list, dict)) or (is_dataclass(default) and not isinstance(default, type) and not is_frozen(type(default)))


def first_shape(t: Tensor) -> tuple[int, ...]:
    """The shape that a tensor is first traced with: the first dim is open unless it is 1."""
    shape = t._value.shape
    return (-1, *shape[1:]) if shape and shape[0] != 1 else tuple(shape)


def admits(shape: Sequence[int], t: Tensor) -> bool:
    """Whether a tensor may be fed where this shape (-1 = open) was traced."""
    return dims.admits(shape, t._value.shape)


def widen(shape: Sequence[int], t: Tensor) -> tuple[int, ...]:
    """The shape with the dims open in which the tensor differs."""
    return tuple(d if d == n else -1 for d, n in zip(shape, t._value.shape, strict=True))


def arguments_of_specs(signature: inspect.Signature, specs: Sequence[Any]) -> dict[str, Any]:
    """The arguments that `input_spec` describes, with InputSpecs as leaves. What is passed by name only (`*, k` and `**k`) stands in a dict
    behind the entries of the others.

    >>> bound = arguments_of_specs(inspect.signature(lambda a, *, b, **more: 0), [1, {"b": 2, "c": 3}])
    >>> bound["a"], bound["b"], bound["more"]
    (1, 2, {'c': 3})
    """
    parameters = signature.parameters.values()
    positional = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    by_name = any(p.kind in (p.VAR_KEYWORD, p.KEYWORD_ONLY) for p in parameters)
    has_rest = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    try:
        if by_name and not has_rest and len(specs) == positional + 1 and isinstance(specs[-1], Mapping):
            bound = signature.bind_partial(*specs[:-1], **specs[-1])
        else:
            bound = signature.bind_partial(*specs)
    except TypeError:
        takes = f"{positional} {'argument' if positional == 1 else 'arguments'}"
        hint = "give one entry for each argument"
        if by_name:
            takes += " and those by name"
            hint += "; behind them, a dict of those that are passed by name"
        raise FeedError(f"input_spec has {len(specs)} entries for {takes}", hint=hint) from None
    explicit = set(bound.arguments)
    bound.apply_defaults()
    for name, parameter in signature.parameters.items():
        if name not in bound.arguments and parameter.kind is parameter.VAR_POSITIONAL:
            bound.arguments[name] = ()
        elif name not in bound.arguments and parameter.kind is parameter.VAR_KEYWORD:
            bound.arguments[name] = {}
        elif name not in bound.arguments:
            where = ", in a dict behind the other entries" if parameter.kind is parameter.KEYWORD_ONLY else ""
            raise FeedError(f"input_spec says nothing of argument {name!r}", hint=f"add an InputSpec for it{where}")
    return {name: bound.arguments[name] for name, p in signature.parameters.items() if name in explicit or not _is_state(p)}


def specs_of(signature: inspect.Signature, specs: Sequence[Any], arguments: Arguments) -> list[InputSpec]:
    """The InputSpec of each tensor that is fed.

    Raises:
        FeedError: an argument does not fit its entry of `input_spec`.
    """
    leaves, tree = flatten(arguments_of_specs(signature, specs))
    given = dict(zip(leaf_names(tree), leaves, strict=True))
    found = []
    for name, leaf, key in zip(arguments.names(), arguments.leaves, arguments.key.leaves, strict=True):
        spec = given.pop(name, None)
        if isinstance(leaf, Tensor):
            if isinstance(spec, Tensor):
                spec = InputSpec.from_tensor(spec)
            if not isinstance(spec, InputSpec):
                raise FeedError(f"argument {name!r} is a tensor, {leaf.dtype}{dims.show(leaf._value.shape)}; input_spec says "
                                f"{'nothing of it' if spec is None else repr(spec)}", hint="give an InputSpec for it")  # fmt: skip
            check_spec(spec, leaf, name)
            if isinstance(key, TensorKey) and key.alias < 0:
                found.append(spec)
        elif isinstance(spec, InputSpec):
            raise FeedError(f"argument {name!r} is {leaf!r}, its InputSpec says {_said(spec)}", hint="pass a tensor")
    missing = [(name, spec) for name, spec in given.items() if isinstance(spec, InputSpec)]
    if missing:
        raise FeedError(f"argument {missing[0][0]!r} is missing, its InputSpec says {_said(missing[0][1])}",
                        hint="pass arguments that are nested as input_spec is")  # fmt: skip
    return found


def leaf_names(tree: Tree) -> list[str]:
    """What the caller calls each leaf of the arguments: `x`, `state['h'][0]`."""
    return [name for key, child in zip(tree.keys, tree.children, strict=True) for name in paths(child, key)]


def input_name(path: str) -> str:
    """The name in the program for what the caller calls so and gave no name.

    >>> input_name("state['h'][0]")
    'state_h_0'
    """
    return re.sub(r"\W+", "_", path).strip("_") or "x"


def _said(spec: InputSpec) -> str:
    return f"{spec.dtype}{dims.show(spec.shape)}"


def check_spec(spec: InputSpec, t: Tensor, name: str) -> None:
    """FeedError unless the tensor fits its spec."""
    if (t.dtype != spec.dtype and not spec.any_dtype) or t.ndim != len(spec.shape) or not admits(spec.shape, t):
        raise FeedError(
            f"argument {name!r} is {t.dtype}{list(t._value.shape)}, its InputSpec says {_said(spec)}",
            hint="change the InputSpec, or pass what it says",
        )
