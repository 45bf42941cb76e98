"""The corpus as files: each trace, with its gradient program, survives the wire format."""

import numpy as np
import pytest
from corpus import branches, loops, recursion
from dy2st_runtime import config
from dy2st_runtime.backward import append_backward
from dy2st_runtime.formats import program_from_bytes, program_to_bytes
from dy2st_runtime.ir import Program, Variable, clone_program, verify
from dy2st_runtime.ir.prune import prune
from dy2st_runtime.ops.control import ABSENT
from dy2st_runtime.reference import run_program
from three_ways import outcome

from dy2st import jit

CASES = [*branches.CASES, *loops.CASES, *recursion.CASES]


def results(program, feed, names):
    """The values of variables, or the type and message of the exception of the run."""
    try:
        values = run_program(program, feed, {"@RNG@": np.array([7, 0], np.int64)})
    except Exception as error:
        return type(error), getattr(error, "message", str(error))
    return [values[name] for name in names]


def same(a, b):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return a is b if a is ABSENT else a == b


def fits(arrays, shapes):
    return len(arrays) == len(shapes) and all(
        a.ndim == len(shape) and all(d in (-1, n) for d, n in zip(shape, a.shape, strict=True))
        for a, shape in zip(arrays, shapes, strict=True)
    )


@pytest.mark.parametrize(("function", "calls", "traces"), CASES, ids=[c[0].__name__ for c in CASES])
def test_program(function, calls, traces):
    with config.NO_JIT.override(True):  # traces are what is wanted: what their kernels give is compared by test_corpus.py
        static = jit.to_static(function)
        for values in calls:
            outcome(static, values)
    compared = 0
    for concrete in static.concrete_programs:
        program = Program()
        clone_program(concrete.program, program)
        block = program.global_block()
        inputs = [v.name for v in concrete.inputs]
        made = [v for v in concrete.outputs if isinstance(v, Variable)]
        targets = [block.var(v.name) for v in made if v.kind == "dense" and v.dtype.startswith("float")]
        wrt = [block.var(v.name) for v in concrete.wrt()]
        grads = append_backward(program, targets, wrt) if targets and wrt else []
        fetches = [*concrete.fetches, *(g.name for g in grads if g is not None)]
        verify(program)
        back = program_from_bytes(program_to_bytes(program, inputs, fetches))
        pruned = prune(program, inputs, fetches)
        verify(pruned)
        for values in calls:
            tensors = [
                np.asarray(v, np.float32) if isinstance(v, list) else np.asarray(v)
                for v in values
                if isinstance(v, list) or type(v) is int
            ]
            if not fits(tensors, concrete.shapes):
                continue  # another trace serves this call
            feed = dict(zip(inputs, tensors, strict=True))
            want = results(program, feed, fetches)
            assert same(results(back.program, feed, back.fetch_names), want), values
            assert same(results(pruned, feed, fetches), want), values
            compared += 1
    assert compared
