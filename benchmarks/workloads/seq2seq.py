"""Translation with attention: a GRU reads 20 words, a GRU cell writes 20 with attention; 1,000 words, size 128, batch 32, Adam."""

from .common import fill_paddle, integers, paddle_step

CASES = {"train": "a step of Adam"}
WORDS, SIZE, BATCH, STEPS, RATE = 1000, 128, 32, 20, 0.001
X, Y, NEXT = integers(1, WORDS, BATCH, STEPS), integers(2, WORDS, BATCH, STEPS), integers(3, WORDS, BATCH, STEPS)


def on_paddle(paddle, stage, case):
    nn, functional = paddle.nn, paddle.nn.functional

    class Model(nn.Layer):
        def __init__(self):
            super().__init__()
            self.source, self.target = nn.Embedding(WORDS, SIZE), nn.Embedding(WORDS, SIZE)
            self.encoder, self.cell = nn.GRU(SIZE, SIZE), nn.GRUCell(2 * SIZE, SIZE)
            self.query, self.linear = nn.Linear(SIZE, SIZE), nn.Linear(SIZE, WORDS)

        def forward(self, words, targets):
            memory, states = self.encoder(self.source(words))
            h, inputs, outputs = states[0], self.target(targets), []
            for t in range(inputs.shape[1]):
                scores = paddle.matmul(memory, self.query(h).unsqueeze(2)).squeeze(2)
                weights = functional.softmax(scores, axis=-1)
                context = paddle.matmul(weights.unsqueeze(1), memory).squeeze(1)
                h, _ = self.cell(paddle.concat([inputs[:, t], context], axis=-1), h)
                outputs.append(self.linear(h))
            return paddle.stack(outputs, axis=1)

    model = fill_paddle(paddle, Model())
    optimizer = paddle.optimizer.Adam(RATE, parameters=model.parameters())
    model, loss = stage(model), nn.CrossEntropyLoss()
    x, y, following = (paddle.to_tensor(a) for a in (X, Y, NEXT))
    return paddle_step(stage, lambda: loss(model(x, y), following), optimizer)
