"""A greedy decoder: a GRU cell with attention over 20 places, 2,000 words, until all 16 sentences have ended (at most 60 steps)."""

from .common import Parameters, fill_paddle, fill_torch, jax_call, normal

CASES = {"infer": "the words"}
WORDS, SIZE, BATCH, PLACES, LIMIT = 2_000, 256, 16, 20, 60
END, HASTE = 0, 0.05  # the score of the word that ends a sentence grows with its length
MEMORY, STATE = normal(1, BATCH, PLACES, SIZE), normal(2, BATCH, SIZE)


def on_paddle(paddle, stage, case):
    nn, functional = paddle.nn, paddle.nn.functional

    class Decoder(nn.Layer):
        def __init__(self):
            super().__init__()
            self.embedding, self.cell = nn.Embedding(WORDS, SIZE), nn.GRUCell(2 * SIZE, SIZE)
            self.linear = nn.Linear(SIZE, WORDS)

        def forward(self, memory, h):
            word = paddle.ones([memory.shape[0]], "int64")
            ended = paddle.zeros([memory.shape[0]], "bool")
            end = functional.one_hot(paddle.to_tensor([END]), WORDS)
            words = []
            t = paddle.zeros([], "int64")
            while t < LIMIT and not ended.all():
                weights = functional.softmax(paddle.matmul(memory, h.unsqueeze(2)).squeeze(2))
                context = paddle.matmul(weights.unsqueeze(1), memory).squeeze(1)
                h, _ = self.cell(paddle.concat([self.embedding(word), context], axis=1), h)
                word = (self.linear(h) + end * (HASTE * t.astype("float32"))).argmax(axis=1)
                ended = paddle.logical_or(ended, word == END)
                words.append(word)
                t = t + 1
            return paddle.stack(words)

    model = stage(fill_paddle(paddle, Decoder()))
    memory, state = paddle.to_tensor(MEMORY), paddle.to_tensor(STATE)
    return paddle.no_grad()(lambda: model(memory, state))


def on_torch(torch, stage, case):
    nn = torch.nn

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.cell = nn.Embedding(WORDS, SIZE), nn.GRUCell(2 * SIZE, SIZE)
            self.linear = nn.Linear(SIZE, WORDS)
            self.register_buffer("end", nn.functional.one_hot(torch.tensor([END]), WORDS).float())

        def forward(self, memory, h):
            word = torch.ones([memory.shape[0]], dtype=torch.int64)
            ended = torch.zeros([memory.shape[0]], dtype=torch.bool)
            words = []
            t = 0
            while t < 60 and not bool(ended.all()):
                weights = torch.softmax(torch.matmul(memory, h.unsqueeze(2)).squeeze(2), dim=1)
                context = torch.matmul(weights.unsqueeze(1), memory).squeeze(1)
                h = self.cell(torch.cat([self.embedding(word), context], dim=1), h)
                word = (self.linear(h) + self.end * (0.05 * t)).argmax(dim=1)
                ended = torch.logical_or(ended, word == 0)
                words.append(word)
                t = t + 1
            return torch.stack(words)

    model = stage(fill_torch(torch, Decoder()))
    memory, state = torch.tensor(MEMORY), torch.tensor(STATE)
    return torch.no_grad()(lambda: model(memory, state))


def on_jax(jax, case):
    """Arrays do not grow: the words go into one of the greatest length."""
    jnp, draw = jax.numpy, Parameters()
    cell = 3 * SIZE, 2 * SIZE
    parameters = draw(WORDS, SIZE), (draw(*cell), draw(3 * SIZE, SIZE), draw(3 * SIZE), draw(3 * SIZE)), draw.linear(SIZE, WORDS)

    def gru(parameters, x, h):
        w, u, b, c = parameters
        (xr, xz, xn), (hr, hz, hn) = jnp.split(x @ w.T + b, 3, axis=1), jnp.split(h @ u.T + c, 3, axis=1)
        z = jax.nn.sigmoid(xz + hz)
        return z * h + (1 - z) * jnp.tanh(xn + jax.nn.sigmoid(xr + hr) * hn)

    def decode(parameters, memory, h):
        embedding, cell, (w, b) = parameters

        def body(state):
            t, h, word, ended, words = state
            weights = jax.nn.softmax(jnp.einsum("bps,bs->bp", memory, h))
            context = jnp.einsum("bp,bps->bs", weights, memory)
            h = gru(cell, jnp.concatenate([embedding[word], context], axis=1), h)
            word = (h @ w + b).at[:, END].add(HASTE * t).argmax(axis=1)
            return t + 1, h, word, ended | (word == END), words.at[t].set(word)

        start = 0, h, jnp.ones(BATCH, int), jnp.zeros(BATCH, bool), jnp.zeros((LIMIT, BATCH), int)
        t, *_, words = jax.lax.while_loop(lambda s: (s[0] < LIMIT) & ~s[3].all(), body, start)
        return words, t

    decoded = jax_call(jax, decode, parameters, MEMORY, STATE)

    def step():
        words, t = decoded()
        return words[: int(t)]

    return step
