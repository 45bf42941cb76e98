"""MobileNetV2 for 1,000 classes, 224 x 224."""

from .common import fill_paddle, fill_torch, given, jax_batch_norm, jax_call, jax_conv, jax_parameters, normal

CASES = {"infer1": "inference, batch 1", "infer8": "inference, batch 8"}
# expansion, channels, number of blocks, stride of the first
STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


def data(case):
    return normal(1, 1 if case == "infer1" else 8, 3, 224, 224)


def on_paddle(paddle, stage, case):
    model = fill_paddle(paddle, paddle.vision.models.mobilenet_v2())
    x = paddle.to_tensor(data(case))
    model.eval()
    model = stage(model)
    return paddle.no_grad()(lambda: model(x))


def torch_model(torch):
    """The model as torchvision has it."""
    nn = torch.nn

    def conv(inputs, out, size, stride=1, groups=1):
        return nn.Sequential(nn.Conv2d(inputs, out, size, stride, size // 2, groups=groups, bias=False), nn.BatchNorm2d(out), nn.ReLU6())

    class InvertedResidual(nn.Module):
        def __init__(self, inputs, out, stride, expansion):
            super().__init__()
            self.added, hidden = stride == 1 and inputs == out, inputs * expansion
            widening = [conv(inputs, hidden, 1)] if expansion != 1 else []
            self.conv = nn.Sequential(*widening, conv(hidden, hidden, 3, stride, hidden), nn.Conv2d(hidden, out, 1, bias=False),
                                      nn.BatchNorm2d(out))  # fmt: skip

        def forward(self, x):
            return x + self.conv(x) if self.added else self.conv(x)

    layers, size = [conv(3, 32, 3, 2)], 32
    for expansion, channels, blocks, stride in STAGES:
        for i in range(blocks):
            layers.append(InvertedResidual(size, channels, stride if i == 0 else 1, expansion))
            size = channels
    return nn.Sequential(*layers, conv(size, 1280, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(1280, 1000))


def on_torch(torch, stage, case):
    model = fill_torch(torch, torch_model(torch))
    x = torch.tensor(data(case))
    model.eval()
    model = stage(model)
    return torch.no_grad()(lambda: model(x))


def on_jax(jax, case):
    def conv(make, x, filters, size, stride=1, groups=1):
        x = jax_conv(jax, x, make(filters, x.shape[-1] // groups, size, size), stride, size // 2, groups)
        return jax_batch_norm(jax, make, x, train=False)

    def forward(make, x):
        x = jax.nn.relu6(conv(make, x, 32, 3, 2))
        for expansion, channels, blocks, stride in STAGES:
            for i in range(blocks):
                hidden = x.shape[-1] * expansion
                out = jax.nn.relu6(conv(make, x, hidden, 1)) if expansion != 1 else x
                out = jax.nn.relu6(conv(make, out, hidden, 3, stride if i == 0 else 1, hidden))
                out = conv(make, out, channels, 1)
                x = x + out if x.shape == out.shape else out
        x = jax.nn.relu6(conv(make, x, 1280, 1))
        return x.mean((1, 2)) @ make(1280, 1000) + make(1000)

    x = data(case).transpose(0, 2, 3, 1)
    parameters = jax_parameters(jax, forward, x)
    return jax_call(jax, lambda parameters, x: forward(given(parameters), x), parameters, x)
