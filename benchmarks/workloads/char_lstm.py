"""A language model of characters: two layers of LSTM over whole sequences; 65 characters, size 128, batch 32, 64 steps, Adam."""

from .common import fill_paddle, integers, paddle_step

CASES = {"train": "a step of Adam"}
WORDS, SIZE, BATCH, STEPS, RATE = 65, 128, 32, 64, 0.002
X, Y = integers(1, WORDS, BATCH, STEPS), integers(2, WORDS, BATCH, STEPS)


def on_paddle(paddle, stage, case):
    nn = paddle.nn

    class Model(nn.Layer):
        def __init__(self):
            super().__init__()
            self.embedding, self.lstm = nn.Embedding(WORDS, SIZE), nn.LSTM(SIZE, SIZE, num_layers=2)
            self.linear = nn.Linear(SIZE, WORDS)

        def forward(self, words):
            outputs, _ = self.lstm(self.embedding(words))
            return self.linear(outputs)

    model = fill_paddle(paddle, Model())
    optimizer = paddle.optimizer.Adam(RATE, parameters=model.parameters())
    model, x, y, loss = stage(model), paddle.to_tensor(X), paddle.to_tensor(Y), nn.CrossEntropyLoss()
    return paddle_step(stage, lambda: loss(model(x), y), optimizer)
