"""A language model of two LSTM cells with a loop over time; 10,000 words, size 200, batch 20, 20 steps."""

from .common import Parameters, fill_paddle, fill_torch, integers, jax_cross_entropy, jax_step, paddle_step, torch_step

CASES = {"train": "a step of SGD"}
WORDS, SIZE, BATCH, STEPS, RATE = 10_000, 200, 20, 20, 0.1
X, Y = integers(1, WORDS, STEPS, BATCH), integers(2, WORDS, STEPS, BATCH)


def on_paddle(paddle, stage, case):
    nn = paddle.nn

    class Model(nn.Layer):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(WORDS, SIZE)
            self.cell1, self.cell2 = nn.LSTMCell(SIZE, SIZE), nn.LSTMCell(SIZE, SIZE)
            self.linear = nn.Linear(SIZE, WORDS)

        def forward(self, words):
            zeros = paddle.zeros([words.shape[1], SIZE])
            state1, state2 = (zeros, zeros), (zeros, zeros)
            outputs = []
            for x in self.embedding(words):
                h, state1 = self.cell1(x, state1)
                h, state2 = self.cell2(h, state2)
                outputs.append(h)
            return self.linear(paddle.stack(outputs))

    model = fill_paddle(paddle, Model())
    optimizer = paddle.optimizer.SGD(RATE, parameters=model.parameters())
    model, x, y, loss = stage(model), paddle.to_tensor(X), paddle.to_tensor(Y), nn.CrossEntropyLoss()
    return paddle_step(stage, lambda: loss(model(x), y), optimizer)


def on_torch(torch, stage, case):
    nn = torch.nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(WORDS, SIZE)
            self.cell1, self.cell2 = nn.LSTMCell(SIZE, SIZE), nn.LSTMCell(SIZE, SIZE)
            self.linear = nn.Linear(SIZE, WORDS)

        def forward(self, words):
            zeros = torch.zeros([words.shape[1], 200])
            state1, state2 = (zeros, zeros), (zeros, zeros)
            outputs = []
            for x in self.embedding(words):
                state1 = self.cell1(x, state1)
                state2 = self.cell2(state1[0], state2)
                outputs.append(state2[0])
            return self.linear(torch.stack(outputs))

    model = fill_torch(torch, Model())
    optimizer = torch.optim.SGD(model.parameters(), RATE)
    model, x, y, loss = stage(model), torch.tensor(X), torch.tensor(Y), nn.CrossEntropyLoss()
    return torch_step(lambda: loss(model(x).flatten(0, 1), y.flatten()), optimizer)


def on_jax(jax, case):
    jnp, draw = jax.numpy, Parameters()

    def cell_parameters():
        return draw(4 * SIZE, SIZE), draw(4 * SIZE, SIZE), draw(4 * SIZE), draw(4 * SIZE)

    parameters = draw(WORDS, SIZE), cell_parameters(), cell_parameters(), draw.linear(SIZE, WORDS)

    def cell(parameters, x, state):
        w, u, b, c = parameters
        h, memory = state
        i, f, g, o = jnp.split(x @ w.T + h @ u.T + b + c, 4, axis=1)
        memory = jax.nn.sigmoid(f) * memory + jax.nn.sigmoid(i) * jnp.tanh(g)
        return jax.nn.sigmoid(o) * jnp.tanh(memory), memory

    def loss(parameters, words, labels):
        embedding, first, second, (w, b) = parameters

        def over_time(states, x):
            state1 = cell(first, x, states[0])
            state2 = cell(second, state1[0], states[1])
            return (state1, state2), state2[0]

        zeros = jnp.zeros((BATCH, SIZE))
        _, outputs = jax.lax.scan(over_time, ((zeros, zeros), (zeros, zeros)), embedding[words])
        return jax_cross_entropy(jax, outputs @ w + b, labels)

    return jax_step(jax, loss, parameters, (X, Y), RATE)
