"""An autoencoder that decodes with the transposed weight of its encoder; 64-8-64, batch 256, Adam."""

from .common import Parameters, fill_paddle, fill_torch, normal, paddle_step, torch_step

CASES = {"train": "a step of Adam"}
BATCH, INPUT, HIDDEN, RATE = 256, 64, 8, 0.01
X = normal(1, BATCH, INPUT)


def on_paddle(paddle, stage, case):
    nn = paddle.nn

    class Model(nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(INPUT, HIDDEN, bias_attr=False)

        def forward(self, x):
            return paddle.matmul(self.linear(x), self.linear.weight, transpose_y=True)

    model = fill_paddle(paddle, Model())
    optimizer = paddle.optimizer.Adam(RATE, parameters=model.parameters())
    model, x, mse = stage(model), paddle.to_tensor(X), nn.MSELoss()
    return paddle_step(stage, lambda: mse(model(x), x), optimizer)


def on_torch(torch, stage, case):
    nn = torch.nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(INPUT, HIDDEN, bias=False)

        def forward(self, x):
            return self.linear(x) @ self.linear.weight

    model = fill_torch(torch, Model())
    optimizer = torch.optim.Adam(model.parameters(), RATE)
    model, x, mse = stage(model), torch.tensor(X), nn.MSELoss()
    return torch_step(lambda: mse(model(x), x), optimizer)


def on_jax(jax, case):
    jnp = jax.numpy

    def loss(w, x):
        return ((x @ w @ w.T - x) ** 2).mean()

    @jax.jit
    def update(w, m, v, t, x):
        value, g = jax.value_and_grad(loss)(w, x)
        m, v, t = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g, t + 1
        w = w - RATE * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8)
        return value, (w, m, v, t)

    x, w = jnp.asarray(X), jnp.asarray(Parameters()(INPUT, HIDDEN))
    state = w, jnp.zeros_like(w), jnp.zeros_like(w), jnp.zeros(())

    def step():
        nonlocal state
        value, state = update(*state, x)
        return value

    return step
