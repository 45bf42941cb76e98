"""The encoder of the base Transformer: 6 layers, size 512, 8 heads, 2,048 inside; batch 4, length 64; without dropout."""

from .common import fill_paddle, fill_torch, given, jax_call, jax_parameters, jax_step, normal, paddle_step, torch_step

CASES = {"infer": "inference", "train": "a step of SGD"}
LAYERS, SIZE, HEADS, INSIDE, BATCH, LENGTH, RATE = 6, 512, 8, 2048, 4, 64, 0.01
X, Y = normal(1, BATCH, LENGTH, SIZE), normal(2, BATCH, LENGTH, SIZE)


def on_paddle(paddle, stage, case):
    nn = paddle.nn
    model = fill_paddle(paddle, nn.TransformerEncoder(nn.TransformerEncoderLayer(SIZE, HEADS, INSIDE, dropout=0.0), LAYERS))
    x, y = paddle.to_tensor(X), paddle.to_tensor(Y)
    if case == "train":
        optimizer = paddle.optimizer.SGD(RATE, parameters=model.parameters())
        model, loss = stage(model), nn.MSELoss()
        return paddle_step(stage, lambda: loss(model(x), y), optimizer)
    model.eval()
    model = stage(model)
    return paddle.no_grad()(lambda: model(x))


def on_torch(torch, stage, case):
    nn = torch.nn
    layer = nn.TransformerEncoderLayer(SIZE, HEADS, INSIDE, dropout=0.0, batch_first=True)
    model = fill_torch(torch, nn.TransformerEncoder(layer, LAYERS))
    x, y = torch.tensor(X), torch.tensor(Y)
    if case == "train":
        optimizer = torch.optim.SGD(model.parameters(), RATE)
        model, loss = stage(model), nn.MSELoss()
        return torch_step(lambda: loss(model(x), y), optimizer)
    model.eval()
    model = stage(model)
    return torch.no_grad()(lambda: model(x))


def jax_layer_norm(jax, make, x):
    scale, shift = make(x.shape[-1], around=1.0), make(x.shape[-1])
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * scale + shift


def jax_encoder(jax, make, x, layers, heads, inside, activation):
    """Layers of attention and of two linear layers, each added to its input and then normalized."""
    batch, length, size = x.shape

    def linear(x, out):
        return x @ make(x.shape[-1], out) + make(out)

    for _ in range(layers):
        # the parameters of the norms come last
        q, k, v = (linear(x, size).reshape(batch, length, heads, size // heads) for _ in range(3))
        scores = jax.numpy.einsum("bqhd,bkhd->bhqk", q, k) * (size // heads) ** -0.5
        mixed = jax.numpy.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(x.shape)
        attended = x + linear(mixed, size)
        w1, b1, w2, b2 = make(size, inside), make(inside), make(inside, size), make(size)
        x = jax_layer_norm(jax, make, attended)
        x = jax_layer_norm(jax, make, x + activation(x @ w1 + b1) @ w2 + b2)
    return x


def on_jax(jax, case):
    def forward(make, x):
        return jax_encoder(jax, make, x, LAYERS, HEADS, INSIDE, jax.nn.relu)

    def loss(parameters, x, y):
        return ((forward(given(parameters), x) - y) ** 2).mean()

    parameters = jax_parameters(jax, forward, X)
    if case == "train":
        return jax_step(jax, loss, parameters, (X, Y), RATE)
    return jax_call(jax, lambda parameters, x: forward(given(parameters), x), parameters, X)
