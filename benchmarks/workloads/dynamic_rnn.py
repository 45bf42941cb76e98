"""A recurrent network that stops as soon as its outputs have summed up to a limit; size 64, batch 8, some 60 of 100 steps."""

from .common import Parameters, fill_paddle, fill_torch, jax_call, normal

CASES = {"infer": "the last state and the step", "grad": "gradients of all weights"}
SIZE, BATCH, STEPS, LIMIT = 64, 8, 100, 25.0
X = normal(1, STEPS, BATCH, SIZE)


def on_paddle(paddle, stage, case):
    nn = paddle.nn

    class Model(nn.Layer):
        def __init__(self):
            super().__init__()
            self.w, self.u = nn.Linear(SIZE, SIZE), nn.Linear(SIZE, SIZE)

        def forward(self, xs):
            h = paddle.zeros([xs.shape[1], SIZE])
            total = paddle.zeros([])
            t = paddle.zeros([], "int64")
            while t < xs.shape[0] and total < LIMIT:
                h = paddle.tanh(self.w(xs[t]) + self.u(h))
                total = total + (h * h).mean()
                t = t + 1
            return h, total, t

    model = stage(fill_paddle(paddle, Model()))
    x = paddle.to_tensor(X)
    if case == "infer":
        return paddle.no_grad()(lambda: model(x))

    def gradients():
        h, total, _ = model(x)
        (h.sum() + total).backward()
        grads = [p.grad.clone() for p in model.parameters()]
        model.clear_gradients()
        return grads

    return stage.step(gradients)


def on_torch(torch, stage, case):
    nn = torch.nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.w, self.u = nn.Linear(SIZE, SIZE), nn.Linear(SIZE, SIZE)

        def forward(self, xs):
            h = torch.zeros([xs.shape[1], 64])
            total = torch.zeros([])
            t = 0
            while t < xs.shape[0] and bool(total < 25.0):
                h = torch.tanh(self.w(xs[t]) + self.u(h))
                total = total + (h * h).mean()
                t = t + 1
            return h, total, torch.tensor(t)

    model = stage(fill_torch(torch, Model()))
    x, parameters = torch.tensor(X), [*model.parameters()]
    if case == "infer":
        return torch.no_grad()(lambda: model(x))

    def gradients():
        h, total, _ = model(x)
        w, b, u, c = torch.autograd.grad(h.sum() + total, parameters)
        return w.T, b, u.T, c

    return gradients


def on_jax(jax, case):
    """There is no gradient of `lax.while_loop`: for it all steps are done, and those after the stop are masked."""
    jnp, lax, draw = jax.numpy, jax.lax, Parameters()
    parameters = [draw.linear(SIZE, SIZE), draw.linear(SIZE, SIZE)]

    def step(parameters, x, h, total):
        (w, b), (u, c) = parameters
        h = jnp.tanh(x @ w + b + h @ u + c)
        return h, total + (h * h).mean()

    def forward(parameters, xs):
        start = jnp.zeros((BATCH, SIZE)), jnp.zeros(()), 0

        def more(state):
            return (state[2] < STEPS) & (state[1] < LIMIT)

        return lax.while_loop(more, lambda s: (*step(parameters, xs[s[2]], *s[:2]), s[2] + 1), start)

    def masked(parameters, xs):
        def over_time(state, x):
            new = step(parameters, x, *state)
            return jax.tree.map(lambda a, b: jnp.where(state[1] < LIMIT, a, b), new, state), None

        (h, total), _ = lax.scan(over_time, (jnp.zeros((BATCH, SIZE)), jnp.zeros(())), xs)
        return h.sum() + total

    if case == "infer":
        return jax_call(jax, forward, parameters, X)
    return jax_call(jax, jax.grad(masked), parameters, X)
