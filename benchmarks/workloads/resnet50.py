"""ResNet-50 for 1,000 classes."""

from .common import (
    fill_paddle,
    fill_torch,
    given,
    integers,
    jax_batch_norm,
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

CASES = {"train": "a step of SGD, batch 4, 112 x 112", "infer1": "inference, batch 1, 224 x 224", "infer8": "inference, batch 8, 224 x 224"}
RATE = 0.00001  # from such parameters larger steps go where rounding decides
STAGES = (3, 4, 6, 3)


def data(case):
    batch, size = {"train": (4, 112), "infer1": (1, 224), "infer8": (8, 224)}[case]
    return normal(1, batch, 3, size, size), integers(2, 1000, batch)


def on_paddle(paddle, stage, case):
    model = fill_paddle(paddle, paddle.vision.models.resnet50())
    x, labels = map(paddle.to_tensor, data(case))
    if case == "train":
        optimizer = paddle.optimizer.SGD(RATE, parameters=model.parameters())
        model, loss = stage(model), paddle.nn.CrossEntropyLoss()
        return paddle_step(stage, lambda: loss(model(x), labels), optimizer)
    model.eval()
    model = stage(model)
    return paddle.no_grad()(lambda: model(x))


def torch_model(torch):
    """The model as torchvision has it."""
    nn = torch.nn

    class Bottleneck(nn.Module):
        def __init__(self, inputs, width, stride):
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width)
            self.conv2, self.bn2 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
            self.conv3, self.bn3 = nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)
            self.downsample = nn.Identity()
            if stride != 1 or inputs != 4 * width:
                self.downsample = nn.Sequential(nn.Conv2d(inputs, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))

        def forward(self, x):
            out = torch.relu(self.bn1(self.conv1(x)))
            out = torch.relu(self.bn2(self.conv2(out)))
            return torch.relu(self.bn3(self.conv3(out)) + self.downsample(x))

    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    size = 64
    for i, blocks in enumerate(STAGES):
        for j in range(blocks):
            layers.append(Bottleneck(size, 64 << i, 2 if i > 0 and j == 0 else 1))
            size = 256 << i
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(size, 1000))


def on_torch(torch, stage, case):
    model = fill_torch(torch, torch_model(torch))
    x, labels = map(torch.tensor, data(case))
    if case == "train":
        optimizer = torch.optim.SGD(model.parameters(), RATE)
        model, loss = stage(model), torch.nn.CrossEntropyLoss()
        return torch_step(lambda: loss(model(x), labels), optimizer)
    model.eval()
    model = stage(model)
    return torch.no_grad()(lambda: model(x))


def on_jax(jax, case):
    relu, train = jax.nn.relu, case == "train"

    def conv_norm(make, x, filters, size, stride=1):
        x = jax_conv(jax, x, make(filters, x.shape[-1], size, size), stride, size // 2)
        return jax_batch_norm(jax, make, x, train)

    def forward(make, x):
        x = jax_max_pool(jax, relu(conv_norm(make, x, 64, 7, 2)), 3, 2, 1)
        for i, blocks in enumerate(STAGES):
            for j in range(blocks):
                width, stride = 64 << i, 2 if i > 0 and j == 0 else 1
                out = relu(conv_norm(make, x, width, 1))
                out = relu(conv_norm(make, out, width, 3, stride))
                out = conv_norm(make, out, 4 * width, 1)
                x = relu(out + (conv_norm(make, x, 4 * width, 1, stride) if j == 0 else x))
        return x.mean((1, 2)) @ make(2048, 1000) + make(1000)

    def loss(parameters, x, labels):
        return jax_cross_entropy(jax, forward(given(parameters), x), labels)

    x, labels = data(case)
    x = x.transpose(0, 2, 3, 1)
    parameters = jax_parameters(jax, forward, x)
    if train:
        return jax_step(jax, loss, parameters, (x, labels), RATE)
    return jax_call(jax, lambda parameters, x: forward(given(parameters), x), parameters, x)
