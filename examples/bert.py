"""BERT (Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding", 2018).

`python examples/bert.py` runs the base model on one sequence, eagerly and statically, and prints the times; values are random, as there
is nothing to download. `--layers`, `--hidden`, `--heads`, `--length` make it smaller.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass

import numpy as np

import dy2st as paddle
from dy2st import nn


@dataclass(frozen=True)
class BertConfig:
    """The sizes of the model; the defaults are those of the base model."""

    vocab_size: int = 30522
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    dropout: float = 0.1
    pad_token_id: int = 0


class BertEmbeddings(nn.Layer):
    """The sum of the embeddings of words, places and segments, normalized: integers [batch, length] → [batch, length, hidden]."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        size = config.hidden_size
        self.word_embeddings = nn.Embedding(config.vocab_size, size, padding_idx=config.pad_token_id)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, size)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, size)
        self.layer_norm, self.dropout = nn.LayerNorm(size, epsilon=1e-12), nn.Dropout(config.dropout)

    def forward(self, input_ids, token_type_ids=None):
        if token_type_ids is None:
            token_type_ids = paddle.zeros_like(input_ids)
        places = paddle.arange(input_ids.shape[1], dtype="int64")
        words = self.word_embeddings(input_ids) + self.token_type_embeddings(token_type_ids)
        return self.dropout(self.layer_norm(words + self.position_embeddings(places)))


class BertPooler(nn.Layer):
    """What the first place knows: [batch, length, hidden] → [batch, hidden]."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.dense = nn.Linear(size, size)

    def forward(self, x):
        return paddle.tanh(self.dense(x[:, 0]))


class BertModel(nn.Layer):
    """Integers [batch, length] → the outputs [batch, length, hidden] and the pooled one [batch, hidden].

    Places that hold `pad_token_id` are left out, unless an attention_mask [batch, length] says which ones are.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.pad_token_id = config.pad_token_id
        self.embeddings = BertEmbeddings(config)
        layer = nn.TransformerEncoderLayer(config.hidden_size, config.num_attention_heads, config.intermediate_size,
                                           config.dropout, "gelu", layer_norm_eps=1e-12)  # fmt: skip
        self.encoder = nn.TransformerEncoder(layer, config.num_hidden_layers)
        self.pooler = BertPooler(config.hidden_size)

    def forward(self, input_ids, token_type_ids=None, attention_mask=None):
        if attention_mask is None:
            attention_mask = input_ids != self.pad_token_id
        x = self.encoder(self.embeddings(input_ids, token_type_ids), attention_mask.unsqueeze([1, 2]))
        return x, self.pooler(x)


class BertForSequenceClassification(nn.Layer):
    """Integers [batch, length] → logits [batch, num_classes]."""

    def __init__(self, config: BertConfig, num_classes: int = 2) -> None:
        super().__init__()
        self.bert, self.dropout = BertModel(config), nn.Dropout(config.dropout)
        self.classifier = nn.Linear(config.hidden_size, num_classes)

    def forward(self, input_ids, token_type_ids=None, attention_mask=None):
        _, pooled = self.bert(input_ids, token_type_ids, attention_mask)
        return self.classifier(self.dropout(pooled))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("layers", 12), ("hidden", 768), ("heads", 12), ("length", 128), ("vocabulary", 30522)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args(arguments)
    config = BertConfig(options.vocabulary, options.hidden, options.layers, options.heads, 4 * options.hidden,
                        max_position_embeddings=max(512, options.length))  # fmt: skip
    model = BertModel(config)
    model.eval()
    count = sum(int(np.prod(p.shape)) for p in model.parameters())
    print(f"{count:,} parameters")
    words = paddle.to_tensor(np.random.default_rng(0).integers(1, options.vocabulary, (1, options.length)))
    static = paddle.jit.to_static(model.forward)
    results = {}
    with paddle.no_grad():
        for name, call in (("first static call", static), ("static", static), ("eager", model)):
            start = time.perf_counter()
            results[name] = call(words)[0].numpy()
            print(f"{name:<18}{(time.perf_counter() - start) * 1e3:10.1f} ms")
    difference = float(np.abs(results["static"] - results["eager"]).max())
    print(f"largest difference {difference:.1e}")
    return 0 if difference < 1e-3 else 1


if __name__ == "__main__":
    sys.exit(main())
