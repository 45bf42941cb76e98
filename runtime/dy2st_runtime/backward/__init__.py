"""Reverse-mode gradients of Programs: `append_backward`, through `cond` and `while_loop` too.

- `api`: `append_backward`, what callers use.
- `activity`: which values a gradient can flow to.
- `sweep`: the reverse walk over the ops of one block, by `OpDef.grad`.
- `branch`: the rule of `cond`; `loop`: the rule of `while_loop`.
- `remat`: what a loop saves and what its gradient computes again.
"""

from .api import append_backward as append_backward
