"""Three linear layers, the second of which is used only where the data say so; 128-256-256-1, batch 64."""

from .common import Parameters, fill_paddle, fill_torch, jax_step, normal, paddle_step, torch_step

CASES = {"train": "a step of SGD"}
BATCH, INPUT, HIDDEN, RATE = 64, 128, 256, 0.01
X, Y = normal(1, BATCH, INPUT), normal(2, BATCH, 1)


def on_paddle(paddle, stage, case):
    nn, relu = paddle.nn, paddle.nn.functional.relu

    class Model(nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear1, self.linear2, self.linear3 = nn.Linear(INPUT, HIDDEN), nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, 1)

        def forward(self, x):
            x = relu(self.linear1(x))
            if x.mean() > 0.1:
                x = relu(self.linear2(x))
            return self.linear3(x)

    model = fill_paddle(paddle, Model())
    optimizer = paddle.optimizer.SGD(RATE, parameters=model.parameters())
    model, x, y, mse = stage(model), paddle.to_tensor(X), paddle.to_tensor(Y), nn.MSELoss()
    return paddle_step(stage, lambda: mse(model(x), y), optimizer)


def on_torch(torch, stage, case):
    nn = torch.nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear1, self.linear2, self.linear3 = nn.Linear(INPUT, HIDDEN), nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, 1)

        def forward(self, x):
            x = torch.relu(self.linear1(x))
            if x.mean() > 0.1:
                x = torch.relu(self.linear2(x))
            return self.linear3(x)

    model = fill_torch(torch, Model())
    optimizer = torch.optim.SGD(model.parameters(), RATE)
    model, x, y, mse = stage(model), torch.tensor(X), torch.tensor(Y), nn.MSELoss()
    return torch_step(lambda: mse(model(x), y), optimizer)


def on_jax(jax, case):
    draw = Parameters()
    parameters = [draw.linear(INPUT, HIDDEN), draw.linear(HIDDEN, HIDDEN), draw.linear(HIDDEN, 1)]

    def linear(p, x):
        return x @ p[0] + p[1]

    def loss(parameters, x, y):
        first, second, third = parameters
        x = jax.nn.relu(linear(first, x))
        x = jax.lax.cond(x.mean() > 0.1, lambda x: jax.nn.relu(linear(second, x)), lambda x: x, x)
        return ((linear(third, x) - y) ** 2).mean()

    return jax_step(jax, loss, parameters, (X, Y), RATE)
