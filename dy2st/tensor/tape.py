"""The tape: a node for each recorded op, with edges to the nodes that made its inputs.

A node keeps what its gradient rule reads as arrays, not as the user's Tensor objects. As arrays that others have are never written to, a
tensor that is modified in place afterwards does not change what was recorded.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from dy2st_runtime.ops.registry import OpDef

from ..errors import GradientError
from . import replay
from .location import user_location
from .tensor import Tensor

Edge = tuple["Node", int]
Hook = Callable[[Tensor], "Tensor | None"]
Siblings = Callable[[], Sequence[set[int]]]


_seq = itertools.count()
ref, new = weakref.ref, Tensor.__new__


class Node:
    """A step of the computation; output `i` of it is the edge `(node, i)`.

    Attributes:
        seq: counts nodes, so that a node's inputs always have smaller numbers.
        edges: for each differentiable input (flat) its edge, or None if no gradient flows there.
        outputs: weak references to the tensors that it made, to which `backward` gives their gradients.
        hooks: output index → functions called with the gradient of that output; None if there never was one.
    """

    __slots__ = ("__weakref__", "edges", "hooks", "outputs", "seq")

    is_leaf = False
    siblings: Siblings | None = None
    """Tells for each output which others are computed from it within the step; None: none are."""
    seq: int
    edges: Sequence[Edge | None] | None
    outputs: list[weakref.ref[Tensor] | None]
    hooks: dict[int, dict[int, Hook]] | None

    def start(self, edges: Sequence[Edge | None] | None) -> None:
        """Gives a new node its edges and its number; it has no outputs yet."""
        self.seq, self.edges, self.outputs, self.hooks = next(_seq), edges, [], None

    @property
    def label(self) -> str:
        raise NotImplementedError

    def attach(self, outputs: Sequence[Tensor | None]) -> None:
        """Makes this node the origin of the tensors."""
        self.outputs = [self._attach(t, i) for i, t in enumerate(outputs)]

    def _attach(self, t: Tensor | None, index: int) -> weakref.ref[Tensor] | None:
        """Makes this node the origin of a tensor, its output `index`."""
        if t is None or t._stop:
            return None
        t._node, t._index = self, index
        return weakref.ref(t)

    def hooks_of(self, index: int) -> dict[int, Hook]:
        """The functions called with the gradient of an output, by keys; others can be put there."""
        if self.hooks is None:
            self.hooks = {}
        return self.hooks.setdefault(index, {})

    def hand_over(self, index: int, tensor: Tensor) -> None:
        """Output `index` is from now on the value of another tensor (one that was modified in place)."""
        self.outputs[index] = weakref.ref(tensor)
        tensor._node, tensor._index = self, index

    def take(self, grads: Sequence[Tensor | None]) -> None:
        """Called with the gradients of the outputs, if there are `siblings`, before `gradients`."""

    def misses(self, index: int) -> bool:
        """Whether an output has had gradients that only the inside of the step knows of."""
        return False

    def unknown(self) -> GradientError:
        """What to raise where such a gradient is asked for."""
        return GradientError(
            f"{self.label} computes other results from this one, and what it gets as their gradient is not known outside",
            location=user_location(2), hint="compute the gradient in the function, with paddle.grad(), and return it",
        )  # fmt: skip

    def gradients(self, grads: list[Tensor | None], needed: list[bool], create_graph: bool) -> list[Tensor | None]:
        """The gradient for each edge, given that of each output; None where not `needed` or where none flows."""
        raise NotImplementedError

    def release(self) -> None:
        """Frees what the gradient needs."""
        self.edges = None

    def live_edges(self) -> Sequence[Edge | None]:
        """The edges; GradientError if they were freed."""
        if self.edges is None:
            raise GradientError(
                f"the graph behind {self.label} was freed by an earlier backward()",
                hint="pass retain_graph=True to all but the last call of backward() or grad()",
            )
        return self.edges


class LeafNode(Node):
    """Stands for a tensor that no recorded op made; gradients are accumulated in its `.grad`."""

    __slots__ = ()

    is_leaf = True

    def __init__(self, tensor: Tensor):
        self.start(())
        self.outputs.append(weakref.ref(tensor))

    @property
    def label(self) -> str:
        return "a leaf tensor"

    def release(self) -> None:
        pass


class FreedNode(Node):
    """Stands for a graph that is freed already: of a result of a call that has computed its gradients itself."""

    __slots__ = ("_label",)

    def __init__(self, label: str):
        self.start(None)
        self.outputs, self._label = [None], label

    def misses(self, index: int) -> bool:
        return True

    def unknown(self) -> GradientError:
        return GradientError(
            f"{self.label} calls backward() itself, and keeps the gradients of leaves only", location=user_location(2),
            hint="compute what is wanted in the function, with paddle.grad(), and return it",
        )  # fmt: skip

    @property
    def label(self) -> str:
        return self._label


class SpentNode(Node):
    """Stands for a step of the computation that `backward()` has passed and freed; no gradient comes there any more, so several tensors may
    have the same one."""

    __slots__ = ("_label",)

    def __init__(self, label: str):
        self.start(None)
        self.outputs, self._label = [None], label

    def hooks_of(self, index: int) -> dict[int, Hook]:
        return {}

    @property
    def label(self) -> str:
        return self._label


class OpNode(Node):
    """An op: its record, inputs, outputs and attributes; the gradient is the record's rule.

    Only values are kept: of the inputs to spare making tensors of them that nobody asks for, of the outputs as tensors that pointed back to
    this node would be a cycle. What the rule gets is made of them and of the edges.

    Attributes:
        values, results: the arrays in the slots; None after `release`.
        plain: whether no slot has a list with entries.
    """

    __slots__ = ("attrs", "op", "plain", "results", "values")

    op: type[OpDef]
    attrs: dict[str, Any]
    plain: bool
    values: tuple[Any, ...] | None
    results: tuple[Any, ...] | None
    builder: ClassVar[Any]
    """Makes the ops of the gradients."""

    @property
    def label(self) -> str:
        return self.op.type

    def release(self) -> None:
        super().release()
        self.values = self.results = None

    def gradients(self, grads: list[Tensor | None], needed: list[bool], create_graph: bool) -> list[Tensor | None]:
        assert self.values is not None
        assert self.results is not None
        if not create_graph and self.plain:
            return self._first_gradients(grads, needed)
        edges, at = self.live_edges(), 0
        ins: list[Any] = []
        for value in self.values:
            if type(value) is list:
                ins.append([as_recorded(v, edges[at + i]) for i, v in enumerate(value)])
                at += len(value)
            elif value is None:
                ins.append(None)
            else:
                ins.append(as_recorded(value, edges[at]))
                at += 1
        outs: list[Any] = []
        douts: list[Any] = []
        index = 0
        for x in self.results:
            if isinstance(x, list):
                outs.append([self._output(v, index + i) for i, v in enumerate(x)])
                douts.append(grads[index : index + len(x)])
                index += len(x)
            else:
                outs.append(self._output(x, index))
                douts.append(grads[index])
                index += 1  # an absent output counts too
        results = self.op.grad(self.builder, tuple(ins), tuple(outs), tuple(douts), **self.attrs)
        wanted = iter(needed)
        flat: list[Tensor | None] = []
        for x, dx in zip(ins, results, strict=True):
            if isinstance(x, list):
                # a function may stand for the whole slot, or for one of its entries
                mask = [next(wanted) for _ in x]
                dx = dx() if callable(dx) and any(mask) else dx
                each = dx if isinstance(dx, (list, tuple)) else [None] * len(x)
                flat += [_force(d, want) for d, want in zip(each, mask, strict=True)]
            elif x is not None:
                flat.append(_force(dx, next(wanted)))
        return flat

    def _first_gradients(self, grads: Sequence[Tensor | None], needed: Sequence[bool]) -> list[Tensor | None]:
        """`gradients` where nobody asks for those of gradients and no list has entries: no tensor needs to know where it came from."""
        if self.builder.replays:
            found = replay.gradients(self, grads, needed)
            if found is not None:
                return found
        return self.rule(self.builder, grads, needed)[2]

    def rule(self, builder: Any, grads: Sequence[Tensor | None],
             needed: Sequence[bool]) -> tuple[list[Any], list[Any], list[Tensor | None]]:  # fmt: skip
        """The inputs, the outputs and the gradients of the inputs, by ops that the builder makes."""
        # the lists are empty
        ins = [v if v is None or type(v) is list else Tensor.wrap(v) for v in self.values]  # type: ignore[union-attr, arg-type]
        outs = [None if v is None else Tensor.wrap(v) for v in self.results]  # type: ignore[union-attr, arg-type]
        flat: list[Tensor | None] = []
        at = 0
        for x, dx in zip(ins, self.op.grad(builder, tuple(ins), tuple(outs), tuple(grads), **self.attrs), strict=True):
            if x is None or type(x) is list:
                continue
            flat.append(None if dx is None or not needed[at] else dx() if callable(dx) else dx)
            at += 1
        return ins, outs, flat

    def _output(self, value: np.ndarray | None, index: int) -> Tensor | None:
        return None if value is None else as_recorded(value, (self, index) if value.dtype.kind == "f" else None)


def record(op: type[OpDef], ins: tuple[Any, ...], values: tuple[Any, ...], outs: tuple[Any, ...], results: tuple[Any, ...],
           attrs: dict[str, Any]) -> None:  # fmt: skip
    """Makes the node of an op. This is done for each op that a gradient may be asked for, so it calls little.

    Args:
        ins, outs: the tensors in the slots; those of `outs` are new.
        values, results: the arrays of both.
    """
    edges: list[Edge | None] = []
    plain = True
    for x in ins:
        if type(x) is list:
            if x:
                plain = False
            for t in x:
                edges.append(None if t._stop else (t._node or leaf_node(t), t._index))
        elif x is not None:
            edges.append(None if x._stop else (x._node or leaf_node(x), x._index))
    node = new(OpNode)
    node.edges = edges
    node.seq = next(_seq)  # after those of leaves that are met for the first time
    node.op, node.attrs = op, attrs
    node.values, node.results = values, results
    node.hooks = None
    outputs: list[weakref.ref[Tensor] | None] = []
    node.outputs = outputs
    for x in outs:
        if x is None:
            outputs.append(None)
        elif type(x) is list:
            plain = False
            outputs += [node._attach(t, len(outputs) + i) for i, t in enumerate(x)]
        elif x._stop:
            outputs.append(None)
        else:
            x._node = node
            if outputs:
                x._index = len(outputs)
            outputs.append(ref(x))
    node.plain = plain


class FunctionNode(Node):
    """A step with a gradient function of its own: a call of a static function, a user's `PyLayer`.

    Args:
        inputs: the tensors that get gradients.
        outputs: the tensors that it made (None for an absent one); those with `stop_gradient=False` become its outputs.
        backward_fn: called with the list of the outputs' gradients (None where none flows) and, as keyword `needed`,
            a list that says which inputs' gradients are wanted; returns the list of the inputs' gradients (None where
            none flows).
        label: names it in errors.
        twice: whether `backward_fn` is built of recorded ops, so that its gradient can be taken too.
        siblings: tells for each output which others are computed from it within the step; default: none are.
    """

    __slots__ = ("_given", "_label", "backward_fn", "siblings", "twice")

    def __init__(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor | None],
                 backward_fn: Callable[..., Sequence[Tensor | None]], label: str = "function",
                 twice: bool = False, siblings: Siblings | None = None) -> None:  # fmt: skip
        self.start([edge_of(t) for t in inputs])
        self.siblings = siblings
        self._given: list[int] = []
        self.backward_fn: Callable[..., Sequence[Tensor | None]] | None = backward_fn
        self._label, self.twice = label, twice
        self.attach(outputs)

    @property
    def label(self) -> str:
        return self._label

    def take(self, grads: Sequence[Tensor | None]) -> None:
        self._given = [i for i, g in enumerate(grads) if g is not None]

    def misses(self, index: int) -> bool:
        return self.siblings is not None and bool(self._given) and not self.siblings()[index].isdisjoint(self._given)

    def release(self) -> None:
        super().release()
        self.backward_fn = None

    def gradients(self, grads: list[Tensor | None], needed: list[bool], create_graph: bool) -> list[Tensor | None]:
        assert self.backward_fn is not None
        if create_graph and not self.twice:
            raise GradientError(
                f"the gradient of {self.label} cannot be differentiated again",
                hint="run this part eagerly, without the decorator, where create_graph=True is needed",
            )
        results = list(self.backward_fn(grads, needed=needed))
        if len(results) != len(needed):
            raise GradientError(
                f"{self.label} has {len(needed)} inputs, its backward returned {len(results)} gradients"
            )
        return results


def as_recorded(value: np.ndarray, edge: Edge | None) -> Tensor:
    """A tensor with the value that one had when it was recorded, and where it came from."""
    t = new(Tensor)
    t._value = value
    if edge is None:
        t._stop = True
    else:
        t._stop = False
        t._node, t._index = edge
    return t


def _force(value: Any, wanted: bool) -> Tensor | None:
    if not wanted or value is None:
        return None
    return value() if callable(value) else value


def leaf_node(t: Tensor) -> LeafNode:
    """The node of a leaf, made when first needed."""
    if t._node is None:
        t._node = LeafNode(t)
    assert isinstance(t._node, LeafNode)
    return t._node


def has_hooks(t: Tensor) -> bool:
    """Whether a function is called with the gradient of a tensor."""
    node = t._node
    return node is not None and node.hooks is not None and bool(node.hooks.get(t._index))


def edge_of(t: Tensor) -> Edge | None:
    """The edge of a tensor; None if no gradient flows to it."""
    if t._stop:
        return None
    return (t._node if t._node is not None else leaf_node(t)), t._index


def snapshot(t: Tensor) -> Tensor:
    """A tensor with the value and the origin that `t` has now, whatever happens to `t` later."""
    s = Tensor.wrap(t._value, t._stop)
    if not t._stop and t._node is None:
        leaf_node(t)  # so that gradients reach t, not the snapshot
    s._node, s._index = t._node, t._index
    return s
