"""Hand-built Programs with functions that call themselves."""

from __future__ import annotations

from typing import Any

import dy2st_runtime.ops  # noqa: F401
import numpy as np
from dy2st_runtime.backward import append_backward
from dy2st_runtime.errors import Location
from dy2st_runtime.ir import IRBuilder, Program, Variable
from dy2st_runtime.ops.registry import TensorType

HERE = Location("model.py", 7, 4, function="chain", text="    return chain(x * w, n - 1) + x")


def chain() -> tuple[Program, Variable]:
    """`chain(x, n)`: x if n < 1, else chain(x * w, n - 1) + x; with data `x`, `n` and a persistable `w`."""
    program = Program()
    block = program.global_block()
    x = block.create_var("x", "float32", [2], is_data=True)
    n = block.create_var("n", "int64", [], is_data=True)
    w = block.create_var("w", "float32", [2], persistable=True)
    f = program.add_function("chain", [TensorType("float32", (2,))])
    b = IRBuilder(f.block, HERE)
    y, k = f.block.create_var("y", "float32", [2]), f.block.create_var("k", "int64", [])
    f.block.params = ["y", "k"]
    done = b.less_than(k, b.constant(1, "int64"))
    end, more = b.sub_block(), b.sub_block()
    end.results = ["y"]
    with b.inside(more):
        (rest,) = b.call([b.mul(y, w), b.scaled(k, 1.0, -1.0)], function=f)
        more.results = [b.add(rest, y).name]
    f.block.results = [out.name for out in b.cond(done, true_block=end, false_block=more)]
    (out,) = IRBuilder(block, HERE).call([x, n], function=f)
    return program, out


def fibonacci() -> tuple[Program, Variable, Variable]:
    """Fibonacci's number of the data `n`, and as many times the persistable `w`."""
    program = Program()
    block = program.global_block()
    n = block.create_var("n", "int64", [], is_data=True)
    w = block.create_var("w", "float32", [3], persistable=True)
    f = program.add_function("fibonacci", [TensorType("int64", ()), TensorType("float32", (3,))])
    b = IRBuilder(f.block, HERE)
    k = f.block.create_var("k", "int64", [])
    f.block.params = ["k"]
    small = b.less_than(k, b.constant(2, "int64"))
    end, more = b.sub_block(), b.sub_block()
    with b.inside(end):
        end.results = ["k", b.scaled(w, 1.0).name]
    with b.inside(more):
        a, v = b.call([b.scaled(k, 1.0, -1.0)], function=f)
        c, u = b.call([b.scaled(k, 1.0, -2.0)], function=f)
        more.results = [b.add(a, c).name, b.add(v, u).name]
    f.block.results = [out.name for out in b.cond(small, true_block=end, false_block=more)]
    number, times_w = IRBuilder(block, HERE).call([n], function=f)
    return program, number, times_w


def chain_with_gradients() -> tuple[Program, list[str]]:
    """`chain` with the gradients of its sum by x and w: the names of all three."""
    program, out = chain()
    block = program.global_block()
    grads = append_backward(program, [out], [block.var("x"), block.var("w")])
    return program, [out.name, *(g.name for g in grads if g is not None)]


def chain_by_hand(x: Any, n: int, w: Any) -> list[np.ndarray]:
    """What `chain_with_gradients` computes."""
    powers = [w**k for k in range(n + 1)]
    slopes = [k * w ** (k - 1) if k else w * 0 for k in range(n + 1)]
    return [x * sum(powers), np.ones(2) * sum(powers), x * sum(slopes)]
