import pickle
from unittest import mock

import numpy as np
import pytest
from agreement import agree, normal
from dy2st_runtime import Predictor
from dy2st_runtime.passes import attention as attention_pass

import dy2st as paddle
import dy2st.nn.functional as F
from dy2st import Tensor, jit, nn
from dy2st.errors import AttributeValueError, ShapeError
from dy2st.jit import InputSpec


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def weights_of(layer):
    return {name: p.numpy().astype(np.float64) for name, p in layer.named_parameters()}


def attention(w, prefix, heads, query, memory, mask=None):
    """One head after the other, on slices of the projections; the weights too."""
    q, k, v = (x @ w[f"{prefix}{n}_proj.weight"] + w[f"{prefix}{n}_proj.bias"]
               for n, x in (("q", query), ("k", memory), ("v", memory)))  # fmt: skip
    size = q.shape[-1] // heads
    parts, weights = [], []
    for h in range(heads):
        cut = slice(h * size, (h + 1) * size)
        scores = np.einsum("bqd,bkd->bqk", q[..., cut], k[..., cut]) / np.sqrt(size)
        weights.append(softmax(scores if mask is None else scores + mask))
        parts.append(weights[-1] @ v[..., cut])
    out = np.concatenate(parts, -1) @ w[f"{prefix}out_proj.weight"] + w[f"{prefix}out_proj.bias"]
    return out, np.stack(weights, 1)


def layer_norm(w, name, x):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * w[f"{name}.weight"] + w[f"{name}.bias"]


def transformer_layer(w, prefix, heads, before, x, mask, memory=None):
    def norm(i, x):
        return layer_norm(w, f"{prefix}norm{i}", x)

    def feed_forward(x):
        h = np.maximum(x @ w[f"{prefix}linear1.weight"] + w[f"{prefix}linear1.bias"], 0)
        return h @ w[f"{prefix}linear2.weight"] + w[f"{prefix}linear2.bias"]

    parts = [lambda x: attention(w, f"{prefix}self_attn.", heads, x, x, mask)[0]]
    if memory is not None:
        parts.append(lambda x: attention(w, f"{prefix}cross_attn.", heads, x, memory)[0])
    for i, part in enumerate([*parts, feed_forward], 1):
        x = x + part(norm(i, x)) if before else norm(i, x + part(x))
    return x


def test_attention_against_numpy():
    layer = nn.MultiHeadAttention(6, 3, need_weights=True)
    query, memory = normal(2, 4, 6), normal(2, 5, 6, seed=1)
    mask = normal(4, 5, seed=2)
    expected, weights = attention(weights_of(layer), "", 3, query, memory, mask)
    out, found = layer(Tensor(query), Tensor(memory), Tensor(memory), Tensor(mask))
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.numpy(), weights, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mask", [np.tri(4, dtype=bool), np.tri(4, dtype=np.int64)])
def test_what_a_mask_leaves_out_counts_nothing(mask):
    layer, x = nn.MultiHeadAttention(4, 2), normal(1, 4, 4)
    y = layer(Tensor(x), attn_mask=Tensor(mask)).numpy()
    x[:, 3] = 100.0
    np.testing.assert_allclose(layer(Tensor(x), attn_mask=Tensor(mask)).numpy()[:, :3], y[:, :3], rtol=1e-5)


def test_other_sizes_of_keys_and_values():
    layer = nn.MultiHeadAttention(4, 2, kdim=3, vdim=5, bias_attr=False)
    assert [p.shape for p in layer.parameters()] == [[4, 4], [3, 4], [5, 4], [4, 4]]
    agree(layer, [(normal(2, 3, 4), normal(2, 2, 3), normal(2, 2, 5))], spec=[[None, None, n] for n in (4, 3, 5)])


def test_scaled_dot_product_attention():
    q, k, v = normal(2, 4, 3, 5), normal(2, 6, 3, 5, seed=1), normal(2, 6, 3, 5, seed=2)
    for options, mask in (({}, 0.0), ({"is_causal": True}, np.where(np.tri(4, 6) > 0, 0, -1e9))):
        expected = np.einsum("bhqk,bkhd->bqhd", softmax(np.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(5) + mask), v)
        found = F.scaled_dot_product_attention(Tensor(q), Tensor(k), Tensor(v), **options)
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-5)

    class Net(nn.Layer):
        def forward(self, q, k, v):
            return F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=0.3, training=self.training)

    agree(Net(), [(q, k, v), (q[:1, :2], k[:1, :3], v[:1, :3])], spec=[[None, None, 3, 5]] * 3)


def test_scaled_dot_product_attention_of_an_open_head_size():
    """The factor of the scores is the run's; without elements in a head there are no scores, and no division by zero."""
    for options in ({}, {"is_causal": True}):
        inputs = [[normal(2, n, 3, size, seed=n) for n in (4, 6, 6)] for size in (5, 7, 1)]
        agree(Attends(**options), inputs, spec=[[None, None, None, None]] * 3)
    empty = Tensor(np.zeros((1, 2, 1, 0), np.float32))
    values = Tensor(np.array([1.0, 3.0], np.float32).reshape(1, 2, 1, 1))
    for attends in (Attends(), jit.to_static(Attends())):
        assert attends(empty, empty, values).numpy().ravel().tolist() == [2.0, 2.0]


