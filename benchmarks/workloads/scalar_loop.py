"""Two counters, one of them faster, until they meet: 100,000 iterations on tensors of one element."""

import numpy as np

from .common import jax_call

CASES = {"infer": "both counters"}
FIRST, SECOND = np.zeros(1, "float32"), np.full(1, 100_000, "float32")


def on_paddle(paddle, stage, case):
    def counters(first, second):
        while first < second:
            first = first + 2
            second = second + 1
        return first, second

    counters = stage(counters)
    first, second = paddle.to_tensor(FIRST), paddle.to_tensor(SECOND)
    return paddle.no_grad()(lambda: counters(first, second))


def on_torch(torch, stage, case):
    def counters(first, second):
        while bool(first < second):
            first = first + 2
            second = second + 1
        return first, second

    counters = stage(counters)
    first, second = torch.tensor(FIRST), torch.tensor(SECOND)
    return torch.no_grad()(lambda: counters(first, second))


def on_jax(jax, case):
    def counters(first, second):
        return jax.lax.while_loop(lambda s: (s[0] < s[1])[0], lambda s: (s[0] + 2, s[1] + 1), (first, second))

    return jax_call(jax, counters, FIRST, SECOND)
