"""The rules of the IR. In tests `verify` runs after every pass; on loading, it is what stands between a model file and the executor."""

from __future__ import annotations

from .. import dims
from ..errors import Dy2stError, VerifyError
from ..ops.control import covers
from .functions import tapes
from .program import Block, Function, Operator, Program
from .visit import reads


def verify(program: Program, *, types: bool = True) -> None:
    """Raises VerifyError, naming the op, if the Program breaks a rule.

    Checked: every op is known and has its slots and attributes; every name read is defined before, in the block or an
    enclosing one, also where a function that is called reads it; nothing but a persistable of the global block is assigned
    twice; sub-blocks have the params and results that their op needs; with `types`, the declared types admit what `infer` says.
    """
    seen: set[str] = set()
    block = program.global_block()
    defined = {v.name for v in block.vars.values() if v.persistable or v.is_data}
    _block(block, defined, seen, types)
    visible = {v.name for v in block.vars.values() if v.persistable} | tapes(block)
    for name, f in program.functions.items():
        if f.name != name or f.program is not program or f.block.parent is not block:
            raise VerifyError(f"function {name!r} is none of this program")
        _block(f.block, visible, seen, types)
        _results(f)


def _block(block: Block, outer: set[str], seen: set[str], types: bool) -> None:
    defined = set(outer)
    for name in block.params:
        _declare(name, block, defined, seen, None)
    for op in block.ops:
        _op(op, block, defined, seen, types)
    for name in block.results:
        if name not in defined:
            raise VerifyError(f"block {block.idx} yields {name!r}, which is not defined there")


def _results(f: Function) -> None:
    """Checks that the results of a function are of the types that its calls rely on."""
    if len(f.block.results) != len(f.result_types):
        raise VerifyError(f"function {f.name!r} yields {len(f.block.results)} values, {len(f.result_types)} are declared")
    for name, declared in zip(f.block.results, f.result_types, strict=True):
        if not covers(declared, f.block.var(name).type):
            raise VerifyError(f"function {f.name!r} yields {declared} by declaration, but {name!r} is {f.block.var(name).type}")


def _declare(name: str, block: Block, defined: set[str], seen: set[str], op: Operator | None) -> None:
    v = block.find_var(name)
    if v is None:
        raise _error(f"variable {name!r} is not declared", op)
    if not v.persistable:
        if name in seen:
            raise _error(f"variable {name!r} is assigned twice", op)
        if name not in block.vars:
            raise _error(f"variable {name!r} is assigned in block {block.idx} but declared outside it", op)
    seen.add(name)
    defined.add(name)


def _error(message: str, op: Operator | None) -> VerifyError:
    if op is None:
        return VerifyError(message)
    return VerifyError(f"{message}, in {op!r}", location=op.location)


def _op(op: Operator, block: Block, defined: set[str], seen: set[str], types: bool) -> None:
    record = op.record  # UnknownOpError if there is none
    for given, slots, kind in ((op.inputs, record.input_slots, "input"), (op.outputs, record.output_slots, "output")):
        extra = set(given) - {s.name for s in slots}
        if extra:
            raise _error(f"{op.type} has no {kind} slot {sorted(extra)[0]!r}", op)
    for slot in record.input_slots:
        names = op.input(slot.name)
        if not slot.many and len(names) > 1:
            raise _error(f"slot {slot.name} takes one variable, got {len(names)}", op)
        if not slot.many and not slot.optional and not names:
            raise _error(f"slot {slot.name} is missing", op)
        for name in names:
            if name not in defined:
                raise _error(f"{name!r} is read before it is defined", op)
    missing = set(record.attrs) - set(op.attrs)
    if missing:
        raise _error(f"attribute {sorted(missing)[0]!r} is missing", op)
    for name, attr in record.attrs.items():
        if attr.kind == "FUNCTION":
            function = op.attrs[name]
            if not isinstance(function, Function) or block.program.functions.get(function.name) is not function:
                raise _error(f"attribute {name!r} must be a function of the program", op)
            hidden = [n for n in reads(op) if n not in defined]
            if hidden:
                raise _error(f"function {function.name!r} reads {hidden[0]!r}, which is not defined yet", op)
        elif attr.kind == "BLOCK":
            sub = op.attrs[name]
            if not isinstance(sub, Block) or sub.parent is not block:
                raise _error(f"attribute {name!r} must be a block whose parent is block {block.idx}", op)
            _block(sub, defined, seen, types)
    if types:
        _types(op, block)
    for name in op.output_names:
        _declare(name, block, defined, seen, op)


def _types(op: Operator, block: Block) -> None:
    record = op.record
    ins: list = []
    for slot in record.input_slots:
        ts = [block.var(n).type for n in op.input(slot.name)]
        ins.append(ts if slot.many else (ts[0] if ts else None))
    if not record.takes_arrays:
        name = next((n for n in op.input_names if block.var(n).kind == "array"), None)
        if name is not None:
            raise _error(f"{op.type} takes no TensorArray, which {name!r} is", op)
    try:
        outs = record.infer_types(tuple(ins), op.attrs)
    except VerifyError:
        raise
    except Dy2stError as error:
        raise _error(f"types do not fit: {error.message}", op) from error
    for slot, t in zip(record.output_slots, outs, strict=True):
        names = op.output(slot.name)
        ts = [] if t is None else (t if slot.many else [t])
        if len(names) > len(ts) or (slot.many and len(names) < len(ts)):
            raise _error(f"slot {slot.name} yields {len(ts)} values, {len(names)} named", op)
        for name, inferred in zip(names, ts, strict=False):
            v = block.var(name)
            declared = v.type
            if (
                inferred.kind != declared.kind
                or inferred.dtype != declared.dtype
                or not _admits(declared.shape, inferred.shape)
            ):
                raise _error(f"{name!r} is declared {declared} but is {inferred}", op)


def _admits(declared: tuple, inferred: tuple) -> bool:
    """Whether a value of the inferred shape may be held by a variable of the declared one: same rank, no two known sizes differ."""
    if len(declared) != len(inferred):
        return False
    return all(not (dims.known(a) and dims.known(b)) or a == b for a, b in zip(declared, inferred, strict=True))