@pytest.mark.parametrize("before", [False, True])
def test_layers_against_numpy(before):
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(6, 2, 8, normalize_before=before), 2)
    decoder = nn.TransformerDecoderLayer(6, 3, 8, normalize_before=before)
    encoder.eval()
    decoder.eval()
    src, tgt, mask = normal(2, 5, 6), normal(2, 3, 6, seed=1), normal(5, 5, seed=2)
    x = src
    for i in range(2):
        x = transformer_layer(weights_of(encoder), f"layers.{i}.", 2, before, x, mask)
    memory = encoder(Tensor(src), Tensor(mask))
    np.testing.assert_allclose(memory.numpy(), x, rtol=1e-4, atol=1e-5)
    x = transformer_layer(weights_of(decoder), "", 3, before, tgt, None, memory.numpy())
    np.testing.assert_allclose(decoder(Tensor(tgt), memory).numpy(), x, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("training", [True, False])
def test_static(training):
    model = nn.Transformer(4, 2, 2, 1, 8, dropout=0.2, activation="gelu")
    model.train() if training else model.eval()
    calls = [(normal(2, 5, 4), normal(2, 3, 4, seed=1)), (normal(1, 2, 4), normal(1, 4, 4, seed=1))]
    agree(model, calls, spec=[[None, None, 4]] * 2)


def test_dropout_of_nothing_is_no_op():
    model = paddle.jit.to_static(nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), 1))
    model(Tensor(normal(2, 3, 4)))
    assert not [op for op in model.forward.concrete_program.program.global_block().ops if "dropout" in op.type]


def test_static_with_masks():
    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), 1)

        def forward(self, x, ids):
            mask = (ids != 0).unsqueeze([1, 2])
            return self.encoder(x, mask)

    agree(Net(), [(normal(2, 3, 4), np.array([[1, 2, 0], [3, 0, 0]])), (normal(1, 2, 4), np.array([[1, 0]]))])


@pytest.mark.parametrize("make", [
    lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, normalize_before=True), 2, nn.LayerNorm(4)),
    lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8), 2),
])  # fmt: skip
def test_step_by_step_with_a_cache(make):
    model = make()
    model.eval()
    memory = [Tensor(normal(2, 3, 4, seed=1))] if isinstance(model, nn.TransformerDecoder) else []
    x = Tensor(normal(2, 5, 4))
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    expected = model(x, *memory, mask).numpy()

    def steps(x, *memory):
        cache, outputs = model.gen_cache(*(memory or [x])), []
        for i in range(5):
            out, cache = model(x[:, i : i + 1], *memory, cache=cache)
            outputs.append(out)
        return paddle.concat(outputs, 1)

    np.testing.assert_allclose(steps(x, *memory).numpy(), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(jit.to_static(steps)(x, *memory).numpy(), expected, rtol=1e-4, atol=1e-5)


def test_caches():
    attention = nn.MultiHeadAttention(4, 2)
    x = Tensor(normal(2, 3, 4))
    own = attention.gen_cache(x)
    assert isinstance(own, nn.MultiHeadAttention.Cache)
    assert own.k.shape == own.v.shape == [2, 2, 0, 2]
    static = attention.gen_cache(x, x, type=nn.MultiHeadAttention.StaticCache)
    assert static.k.shape == [2, 2, 3, 2]
    np.testing.assert_allclose(attention(x, cache=static)[0].numpy(), attention(x).numpy(), rtol=1e-5, atol=1e-6)
    assert attention.gen_cache(static.k, static.v).v is static.v
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8), 3)
    assert [len(each) for each in decoder.gen_cache(x, do_zip=True)] == [3, 3]


def test_names_and_copies():
    model = nn.Transformer(4, 2, 1, 2, 8)
    own = list(model.state_dict())
    for name in ("encoder.layers.0.self_attn.q_proj.weight", "encoder.layers.0.linear2.bias", "encoder.norm.weight",
                 "decoder.layers.1.cross_attn.out_proj.bias", "decoder.layers.1.norm3.weight", "decoder.norm.bias"):  # fmt: skip
        assert name in own
    assert len(own) == (8 + 4 + 4 + 2) + 2 * (16 + 4 + 6) + 2
    a, b = (layer.linear1.weight for layer in model.decoder.layers)
    assert a is not b
    assert np.abs(a.numpy() - b.numpy()).max() > 0


