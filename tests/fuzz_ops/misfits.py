"""`python -m tests.fuzz_ops.misfits --seconds 600 --seed 0`: random programs whose sizes often do not fit, as only the run knows.

Each is a few operations on two vectors and two sizes, some in branches and loops, many of whose results nobody reads. It is called with
several sizes, eagerly and statically: by the interpreter after the passes, each `--native`-th natively. What eager mode gives, with its
gradients, a static function gives, or it refuses; where eager mode raises, so does it. `tests.fuzz_ops` itself writes programs that fit.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections import Counter
from random import Random
from typing import Any

import numpy as np

import dy2st as paddle
from dy2st import jit
from tests.fuzz.ways import OptimizedExecutable, compiled, executables

CALLS = [(3, 3, 2, 3), (3, 3, 3, 1), (1, 3, 1, 0), (3, 1, 3, 3), (2, 2, 2, 2), (4, 2, 1, 4), (3, 3, -1, 1), (0, 3, 0, 2), (2, 0, 1, 1),
         (5, 5, 5, 2)]  # fmt: skip
"""The lengths of x and y, and the values of n and m."""
SIZES = ["n", "m", "n + 1", "n * 0 + 1", "m - n", "x.shape[0]", "y.shape[0]", "2", "3", "1"]
EXPRESSIONS = [
    "A + B", "A * B", "A - B", "A / B.sum()", "A ** 2", "A.mean() * B", "A if A.sum() > B.sum() else B", "paddle.maximum(A, B)",
    "paddle.where(A > 0, A, B)", "paddle.tanh(A)", "A.sum()", "A.cumsum()", "A.flip(0)", "paddle.nn.functional.softmax(A)",
    "paddle.nn.functional.binary_cross_entropy(paddle.nn.functional.sigmoid(A), paddle.nn.functional.sigmoid(B))",
    "A[:K]", "A[K:]", "paddle.ones([K])", "A * paddle.ones([K])", "A + paddle.zeros([K]) * -1.0", "A ** paddle.full([K], 2.0)",
    "A.reshape([K])", "A.reshape([-1])", "A.reshape([K, -1]).reshape([-1])", "paddle.broadcast_to(A, [K])", "A.expand_as(B)",
    "paddle.tile(A, [K])", "paddle.concat([A, B])", "paddle.stack([A, B]).sum(0)", "paddle.split(A, [1, K])[1]",
    "paddle.gather(A, paddle.arange(K))", "A.dot(B) * A", "A.unsqueeze(0).matmul(B.unsqueeze(1)).reshape([-1])",
    "A.unsqueeze(1) * B.unsqueeze(0) @ B", "(A.unsqueeze(0) + B.unsqueeze(1)).mean(1)", "paddle.nn.functional.layer_norm(A, [3])",
]  # fmt: skip


def program(seed: int) -> str:
    """The program of a seed, a function of x, y, n and m."""
    rng = Random(seed)
    names, lines = ["x", "y"], []
    for i in range(rng.randint(2, 7)):
        a, v = rng.choice(names), f"v{i}"
        parts = {"A": a, "B": rng.choice(names), "K": rng.choice(SIZES)}
        kind = rng.random()
        if kind > 0.87 and rng.random() < 0.5:
            parts["A"] = v  # what the iteration before has left
        text = "".join(parts.get(c, c) for c in rng.choice(EXPRESSIONS))
        if kind < 0.75:
            lines.append(f"{v} = {text}")
        elif kind < 0.87:
            lines += [f"{v} = {a}", f"if x.sum() > {rng.choice([0, 100])}:", f"    {v} = {text}"]
        else:
            lines += [f"{v} = {a}", f"for _ in range({rng.choice(['n', 'm', '2'])}):", f"    {v} = {text}"]
        names.append(v)
    results = [name + rng.choice(["", " * 2"]) for name in rng.sample(names, rng.randint(1, 2))]
    head = "import dy2st as paddle\n\n\ndef program(x, y, n, m):\n"
    return head + "".join(f"    {line}\n" for line in lines) + f"    return [{', '.join(results)}]\n"


def outcome(function: Any, call: tuple[int, int, int, int]) -> list[np.ndarray] | Exception:
    """The results of a call and the gradients of both vectors, or its exception."""
    first, second, n, m = call
    x, y = (paddle.to_tensor(np.linspace(-1.0, 2.0, k, dtype=np.float32), stop_gradient=False) for k in (first, second))
    try:
        results = function(x, y, paddle.to_tensor(n), paddle.to_tensor(m))
        loss = sum([(r * r).sum() for r in results])
        if not loss.stop_gradient:
            loss.backward()
    except Exception as error:
        return error
    return [*(r.numpy() for r in results), *(np.zeros_like(t.numpy()) if t.grad is None else t.grad.numpy() for t in (x, y))]


def disagreement(seed: int, native: bool) -> tuple[str, Counter[str]]:
    """What a program shows ("" for nothing), and how its calls ended."""
    text, found = program(seed), Counter[str]()
    function = compiled(text)
    static = jit.to_static(function)
    with np.errstate(all="ignore"), contextlib.nullcontext() if native else executables(OptimizedExecutable):
        for call in Random(seed).sample(CALLS, 5):
            wanted, given = outcome(function, call), outcome(static, call)
            if isinstance(given, Exception):
                found["raised" if isinstance(wanted, Exception) else "refused"] += 1
            elif isinstance(wanted, Exception):
                return f"seed {seed}, call {call}: eager mode raises {wanted!r}, the static function gives {given}\n\n{text}", found
            elif not all(a.shape == b.shape and np.allclose(a, b, 5e-3, 1e-3, equal_nan=True) for a, b in zip(wanted, given, strict=True)):
                return f"seed {seed}, call {call}: {wanted} eagerly, {given} statically\n\n{text}", found
            else:
                found["same"] += 1
    return "", found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz_ops.misfits", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--native", type=int, default=10, help="each how many-th program is run natively (0: none)")
    options = parser.parse_args()
    seed, failures, end, total = options.seed, 0, time.monotonic() + options.seconds, Counter[str]()
    while time.monotonic() < end:
        shown, found = disagreement(seed, options.native > 0 and seed % options.native == 0)
        total += found
        failures += bool(shown)
        if shown:
            print(f"--- {shown}", flush=True)
        seed += 1
    print(f"seeds {options.seed} to {seed - 1}: {failures} disagreements, calls: {dict(total)}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
