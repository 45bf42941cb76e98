"""`Layer`: parameters, buffers and sublayers under names, with hooks around `forward`."""

from __future__ import annotations

import re
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .. import unique_name
from ..errors import DTypeError, StagedValueError
from ..framework.dtype import convert_dtype, get_default_dtype
from ..framework.place import check_device
from ..tensor import Parameter, Tensor, autograd, dispatch
from ..tensor.location import user_location
from . import state
from .parameter import make_parameter

_STORES = ("_parameters", "_buffers", "_sub_layers")


def snake_case(name: str) -> str:
    """A class name as the stem of names: `MyConv2D` is `my_conv2d`."""
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()


class HookHandle:
    """What registering a hook returns, and its key among the hooks: `remove()` takes the hook away."""

    def __init__(self, hooks: dict[HookHandle, Callable], hook: Callable):
        self._hooks = hooks
        hooks[self] = hook

    def remove(self) -> None:
        self._hooks.pop(self, None)


class Layer:
    """Base of all layers and models. Subclasses make their parameters and sublayers in `__init__` and compute in `forward`.

    Args:
        name_scope: the stem of the layer's name, as it is; default: the class name in snake case.
        dtype: of the parameters that it makes; default: the default dtype (`set_default_dtype`).

    Attributes:
        training: whether the layer is in training mode (`train`, `eval`).

    >>> from dy2st import nn
    >>> class Net(nn.Layer):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.fc = nn.Linear(2, 3)
    ...     def forward(self, x):
    ...         return self.fc(x)
    >>> [name for name, _ in Net().named_parameters()]
    ['fc.weight', 'fc.bias']
    """

    training: bool

    def __init__(self, name_scope: str | None = None, dtype: Any = None):
        stem = name_scope if name_scope is not None else snake_case(type(self).__name__)
        set_plain = object.__setattr__
        for store in _STORES:
            set_plain(self, store, OrderedDict())
        set_plain(self, "training", True)
        set_plain(self, "_full_name", unique_name.generate(stem))
        set_plain(self, "_dtype", get_default_dtype() if dtype is None else convert_dtype(dtype))
        set_plain(self, "_non_persistable_buffer_names_set", set())
        set_plain(self, "_forward_pre_hooks", OrderedDict())
        set_plain(self, "_forward_post_hooks", OrderedDict())
        recorder = dispatch.current_recorder()
        if recorder is not None:
            recorder.on_layer_created(self)

    # ---- calling ----
    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the layer computes; subclasses define it."""
        raise NotImplementedError(f"{type(self).__name__} defines no forward()")

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        if self._forward_pre_hooks:
            for hook in list(self._forward_pre_hooks.values()):
                changed = hook(self, inputs)
                if changed is not None:
                    inputs = changed if isinstance(changed, tuple) else (changed,)
        outputs = self.forward(*inputs, **kwargs)
        if self._forward_post_hooks:
            for hook in list(self._forward_post_hooks.values()):
                changed = hook(self, inputs, outputs)
                if changed is not None:
                    outputs = changed
        return outputs

    def register_forward_pre_hook(self, hook: Callable[[Layer, tuple], Any]) -> HookHandle:
        """Calls `hook(layer, inputs)` before `forward`; what it returns (if not None) replaces the inputs."""
        return HookHandle(self._forward_pre_hooks, hook)

    def register_forward_post_hook(self, hook: Callable[[Layer, tuple, Any], Any]) -> HookHandle:
        """Calls `hook(layer, inputs, outputs)` after `forward`; what it returns (if not None) replaces the outputs."""
        return HookHandle(self._forward_post_hooks, hook)

    # ---- making and registering ----
    def create_parameter(self, shape: Sequence[int], attr: Any = None, dtype: Any = None, is_bias: bool = False,
                         default_initializer: Any = None) -> Any:  # fmt: skip
        """A new parameter named after this layer; None if `attr` is False. Assign it to an attribute to register it.

        Args:
            shape: list of ints.
            attr: a ParamAttr, a name, an initializer, or None.
            dtype: default: that of the layer.
            is_bias: whether it starts from zeros by default.
            default_initializer: used if `attr` names none.
        """
        return make_parameter(shape, attr, dtype or self._dtype, is_bias, default_initializer, self._full_name)

    def create_tensor(self, name: str | None = None, persistable: bool = False, dtype: Any = None) -> Tensor:
        """A new tensor of shape [0] for a later `set_value`."""
        t = Tensor.wrap(np.zeros((0,), convert_dtype(dtype or self._dtype)))
        t._name, t.persistable = name, persistable
        return t

    create_variable = create_tensor

    def add_parameter(self, name: str, parameter: Parameter | None) -> Parameter | None:
        """Registers a parameter under a name; returns it.

        Raises:
            DTypeError: it is no Parameter.
            KeyError: the name is taken or contains a dot.
        """
        if parameter is not None and not isinstance(parameter, Parameter):
            raise DTypeError(f"parameter {name!r} must be a Parameter, got {type(parameter).__name__}")
        self._check_name(name, "_parameters")
        self._parameters[name] = parameter
        return parameter

    def add_sublayer(self, name: str, sublayer: Layer) -> Layer:
        """Registers a sublayer under a name; returns it.

        Args:
            name: of the attribute. With a dot in it, `getattr` finds it.
            sublayer: a Layer.

        Raises:
            DTypeError: it is no Layer.
            KeyError: the name is empty, or that of another attribute.
        """
        if not all(isinstance(one, Layer) for one in dispatch.options_of(sublayer)):
            raise DTypeError(f"sublayer {name!r} must be a Layer, got {type(sublayer).__name__}")
        name = str(name)
        self._check_name(name, "_sub_layers")
        self._sub_layers[name] = sublayer
        return sublayer

    def register_buffer(self, name: str, tensor: Tensor | None, persistable: bool = True) -> None:
        """Registers state that is no parameter (running statistics, say).

        Args:
            name: of the attribute.
            tensor: the state.
            persistable: whether `state_dict` holds it.

        Raises:
            DTypeError: it is no Tensor.
            KeyError: the name is taken or contains a dot.
        """
        if tensor is not None and not isinstance(tensor, Tensor):
            raise DTypeError(f"buffer {name!r} must be a Tensor, got {type(tensor).__name__}")
        self._check_name(name, "_buffers")
        self._buffers[name] = tensor
        if tensor is not None:
            tensor.persistable = True
            if tensor._name is None and not tensor.is_symbolic:
                tensor._name = unique_name.generate(f"{self._full_name}.{name}")
        if persistable:
            self._non_persistable_buffer_names_set.discard(name)
        else:
            self._non_persistable_buffer_names_set.add(name)

    def _check_name(self, name: str, store: str) -> None:
        if not isinstance(name, str) or not name or ("." in name and store != "_sub_layers"):
            raise KeyError(f"{name!r} cannot be the name of an attribute: it is empty or contains a dot")
        if hasattr(self, name) and name not in getattr(self, store):
            raise KeyError(f"{type(self).__name__} already has an attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if "_parameters" not in self.__dict__:
            if isinstance(value, (Parameter, Layer)):
                raise AttributeError(f"call super().__init__() before assigning {name!r}")
            object.__setattr__(self, name, value)
            return
        store = self._store_of(name)
        if isinstance(value, Parameter):
            self._forget(name, "_parameters")
            self._parameters[name] = value
        elif isinstance(value, Layer):
            self._forget(name, "_sub_layers")
            self._sub_layers[name] = value
        elif store is not None and (value is None or (store == "_buffers" and isinstance(value, Tensor))):
            if isinstance(value, Tensor):
                value.persistable = True
            self.__dict__[store][name] = value
        elif len(options := dispatch.options_of(value)) > 1 and self._keep_one_of(options, name, value, store):
            pass
        elif store is None:
            object.__setattr__(self, name, value)
        else:
            raise DTypeError(f"attribute {name!r} is a {_KINDS[store].__name__}; it cannot become {type(value).__name__}")

    def _keep_one_of(self, options: Sequence[Any], name: str, value: Any, store: str | None) -> bool:
        """Gives an attribute a value that is one of several, as only the run knows; False if the place does not depend on which."""
        kinds = ((Layer, "_sub_layers"), (Parameter, "_parameters"))
        place = next((place for kind, place in kinds if all(isinstance(one, kind) for one in options)), None)
        if place is not None:
            self._forget(name, place)
            self.__dict__[place][name] = value
        elif store is not None and all(one is None or isinstance(one, _KINDS[store]) for one in options):
            self.__dict__[store][name] = value
        elif store is not None or any(isinstance(one, Layer) for one in options):
            raise StagedValueError(
                f"only the run knows whether attribute {name!r} is a layer, a parameter or a buffer", location=user_location(2),
                hint="give it one of them in __init__, and keep what decides in another attribute",
            )  # fmt: skip
        else:
            return False
        return True

    def _store_of(self, name: str) -> str | None:
        return next((s for s in _STORES if name in self.__dict__[s]), None)

    def _forget(self, name: str, but: str) -> None:
        self.__dict__.pop(name, None)
        for store in _STORES:
            if store != but:
                self.__dict__[store].pop(name, None)

    def __getattr__(self, name: str) -> Any:
        # only called where the usual look-up found nothing
        own = self.__dict__
        for store in _STORES:
            found = own.get(store)
            if found is not None and name in found:
                return found[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __delattr__(self, name: str) -> None:
        store = self._store_of(name)
        if store is None:
            object.__delattr__(self, name)
        else:
            del self.__dict__[store][name]
            self._non_persistable_buffer_names_set.discard(name)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """For a copy: a `forward` that `to_static` has given this layer is one of the copy."""
        self.__dict__.update(state)
        forward: Any = state.get("forward")
        if hasattr(forward, "bound_to"):
            self.__dict__["forward"] = forward.bound_to(self)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *(n for s in _STORES for n in self.__dict__[s])})

    # ---- walking ----
    def full_name(self) -> str:
        """The unique name: `linear_0`."""
        return self._full_name

    def named_sublayers(self, prefix: str = "", include_self: bool = False,
                        layers_set: set | None = None) -> Iterator[tuple[str, Layer]]:  # fmt: skip
        """All sublayers with their dotted names, each once, in order of registration."""
        seen = set() if layers_set is None else layers_set
        if include_self and id(self) not in seen:
            seen.add(id(self))
            yield prefix, self
        for name, layer in self._sub_layers.items():
            if layer is not None and id(layer) not in seen:
                path = f"{prefix}.{name}" if prefix else name
                yield from layer.named_sublayers(path, include_self=True, layers_set=seen)

    def sublayers(self, include_self: bool = False) -> list[Layer]:
        """All sublayers, of any depth."""
        return [layer for _, layer in self.named_sublayers(include_self=include_self)]

    def named_children(self) -> Iterator[tuple[str, Layer]]:
        """The direct sublayers with their names, each once."""
        seen: set[int] = set()
        for name, layer in self._sub_layers.items():
            if layer is not None and id(layer) not in seen:
                seen.add(id(layer))
                yield name, layer

    def children(self) -> Iterator[Layer]:
        """The direct sublayers."""
        return (layer for _, layer in self.named_children())

    def named_parameters(self, prefix: str = "", include_sublayers: bool = True) -> Iterator[tuple[str, Parameter]]:
        """All parameters with their dotted names; one that is shared appears once."""
        return self._named("_parameters", prefix, include_sublayers)

    def parameters(self, include_sublayers: bool = True) -> list[Parameter]:
        """All parameters, each once."""
        if not dispatch.in_dynamic_mode():  # a layer may be one of several there, as only the run knows
            return [p for _, p in self.named_parameters(include_sublayers=include_sublayers)]
        found: dict[int, Parameter] = {}
        seen: set[int] = set()
        layers: list[Layer | None] = [self]
        # as `named_parameters` does it, but without the names, which take twice as long
        while layers:
            layer = layers.pop()
            if layer is None or id(layer) in seen:
                continue
            cls = type(layer)
            walks = cls.named_sublayers is Layer.named_sublayers and cls.named_parameters is Layer.named_parameters
            if not (walks and include_sublayers):
                return [p for _, p in self.named_parameters(include_sublayers=include_sublayers)]
            seen.add(id(layer))
            for p in layer._parameters.values():
                if p is not None:
                    found[id(p)] = p
            if layer._sub_layers:
                layers += [*layer._sub_layers.values()][::-1]
        return [*found.values()]

    def named_buffers(self, prefix: str = "", include_sublayers: bool = True) -> Iterator[tuple[str, Tensor]]:
        """All buffers with their dotted names, each once."""
        return self._named("_buffers", prefix, include_sublayers)

    def buffers(self, include_sublayers: bool = True) -> list[Tensor]:
        """All buffers, each once."""
        return [b for _, b in self.named_buffers(include_sublayers=include_sublayers)]

    def _named(self, store: str, prefix: str, deep: bool) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        layers = self.named_sublayers(prefix, include_self=True) if deep else [(prefix, self)]
        for path, layer in layers:
            for name, t in layer.__dict__[store].items():
                if t is not None and id(t) not in seen:
                    seen.add(id(t))
                    yield (f"{path}.{name}" if path else name), t

    def apply(self, fn: Callable[[Layer], None]) -> Layer:
        """Calls `fn` on all sublayers and then on this layer; returns this layer."""
        for layer in self.children():
            layer.apply(fn)
        fn(self)
        return self

    # ---- modes ----
    def train(self) -> Layer:
        """Sets training mode here and in all sublayers."""
        return self._set_training(True)

    def eval(self) -> Layer:
        """Sets evaluation mode here and in all sublayers."""
        return self._set_training(False)

    def _set_training(self, training: bool) -> Layer:
        for layer in self.sublayers(include_self=True):
            layer.training = training
        return self

    def clear_gradients(self, set_to_zero: bool = True) -> None:
        """Forgets the gradients of all parameters; see `Tensor.clear_grad`."""
        autograd.forget(self.parameters())

    def to(self, device: Any = None, dtype: Any = None, blocking: Any = None) -> Layer:
        """Casts floating-point parameters and buffers to another dtype, in place; `device` has no effect on eager
        values.

        Raises:
            DeviceError: there is no such device.
        """
        check_device(device)
        if dtype is not None:
            wanted = convert_dtype(dtype)
            for t in [*self.parameters(), *self.buffers()]:
                if t.dtype.startswith("float"):
                    t._value = dispatch.read(t, "Layer.to()").astype(wanted)
            for layer in self.sublayers(include_self=True):
                object.__setattr__(layer, "_dtype", wanted)
        return self

    def astype(self, dtype: Any = None) -> Layer:
        """`to(dtype=dtype)`."""
        return self.to(dtype=dtype)

    def float(self, excluded_layers: Any = None) -> Layer:
        """`to(dtype="float32")`."""
        return self.to(dtype="float32")

    # ---- state ----
    def state_dict(self, destination: dict | None = None, include_sublayers: bool = True,
                   structured_name_prefix: str = "", use_hook: bool = True) -> OrderedDict[str, Tensor]:  # fmt: skip
        """Parameters and persistable buffers under their dotted names (the tensors themselves, not copies). A sublayer that
        is there under two names gives both, as in PaddlePaddle's files.

        Args:
            destination: a dict to add to; default: a new one.
            include_sublayers: whether those of sublayers are in it.
            structured_name_prefix: in front of all names.
            use_hook: of PaddlePaddle's signature, without effect: there are no hooks on states.
        """
        into: OrderedDict[str, Tensor] = OrderedDict() if destination is None else destination  # type: ignore[assignment]
        state.collect(self, into, include_sublayers, structured_name_prefix)
        return into

    def set_state_dict(
        self, state_dict: dict[str, Any], use_structured_name: bool = True
    ) -> tuple[list[str], list[str]]:
        """Loads parameters and buffers, in place.

        Args:
            state_dict: name → Tensor or array.
            use_structured_name: the names are dotted (`fc.weight`), else those of the parameters (`linear_0.w_0`).

        Returns:
            the names that are missing in `state_dict`, and those that are in it but not in the layer; both are also
            warned about.

        Raises:
            StateDictError: a shape differs, or something is no dict or no array of numbers. Nothing is changed then.
        """
        missing, unexpected = state.load(self, state_dict, use_structured_name)
        for names, what in ((missing, "missing in the state dict"), (unexpected, "not in the layer")):
            if names:
                warnings.warn(f"{', '.join(map(repr, names))}: {what}", stacklevel=2)
        return missing, unexpected

    set_dict = load_dict = set_state_dict

    # ---- printing ----
    def extra_repr(self) -> str:
        """What `repr` shows of the layer itself; subclasses define it."""
        return ""

    def __repr__(self) -> str:
        own = self.extra_repr()
        lines = [f"({name}): " + repr(layer).replace("\n", "\n  ") for name, layer in self._sub_layers.items()]
        if not lines:
            return f"{type(self).__name__}({own})"
        return f"{type(self).__name__}({own}\n  " + "\n  ".join(lines) + "\n)"


_KINDS: dict[str, type] = {"_parameters": Parameter, "_buffers": Tensor, "_sub_layers": Layer}
"""What layers keep in their stores."""
