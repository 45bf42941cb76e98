"""Two convolutions with pooling and a linear layer for images of 28 x 28; 20 and 50 filters of 5 x 5."""

from .common import (
    fill_paddle,
    fill_torch,
    given,
    integers,
    jax_call,
    jax_conv,
    jax_cross_entropy,
    jax_max_pool,
    jax_parameters,
    jax_step,
    normal,
    paddle_step,
    torch_step,
)

CASES = {"train": "a step of SGD, batch 64", "infer1": "inference, batch 1", "infer64": "inference, batch 64"}
RATE = 0.001


def data(case):
    batch = 1 if case == "infer1" else 64
    return normal(1, batch, 1, 28, 28), integers(2, 10, batch)


def on_paddle(paddle, stage, case):
    nn, relu = paddle.nn, paddle.nn.functional.relu

    class Model(nn.Layer):
        def __init__(self):
            super().__init__()
            self.conv1, self.conv2, self.pool = nn.Conv2D(1, 20, 5), nn.Conv2D(20, 50, 5), nn.MaxPool2D(2, 2)
            self.linear = nn.Linear(50 * 4 * 4, 10)

        def forward(self, x):
            x = self.pool(relu(self.conv1(x)))
            x = self.pool(relu(self.conv2(x)))
            return self.linear(x.flatten(1))

    model = fill_paddle(paddle, Model())
    x, labels = map(paddle.to_tensor, data(case))
    if case == "train":
        optimizer = paddle.optimizer.SGD(RATE, parameters=model.parameters())
        model, loss = stage(model), nn.CrossEntropyLoss()
        return paddle_step(stage, lambda: loss(model(x), labels), optimizer)
    model.eval()
    model = stage(model)
    return paddle.no_grad()(lambda: model(x))


def on_torch(torch, stage, case):
    nn = torch.nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.conv2, self.pool = nn.Conv2d(1, 20, 5), nn.Conv2d(20, 50, 5), nn.MaxPool2d(2, 2)
            self.linear = nn.Linear(50 * 4 * 4, 10)

        def forward(self, x):
            x = self.pool(torch.relu(self.conv1(x)))
            x = self.pool(torch.relu(self.conv2(x)))
            return self.linear(x.flatten(1))

    model = fill_torch(torch, Model())
    x, labels = map(torch.tensor, data(case))
    if case == "train":
        optimizer = torch.optim.SGD(model.parameters(), RATE)
        model, loss = stage(model), nn.CrossEntropyLoss()
        return torch_step(lambda: loss(model(x), labels), optimizer)
    model.eval()
    model = stage(model)
    return torch.no_grad()(lambda: model(x))


def on_jax(jax, case):
    def forward(make, x):
        for filters in (20, 50):
            x = jax.nn.relu(jax_conv(jax, x, make(filters, x.shape[-1], 5, 5)) + make(filters))
            x = jax_max_pool(jax, x, 2, 2)
        return x.transpose(0, 3, 1, 2).reshape(len(x), -1) @ make(50 * 4 * 4, 10) + make(10)

    def loss(parameters, x, labels):
        return jax_cross_entropy(jax, forward(given(parameters), x), labels)

    x, labels = data(case)
    x = x.transpose(0, 2, 3, 1)
    parameters = jax_parameters(jax, forward, x)
    if case == "train":
        return jax_step(jax, loss, parameters, (x, labels), RATE)
    return jax_call(jax, lambda parameters, x: forward(given(parameters), x), parameters, x)
