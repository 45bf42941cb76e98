"""`Context`: what an op's `lower` gets as `cx`. It opens kernels, makes temporaries and views, and keeps the steps."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .. import dims
from ..ir.program import Block, Function, Operator, Variable
from ..ir.visit import free_names
from ..loopir import nodes as n
from ..loopir.builder import KernelBuilder, TensorRef
from ..ops.registry import TensorType
from . import arrays, attention, control, elementwise, finish, reduction, rows
from .schedule import Absent, Call, FailIfAbsent, Guard, Host, Launch, Share, Step, Suspend

Kernel = tuple[KernelBuilder, tuple[TensorRef, ...], tuple[TensorRef, ...]]


class Context:
    """Lowers the ops of one Program.

    Attributes:
        steps: where new steps go.
        op: the op being lowered.
        block: the block it stands in.
        maybe_absent: the variables that can be absent at run time.
        variables: every variable that the steps name.
        noted: these in the order, and as often, as they were noted.
        temps: the names of the temporary ones.
        same: names → the variables whose descriptors they use.
        shapes: the symbolic sizes of variables, where known.
        routines: whether the target has the routines of `loopir.nodes.RoutineCall`; winograd: and convolution may use those by transforms.
    """

    def __init__(self, shapes: dict[str, tuple[Any, ...]], routines: bool = False, winograd: bool = True):
        self.routines, self.winograd = routines, winograd
        self.steps: list[Step] = []
        self.op: Operator
        self.block: Block
        self.maybe_absent: set[str] = set()
        self.variables: dict[str, Variable] = {}
        self.noted: list[Variable] = []
        self.temps: set[str] = set()
        self.same: dict[str, str] = {}
        self.shapes = shapes
        self._shaped: set[str] = set()

    def lower_block(self, block: Block) -> None:
        """Adds the steps of a block."""
        raise NotImplementedError

    # ---- variables ----
    def note(self, v: Variable) -> Variable:
        self.variables.setdefault(v.name, v)
        self.noted.append(v)
        return v

    def temp(self, dtype: str, rank: int, kind: str = "dense", of: str = "") -> Variable:
        """A scratch variable of this op, or of that which a name of another one says; the kernel that first writes it sets its shape."""
        stem = of.partition("#")[0] or self.op.type
        v = Variable(self.block, f"{stem}#t{len(self.temps) + 1}", dtype, (-1,) * rank, kind=kind)
        self.temps.add(v.name)
        return self.note(v)

    def canonical(self, name: str) -> str:
        """The variable whose descriptor a name uses."""
        while name in self.same:
            name = self.same[name]
        return name

    @contextlib.contextmanager
    def into(self, steps: list[Step]) -> Iterator[list[Step]]:
        """Collects steps into another list."""
        before = self.steps
        self.steps = steps
        try:
            yield steps
        finally:
            self.steps = before

    @contextlib.contextmanager
    def standing(self, op: Operator, block: Block) -> Iterator[None]:
        """Inside the op is another one, as of a group."""
        outer = self.op, self.block
        self.op, self.block = op, block
        try:
            yield
        finally:
            self.op, self.block = outer

    # ---- kernels ----
    @contextlib.contextmanager
    def kernel(self, reads: Sequence[Variable], writes: Sequence[Variable | None], *, shapes: bool = True,
               views: dict[str, str] | None = None, label: str | None = None) -> Iterator[Kernel]:  # fmt: skip
        """Opens a kernel and launches it at the end of the `with`.

        With `shapes` the outputs of the op that no earlier kernel has written get their sizes from `infer`, run on the sizes of
        `reads`; its checks become native checks. A variable that is read and written gets one argument.
        """
        k = KernelBuilder(label or self.op.type)
        refs: dict[str, TensorRef] = {}
        written = {w.name for w in writes if w is not None}
        for v in [*reads, *(w for w in writes if w is not None)]:
            if v.name not in refs:
                refs[v.name] = k.tensor(v.name, v.dtype, v.shape, v.name in written)
                self.note(v)
        if shapes:
            self._set_shapes(k, refs, {v.name for v in reads}, written)
        yield k, tuple(refs[v.name] for v in reads), tuple(refs[w.name] for w in writes if w is not None)
        self.launch(k.kernel, views or {})

    def written(self, k: KernelBuilder, v: Variable) -> TensorRef:
        """One more output of a kernel that is open."""
        return k.tensor(self.note(v).name, v.dtype, v.shape, True)

    def launch(
        self, kernel: n.Kernel, views: dict[str, str] | None = None, takes: dict[str, str] | None = None
    ) -> None:
        self._shaped.update(t.var for t in kernel.tensors if t.written)
        self.steps.append(Launch(kernel, self.op, views or {}, takes or {}))

    def _set_shapes(self, k: KernelBuilder, refs: dict[str, TensorRef], reads: set[str], written: set[str]) -> None:
        outputs = [name for name in self.op.output_names if name in written and name not in self._shaped]
        if not outputs:
            return
        for name, shape in self.infer_sizes(k, refs).items():
            if name in outputs:
                k.set_shape(refs[name], shape)

    def infer_sizes(self, k: KernelBuilder, refs: dict[str, TensorRef]) -> dict[str, tuple[Any, ...]]:
        """The sizes of the op's outputs as expressions on the sizes of the kernel's arguments."""
        sizes: dict[str, tuple[Any, ...]] = {}
        for name, t in self.infer_symbolically(k, refs):
            if any(isinstance(d, dims.Unknown) for d in t.shape) and name in refs:
                raise TypeError(f"{self.op.type}: the sizes of {name} depend on values or on an input that the kernel does not read; lower "
                                "it with shapes=False and set_shape")  # fmt: skip
            sizes[name] = t.shape
        return sizes

    def infer_symbolically(self, k: KernelBuilder, refs: dict[str, TensorRef]) -> list[tuple[str, TensorType]]:
        """The op's outputs with their types. Sizes are expressions on those of the kernel's arguments; it makes the checks."""
        op, record = self.op, self.op.record
        ins: list[Any] = []
        for slot in record.input_slots:
            names = op.input(slot.name)
            types = [self._symbolic(name, refs) for name in names]
            ins.append(types if slot.many else (types[0] if types else None))
        with dims.checks() as checks:
            outs = record.infer_types(tuple(ins), op.attrs)
        for kind, a, b in checks:
            k.fail_if(_violation(kind, a, b))
        found: list[tuple[str, TensorType]] = []
        for slot, t in zip(record.output_slots, outs, strict=True):
            types = [] if t is None else (t if slot.many else [t])
            found += zip(op.output(slot.name), types, strict=False)
        return found

    def _symbolic(self, name: str, refs: dict[str, TensorRef]) -> TensorType:
        v = self.block.var(name)
        if name in refs:
            return TensorType(v.dtype, refs[name].shape, v.kind)
        return TensorType(v.dtype, dims.from_static(v.shape), v.kind)

    # ---- views ----
    def alias(self, x: Variable, out: Variable) -> None:
        """`out` shows the elements of x; its sizes come from `infer`."""
        if x.kind == "array" or (x.shape == out.shape and -1 not in x.shape) or self.same_shape(x.name, out.name):
            self.note(x)
            self.note(out)
            self.steps.append(Share(out.name, x.name))
            return
        inputs = [self.block.var(name) for name in self.op.input_names]
        with self.kernel(inputs, [out], views={out.name: x.name}):
            pass

    @contextlib.contextmanager
    def view(self, x: Variable, out: Variable, reads: Sequence[Variable] = ()) -> Iterator[Any]:
        """A view whose sizes depend on values: `with cx.view(x, out, [shape]) as (k, x, (shape,), out): k.set_shape(out, dims)`."""
        with self.kernel([x, *reads], [out], shapes=False, views={out.name: x.name}) as (k, refs, (out_ref,)):
            yield k, refs[0], refs[1:], out_ref

    def same_shape(self, a: str, b: str) -> bool:
        """Whether two variables have equal sizes by construction."""
        sa, sb = self.shapes.get(a), self.shapes.get(b)
        return (
            sa is not None
            and sb is not None
            and len(sa) == len(sb)
            and all(_same(p, q) for p, q in zip(sa, sb, strict=True))
        )

    def take_over(self, x: Variable, out: Variable) -> None:
        """`out` gets the elements of x to be changed by the kernels that follow: in place, if x is not needed any more."""
        arrays.take_over(self, x, out)

    # ---- the generic lowerings ----
    def elementwise(self, record: Any, ins: Sequence[Variable], out: Variable, attrs: dict[str, Any]) -> None:
        elementwise.lower_op(self, record, ins, out, attrs)

    def fused(self, ins: Sequence[Variable], outs: Sequence[Variable], body: Block) -> None:
        """A group of elementwise ops: one kernel."""
        elementwise.lower_fused(self, ins, body.params, outs, body.ops, body, body.results)

    def fold(self, x: Variable, others: Sequence[Variable], out: Variable) -> None:
        """The elements of x folded by the op."""
        reduction.lower_op(self, x, others, out)

    def fused_reduction(self, ins: Sequence[Variable], outs: Sequence[Variable], body: Block) -> None:
        reduction.lower_fused(self, ins, outs, body)

    def fused_rows(self, ins: Sequence[Variable], outs: Sequence[Variable], body: Block) -> None:
        rows.lower_fused(self, ins, outs, body)

    def fused_convolution(self, ins: Sequence[Variable], outs: Sequence[Variable], body: Block) -> None:
        finish.lower_convolution(self, ins, outs, body)

    def fused_product(self, ins: Sequence[Variable], outs: Sequence[Variable], body: Block) -> None:
        finish.lower_product(self, ins, outs, body)

    def fused_attention(self, ins: Sequence[Variable], outs: Sequence[Variable], body: Block) -> None:
        attention.lower_fused(self, ins, outs, body)

    def broadcast(self, x: Variable, like: Variable, out: Variable) -> None:
        """`out` is x broadcast to the shape of `like`."""
        elementwise.lower_broadcast(self, x, like, out)

    def branch(self, cond: Variable, true_block: Block, false_block: Block, outs: Sequence[Variable]) -> None:
        control.lower_cond(self, cond, true_block, false_block, outs)

    def loop(self, xs: Sequence[Variable], cond_block: Block, body_block: Block, outs: Sequence[Variable], saved: Sequence[str],
             saved_outs: Sequence[Variable]) -> None:  # fmt: skip
        control.lower_loop(self, xs, cond_block, body_block, outs, saved, saved_outs)

    def call(self, function: Function, xs: Sequence[Variable], outs: Sequence[Variable]) -> None:
        """Calls a function of the Program."""
        captured = [self.note(function.block.var(name)).name for name in free_names(function.block)]
        for v in (*xs, *outs):
            self.note(v)
        self.steps.append(Call(function.name, [x.name for x in xs], [o.name for o in outs], captured, self.op))

    def mark_absent(self, out: Variable) -> None:
        self.note(out)
        self.maybe_absent.add(out.name)
        self.steps.append(Absent([out.name]))

    @contextlib.contextmanager
    def unless_absent(self, x: Variable, out: Variable, otherwise: Variable | None = None) -> Iterator[None]:
        """The steps inside, which define `out`, run only where x is present; elsewhere `out` is `otherwise` (None: absent)."""
        with self.into([]) as steps:
            yield
        if x.name not in self.maybe_absent:
            self.steps.extend(steps)
            return
        self.note(x)
        self.note(out)
        keeps = {} if otherwise is None else {out.name: self.note(otherwise).name}
        self.steps.append(Guard([x.name], [out.name], steps, keeps))

    def share(self, x: Variable, out: Variable) -> None:
        """`out` is x."""
        self.note(x)
        self.note(out)
        self.steps.append(Share(out.name, x.name))

    def fail_if_absent(self, x: Variable) -> None:
        if x.name in self.maybe_absent:
            self.steps.append(FailIfAbsent(x.name, self.op))

    def host(self) -> None:
        """The op runs on the host, by its reference."""
        for name in [*self.op.input_names, *self.op.output_names]:
            self.note(self.block.var(name))
        self.steps.append(Host(self.op))

    def suspend(self) -> None:
        self.steps.append(Suspend())

    # ---- arrays: see `arrays` ----
    def array_create(self, out: Variable) -> None:
        arrays.create(self, out)

    def array_write(self, array: Variable | None, x: Variable, index: Variable | None, out: Variable) -> None:
        arrays.write(self, array, x, index, out)

    def array_read(self, array: Variable, index: Variable, out: Variable) -> None:
        arrays.read(self, array, index, out)

    def array_length(self, array: Variable, out: Variable) -> None:
        arrays.length(self, array, out)

    def array_to_tensor(self, array: Variable, out: Variable, axis: int, use_stack: bool) -> None:
        arrays.to_tensor(self, array, out, axis, use_stack)

    def tensor_to_array(self, x: Variable, out: Variable, axis: int) -> None:
        arrays.from_tensor(self, x, out, axis)

    def array_add(self, a: Variable, b: Variable, out: Variable) -> None:
        arrays.add(self, a, b, out)

    def array_push(self, array: Variable, x: Variable) -> None:
        """Appends to an array that this op makes."""
        arrays.append_in_place(self, array, x)

    def array_each(self, array: Variable, count: Variable, body: Callable[[Variable, Variable], None]) -> None:
        """`body(index, entry)` adds the steps for one entry of an array with `count` entries."""
        arrays.each(self, array, count, body)

    def array_map(self, array: Variable, count: Variable, out: Variable,
                  entry: Callable[[Variable, Variable, Variable], None]) -> None:  # fmt: skip
        """`out` = an array of the results that `entry(index, entry, result)` makes of the first `count` entries."""
        arrays.map_entries(self, array, count, out, entry)

    def array_zeros(self, like: Variable, out: Variable) -> None:
        arrays.zeros(self, like, out)

    def array_pop(self, array: Variable, out_array: Variable, out_value: Variable) -> None:
        arrays.pop(self, array, out_array, out_value)

    def array_extend(self, array: Variable, other: Variable, out: Variable) -> None:
        arrays.extend(self, array, other, out)

    def array_insert(self, array: Variable, x: Variable, index: Variable, out: Variable) -> None:
        arrays.insert(self, array, x, index, out)

    def array_remove(self, array: Variable, index: Variable, out_array: Variable, out_value: Variable) -> None:
        arrays.remove(self, array, index, out_array, out_value)

    def array_replace(self, array: Variable, x: Variable, index: Variable) -> None:
        """Replaces an entry of an array that this op makes."""
        arrays.replace_in_place(self, array, x, index)

    def array_take(self, array: Variable, index: Variable, out: Variable) -> None:
        arrays.take(self, array, index, out)

    def tape_extend(self, tape: Variable, array: Variable) -> None:
        arrays.tape_extend(self, tape, array)

    def tape_pop(self, tape: Variable, out: Variable) -> None:
        arrays.tape_pop(self, tape, out)

    def tape_take(self, tape: Variable, count: Variable, out: Variable) -> None:
        arrays.tape_take(self, tape, count, out)

    def total_clear(self, total: Variable) -> None:
        arrays.total_clear(self, total)

    def total_add(self, total: Variable, x: Variable) -> None:
        arrays.total_add(self, total, x)

    def total_take(self, total: Variable, out: Variable) -> None:
        arrays.total_take(self, total, out)

    def array_common(self, a: Variable, b: Variable, out: Variable) -> None:
        arrays.common(self, a, b, out)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, dims.Unknown) or isinstance(b, dims.Unknown):
        return a is b and a is not dims.UNKNOWN
    if dims.known(a) or dims.known(b):
        return bool(dims.known(a) and dims.known(b) and a == b)
    return bool(a.same(b))


def _violation(kind: str, a: Any, b: Any) -> n.Expr:
    a, b = n.as_expr(a, n.INDEX), n.as_expr(b, n.INDEX)
    if kind == "eq":
        return a != b
    if kind == "ge":
        return a < b
    if kind == "divisible":
        return (b == 0) | (a % n.select(b == 0, 1, b) != 0)
    if kind == "broadcast":
        return (a != b) & (a != 1) & (b != 1)
    if kind == "stretch":
        return (a != b) & (a != 1)
    raise TypeError(kind)
