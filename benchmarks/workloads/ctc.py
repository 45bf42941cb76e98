"""A reader of sequences, trained by CTC: two linear layers, 50 steps of 40 features, 20 classes, 10 labels, batch 16, Adam."""

import numpy as np

from .common import fill_paddle, integers, normal, paddle_step

CASES = {"train": "a step of Adam"}
STEPS, BATCH, INPUT, SIZE, CLASSES, LABELS, RATE = 50, 16, 40, 64, 20, 10, 0.01
X, Y = normal(1, STEPS, BATCH, INPUT), (1 + integers(2, CLASSES - 1, BATCH, LABELS)).astype("int32")
STEPS_OF, LABELS_OF = np.full(BATCH, STEPS), 5 + integers(3, LABELS - 4, BATCH)


def on_paddle(paddle, stage, case):
    nn = paddle.nn
    model = fill_paddle(paddle, nn.Sequential(nn.Linear(INPUT, SIZE), nn.ReLU(), nn.Linear(SIZE, CLASSES)))
    optimizer = paddle.optimizer.Adam(RATE, parameters=model.parameters())
    model, loss = stage(model), nn.CTCLoss(blank=0)
    x, y, steps, labels = (paddle.to_tensor(a) for a in (X, Y, STEPS_OF, LABELS_OF))
    return paddle_step(stage, lambda: loss(model(x), y, steps, labels), optimizer)
