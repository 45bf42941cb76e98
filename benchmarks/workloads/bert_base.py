"""BERT base: 12 layers, size 768, 12 heads, 3,072 inside; one sequence of 128 words."""

import numpy as np

from .common import fill_paddle, fill_torch, given, integers, jax_call, jax_parameters
from .transformer_encoder import jax_encoder, jax_layer_norm

CASES = {"infer": "inference"}
LAYERS, SIZE, HEADS, INSIDE, WORDS, LENGTH, PLACES = 12, 768, 12, 3072, 30522, 128, 512
X = integers(1, WORDS, 1, LENGTH)
POSITIONS, SEGMENTS = np.arange(LENGTH)[None], np.zeros((1, LENGTH), "int64")


def on_paddle(paddle, stage, case):
    nn = paddle.nn

    class Bert(nn.Layer):
        def __init__(self):
            super().__init__()
            self.words, self.places, self.segments = nn.Embedding(WORDS, SIZE), nn.Embedding(PLACES, SIZE), nn.Embedding(2, SIZE)
            self.norm = nn.LayerNorm(SIZE)
            layer = nn.TransformerEncoderLayer(SIZE, HEADS, INSIDE, dropout=0.0, activation="gelu")
            self.encoder = nn.TransformerEncoder(layer, LAYERS)
            self.pooler = nn.Linear(SIZE, SIZE)

        def forward(self, x, places, segments):
            x = self.norm(self.words(x) + self.places(places) + self.segments(segments))
            x = self.encoder(x)
            return x, paddle.tanh(self.pooler(x[:, 0]))

    model = fill_paddle(paddle, Bert())
    model.eval()
    model, inputs = stage(model), [paddle.to_tensor(a) for a in (X, POSITIONS, SEGMENTS)]
    return paddle.no_grad()(lambda: model(*inputs))


def on_torch(torch, stage, case):
    nn = torch.nn

    class Bert(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.places, self.segments = nn.Embedding(WORDS, SIZE), nn.Embedding(PLACES, SIZE), nn.Embedding(2, SIZE)
            self.norm = nn.LayerNorm(SIZE)
            layer = nn.TransformerEncoderLayer(SIZE, HEADS, INSIDE, dropout=0.0, activation="gelu", batch_first=True)
            self.encoder = nn.TransformerEncoder(layer, LAYERS)
            self.pooler = nn.Linear(SIZE, SIZE)

        def forward(self, x, places, segments):
            x = self.norm(self.words(x) + self.places(places) + self.segments(segments))
            x = self.encoder(x)
            return x, torch.tanh(self.pooler(x[:, 0]))

    model = fill_torch(torch, Bert())
    model.eval()
    model, inputs = stage(model), [torch.tensor(a) for a in (X, POSITIONS, SEGMENTS)]
    return torch.no_grad()(lambda: model(*inputs))


def on_jax(jax, case):
    def forward(make, x, places, segments):
        x = make(WORDS, SIZE)[x] + make(PLACES, SIZE)[places] + make(2, SIZE)[segments]
        x = jax_layer_norm(jax, make, x)
        x = jax_encoder(jax, make, x, LAYERS, HEADS, INSIDE, lambda x: jax.nn.gelu(x, approximate=False))
        return x, jax.numpy.tanh(x[:, 0] @ make(SIZE, SIZE) + make(SIZE))

    inputs = X, POSITIONS, SEGMENTS
    parameters = jax_parameters(jax, forward, *inputs)
    return jax_call(jax, lambda parameters, *inputs: forward(given(parameters), *inputs), parameters, *inputs)
