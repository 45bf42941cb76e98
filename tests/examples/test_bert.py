"""The BERT of the examples: sizes of the base model, padding that counts nothing, static as eager."""

import math
import pathlib
import runpy

import numpy as np

from dy2st import Tensor, jit
from dy2st.jit import InputSpec

BERT = runpy.run_path(str(pathlib.Path(__file__).parents[2] / "examples" / "bert.py"))
SMALL = BERT["BertConfig"](50, 8, 2, 2, 16, 12, dropout=0.0)


def test_sizes_of_the_base_model():
    c = BERT["BertConfig"]()
    layer = 4 * (c.hidden_size**2 + c.hidden_size) + 2 * c.hidden_size * c.intermediate_size + c.intermediate_size + 5 * c.hidden_size
    tables = (c.vocab_size + c.max_position_embeddings + c.type_vocab_size + 2) * c.hidden_size
    assert tables + 12 * layer + c.hidden_size**2 + c.hidden_size == 109_482_240  # as published
    small = sum(math.prod(p.shape) for p in BERT["BertModel"](SMALL).parameters())
    assert small == (50 + 12 + 2 + 2) * 8 + 2 * (4 * 72 + 2 * 8 * 16 + 16 + 8 + 4 * 8) + 72


def test_padding_counts_nothing():
    model = BERT["BertModel"](SMALL)
    model.eval()
    words = np.array([[3, 7, 9, 0, 0]])
    padded, pooled = model(Tensor(words))
    short, alone = model(Tensor(words[:, :3]))
    np.testing.assert_allclose(padded.numpy()[:, :3], short.numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(pooled.numpy(), alone.numpy(), rtol=1e-4, atol=1e-5)
    masked, _ = model(Tensor([[3, 7, 9, 4, 5]]), attention_mask=Tensor([[1, 1, 1, 0, 0]]))
    np.testing.assert_allclose(masked.numpy()[:, :3], short.numpy(), rtol=1e-4, atol=1e-5)


def test_static_training():
    model = BERT["BertForSequenceClassification"](SMALL)
    static = jit.to_static(model.forward, input_spec=[InputSpec([None, None], "int64")])
    for words in ([[3, 7, 9], [4, 1, 0]], [[3, 7, 9, 2]]):
        found = []
        for call in (model, static):
            model.clear_gradients()
            logits = call(Tensor(np.array(words)))
            (logits * logits).sum().backward()
            found.append([logits.numpy(), *(p.grad.numpy() for p in model.parameters())])
        for a, b in zip(*found, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-3, atol=1e-5)
    assert len(static.concrete_programs) == 1


def test_the_command(capsys):
    assert BERT["main"](["--layers", "1", "--hidden", "8", "--heads", "2", "--length", "4", "--vocabulary", "20"]) == 0
    assert "largest difference" in capsys.readouterr().out
