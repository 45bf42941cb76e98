"""A small U-Net that learns to take noise away: images of 16 x 16, 32 and 64 channels, times, attention, batch 16, Adam."""

import numpy as np

from .common import fill_paddle, normal, paddle_step

CASES = {"train": "a step of Adam"}
BATCH, SIZE, CHANNELS, HEADS, GROUPS, RATE = 16, 16, 32, 4, 8, 0.001
X, NOISE, TIMES = normal(1, BATCH, 1, SIZE, SIZE), normal(2, BATCH, 1, SIZE, SIZE), np.linspace(0, 1, BATCH, dtype="float32")


def on_paddle(paddle, stage, case):
    nn, functional = paddle.nn, paddle.nn.functional

    class Block(nn.Layer):
        def __init__(self, before, after):
            super().__init__()
            self.norm1, self.conv1 = nn.GroupNorm(GROUPS, before), nn.Conv2D(before, after, 3, padding=1)
            self.time = nn.Linear(CHANNELS, after)
            self.norm2, self.conv2 = nn.GroupNorm(GROUPS, after), nn.Conv2D(after, after, 3, padding=1)
            self.skip = nn.Conv2D(before, after, 1)

        def forward(self, x, time):
            h = self.conv1(functional.silu(self.norm1(x))) + self.time(time).unsqueeze([2, 3])
            return self.conv2(functional.silu(self.norm2(h))) + self.skip(x)

    class Attention(nn.Layer):
        def __init__(self, size):
            super().__init__()
            self.norm, self.project, self.out = nn.GroupNorm(GROUPS, size), nn.Linear(size, 3 * size), nn.Linear(size, size)

        def forward(self, x):
            b, c, h, w = x.shape
            heads = self.project(self.norm(x).flatten(2).transpose([0, 2, 1])).reshape([b, h * w, 3, HEADS, c // HEADS])
            q, k, v = (heads[:, :, i].transpose([0, 2, 1, 3]) for i in range(3))
            weights = functional.softmax(paddle.matmul(q, k, transpose_y=True) * (c // HEADS) ** -0.5, axis=-1)
            y = self.out(paddle.matmul(weights, v).transpose([0, 2, 1, 3]).reshape([b, h * w, c]))
            return x + y.transpose([0, 2, 1]).reshape([b, c, h, w])

    class UNet(nn.Layer):
        def __init__(self):
            super().__init__()
            self.time = nn.Sequential(nn.Linear(CHANNELS, CHANNELS), nn.Silu(), nn.Linear(CHANNELS, CHANNELS))
            self.first, self.down = nn.Conv2D(1, CHANNELS, 3, padding=1), Block(CHANNELS, CHANNELS)
            self.smaller = nn.Conv2D(CHANNELS, 2 * CHANNELS, 3, stride=2, padding=1)
            self.middle, self.attention = Block(2 * CHANNELS, 2 * CHANNELS), Attention(2 * CHANNELS)
            self.up, self.last = Block(3 * CHANNELS, CHANNELS), nn.Conv2D(CHANNELS, 1, 3, padding=1)

        def forward(self, x, time):
            rates = paddle.exp(paddle.arange(CHANNELS // 2, dtype="float32") * (-5.0 / CHANNELS))
            angles = time.unsqueeze(1) * 100.0 * rates.unsqueeze(0)
            time = self.time(paddle.concat([paddle.sin(angles), paddle.cos(angles)], axis=1))
            wide = self.down(self.first(x), time)
            small = self.attention(self.middle(self.smaller(wide), time))
            large = functional.interpolate(small, scale_factor=2, mode="nearest")
            return self.last(self.up(paddle.concat([large, wide], axis=1), time))

    model = fill_paddle(paddle, UNet())
    optimizer = paddle.optimizer.Adam(RATE, parameters=model.parameters())
    model, mse = stage(model), nn.MSELoss()
    x, noise, times = (paddle.to_tensor(a) for a in (X, NOISE, TIMES))

    def loss():
        kept = (1.0 - times).reshape([BATCH, 1, 1, 1])
        return mse(model(x * kept.sqrt() + noise * (1.0 - kept).sqrt(), times), noise)

    return paddle_step(stage, loss, optimizer)