def test_attributes_of_parts():
    one, two, three = (nn.initializer.Constant(v) for v in (1.0, 2.0, 3.0))
    model = nn.Transformer(2, 1, 1, 1, 2, weight_attr=[one, two, three], bias_attr=False)
    layer = model.decoder.layers[0]
    parts = (layer.self_attn.q_proj, layer.cross_attn.v_proj, layer.linear1, model.encoder.layers[0].linear2)
    assert [p.weight.numpy().flat[0] for p in parts] == [1, 2, 3, 3]
    assert layer.linear1.bias is None
    named = nn.TransformerEncoderLayer(2, 1, 2, weight_attr=nn.ParamAttr(name="w"))
    assert (named.self_attn.q_proj.weight.name, named.linear1.weight.name) == ("w_0", "w_1")


def test_pickled():
    layer = pickle.loads(pickle.dumps(nn.TransformerEncoderLayer(4, 2, 8, activation="gelu")))
    assert layer.activation is F.gelu
    assert pickle.loads(pickle.dumps(paddle.tanh)) is paddle.tanh
    assert pickle.loads(pickle.dumps(paddle.logical_and)) is paddle.logical_and


def test_saved(tmp_path):
    model = nn.TransformerEncoderLayer(4, 2, 8)
    model.eval()
    x = normal(2, 3, 4)
    jit.save(model, tmp_path / "m", [InputSpec([None, None, 4], "float32", "x")])
    np.testing.assert_allclose(Predictor(tmp_path / "m").run({"x": x})[0], model(Tensor(x)).numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda: nn.MultiHeadAttention(5, 2), AttributeValueError, "do not divide"),
    (lambda: nn.MultiHeadAttention(4, 2)(paddle.zeros([2, 3, 5])), ShapeError, r"query of shape \[batch, length, 4\], got \[2, 3, 5\]"),
    (lambda: nn.MultiHeadAttention(4, 2)(paddle.zeros([2, 3, 4]), paddle.zeros([2, 4])), ShapeError, r"key of shape .* \[2, 4\]"),
    (lambda: nn.TransformerEncoderLayer(4, 2, 8, activation="no"), AttributeValueError, "'no' is unknown"),
    (lambda: nn.TransformerEncoderLayer(4, 2, 8, weight_attr=[None]), AttributeValueError, "takes 2"),
    (lambda: F.scaled_dot_product_attention(*[paddle.zeros([2, 3, 4])] * 3), ShapeError, "the query must have"),
    (lambda: F.scaled_dot_product_attention(*[paddle.zeros([1, 2, 1, 4])] * 3, paddle.zeros([2, 2]), is_causal=True),
     AttributeValueError, "not both"),
])  # fmt: skip
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


class Attends(nn.Layer):
    """`scaled_dot_product_attention` with the mask as the last input, if there is one."""

    def __init__(self, **options):
        super().__init__()
        self.options = options

    def forward(self, query, key, value, mask=None):
        return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, **self.options)


def heads(*lengths, batch=2, dtype=np.float32):
    return [normal(batch, n, 3, 4).astype(dtype) for n in lengths]


LENGTHS = [(5, 7), (1, 1), (1, 6), (33, 65)]


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_by_blocks_are_eagers(large, dtype):
    """Without open dims, the gradient has its scores by blocks where they are many."""
    with mock.patch.object(attention_pass, "LARGE", 0 if large else attention_pass.LARGE):
        for rows, columns in LENGTHS:
            inputs = heads(rows, columns, columns, dtype=dtype)
            shapes = [list(x.shape) for x in inputs]
            agree(Attends(), [inputs], spec=shapes)
            agree(Attends(is_causal=True), [inputs], spec=shapes)
            for mask in (normal(rows, columns) > 0, normal(2, 1, 1, columns).astype(dtype)):
                agree(Attends(), [[*inputs, mask]], spec=[*shapes, list(mask.shape)])


def test_scores_of_open_sizes():
    shapes = [[None, None, None, 4]] * 3
    agree(Attends(), [heads(m, n, n, batch=b) for b, (m, n) in enumerate(LENGTHS, 1)], spec=shapes)
    agree(Attends(), [[*heads(m, n, n), normal(m, n) > 0] for m, n in LENGTHS], spec=[*shapes, [None, None]])


def test_a_query_that_sees_nothing():
    query, key, value = (Tensor(x) for x in heads(4, 6, 6))
    mask = np.zeros((4, 6), np.float32)
    mask[1], mask[2, :5] = -np.inf, -np.inf
    model = Attends()
    want, got = model(query, key, value, Tensor(mask)).numpy(), jit.to_static(model.forward)(query, key, value, Tensor(mask)).numpy()
    assert np.isnan(want[:, 1]).all()
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_a_file_has_the_ops_of_paddle(tmp_path):
    model = Attends()
    inputs = heads(5, 7, 7)
    jit.save(model, str(tmp_path / "m"), [jit.InputSpec([None, n, 3, 4], name=name) for n, name in zip((5, 7, 7), "qkv", strict=True)])
    assert b"fused_attention" not in (tmp_path / "m.pdmodel").read_bytes()
    np.testing.assert_allclose(jit.load(str(tmp_path / "m"))(*map(Tensor, inputs)).numpy(), model(*map(Tensor, inputs)).numpy(), rtol=1e-5)
