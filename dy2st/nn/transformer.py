"""The layers of a transformer (Vaswani et al., "Attention Is All You Need", 2017), and stacks of them."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

from ..errors import AttributeValueError
from ..tensor import Tensor, creation
from . import functional as F
from .attention import MultiHeadAttention
from .common import Dropout, Linear
from .container import LayerList
from .layer import Layer
from .norm import LayerNorm
from .param_attr import ParamAttr


def _attrs(attr: Any, count: int) -> list[Any]:
    """One attribute for each part of a layer: those of a list, or copies of one, whose names get a number."""
    if isinstance(attr, (list, tuple)):
        if len(attr) != count:
            raise AttributeValueError(f"a transformer layer takes {count} weight or bias attributes, got {len(attr)}")
        return list(attr)
    if attr is None or isinstance(attr, bool):
        return [attr] * count
    parts = []
    for i in range(count):
        part = copy.copy(ParamAttr.of(attr))
        if part is not None and part.name is not None:
            part.name = f"{part.name}_{i}"
        parts.append(part)
    return parts


class _TransformerLayer(Layer):
    """What the two kinds of layers share: the feed-forward part, and where the normalization is.

    Args:
        d_model: size of inputs and outputs.
        nhead: number of heads.
        dim_feedforward: size of the inner layer.
        dropout: after each part, in training; also of attention weights and after the activation, unless given apart.
        activation: the name of a function of `nn.functional`.
        attn_dropout, act_dropout: default: dropout.
        normalize_before: each part normalizes its input, not the sum of input and output.
        weight_attr, bias_attr: of all linear maps, or a list: one for each attention and one for the feed-forward part.
        layer_norm_eps: see `LayerNorm`.
    """

    attentions: Sequence[str] = ("self_attn",)

    def __init__(self, d_model: int, nhead: int, dim_feedforward: int, dropout: float = 0.1, activation: str = "relu",
                 attn_dropout: float | None = None, act_dropout: float | None = None, normalize_before: bool = False,
                 weight_attr: Any = None, bias_attr: Any = None, layer_norm_eps: float = 1e-5) -> None:  # fmt: skip
        # what a stack makes further layers of this kind with
        self._config = {
            "d_model": d_model, "nhead": nhead, "dim_feedforward": dim_feedforward, "dropout": dropout,
            "activation": activation, "attn_dropout": attn_dropout, "act_dropout": act_dropout,
            "normalize_before": normalize_before, "weight_attr": weight_attr, "bias_attr": bias_attr,
            "layer_norm_eps": layer_norm_eps,
        }  # fmt: skip
        super().__init__()
        if not hasattr(F, activation):
            raise AttributeValueError(f"the activation {activation!r} is unknown", hint="use the name of one in nn.functional")
        self.activation, self.normalize_before = getattr(F, activation), normalize_before
        attn_dropout = dropout if attn_dropout is None else attn_dropout
        count = len(self.attentions)
        weights, biases = _attrs(weight_attr, count + 1), _attrs(bias_attr, count + 1)
        for i, name in enumerate(self.attentions):
            attention = MultiHeadAttention(d_model, nhead, attn_dropout, weight_attr=weights[i], bias_attr=biases[i])
            self.add_sublayer(name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, weights[-1], biases[-1])
        self.dropout = Dropout(dropout if act_dropout is None else act_dropout)
        self.linear2 = Linear(dim_feedforward, d_model, weights[-1], biases[-1])
        for i in range(1, count + 2):
            self.add_sublayer(f"norm{i}", LayerNorm(d_model, layer_norm_eps))
        for i in range(1, count + 2):
            self.add_sublayer(f"dropout{i}", Dropout(dropout))

    def _add(self, x: Any, part: Any, norm: Any, dropout: Any) -> tuple[Tensor, Any]:
        """x with what a part makes of it, and the cache that the part gives."""
        out, cache = part(norm(x) if self.normalize_before else x)
        out = x + dropout(out)
        return (out if self.normalize_before else norm(out)), cache

    def _feed_forward(self, x: Any) -> tuple[Tensor, None]:
        return self.linear2(self.dropout(self.activation(self.linear1(x)))), None


class TransformerEncoderLayer(_TransformerLayer):
    """Attention of a sequence to itself and a feed-forward part: [batch, length, d_model] → the same.

    Called with src, and optionally src_mask and a cache (see `MultiHeadAttention`); with a cache the results are the output and
    the new cache.

    >>> from dy2st import zeros
    >>> TransformerEncoderLayer(8, 2, 16)(zeros([1, 3, 8])).shape
    [1, 3, 8]
    """

    if __doc__ is not None:  # `python -OO` leaves none
        __doc__ += "\n" + (_TransformerLayer.__doc__ or "").partition("\n\n")[2]

    def forward(self, src: Any, src_mask: Any = None, cache: Any = None) -> Any:
        def attend(x: Any) -> tuple[Any, Any]:
            out = self.self_attn(x, x, x, src_mask, cache)
            return (out, None) if cache is None else out

        out, new = self._add(src, attend, self.norm1, self.dropout1)
        out, _ = self._add(out, self._feed_forward, self.norm2, self.dropout2)
        return out if cache is None else (out, new)

    def gen_cache(self, src: Any) -> Any:
        """An empty cache for a batch as in src."""
        return self.self_attn.gen_cache(src)


class TransformerDecoderLayer(_TransformerLayer):
    """Attention of a sequence to itself, to a memory, and a feed-forward part: [batch, length, d_model] → the same.

    Called with tgt, memory [batch, memory length, d_model], and optionally tgt_mask, memory_mask and a cache of `gen_cache`; with a
    cache the results are the output and the new cache.
    """

    if __doc__ is not None:  # `python -OO` leaves none
        __doc__ += "\n" + (_TransformerLayer.__doc__ or "").partition("\n\n")[2]

    attentions = ("self_attn", "cross_attn")

    def forward(self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, cache: Any = None) -> Any:
        own, static = (None, None) if cache is None else cache

        def attend(x: Any) -> tuple[Any, Any]:
            out = self.self_attn(x, x, x, tgt_mask, own)
            return (out, None) if own is None else out

        def attend_to_memory(x: Any) -> tuple[Any, Any]:
            out = self.cross_attn(x, memory, memory, memory_mask, static)
            return (out, None) if static is None else out

        out, own = self._add(tgt, attend, self.norm1, self.dropout1)
        out, static = self._add(out, attend_to_memory, self.norm2, self.dropout2)
        out, _ = self._add(out, self._feed_forward, self.norm3, self.dropout3)
        return out if cache is None else (out, (own, static))

    def gen_cache(self, memory: Any) -> tuple[Any, Any]:
        """An empty cache of what is decoded, and one of the memory's keys and values."""
        static = self.cross_attn.gen_cache(memory, memory, type=MultiHeadAttention.StaticCache)
        return self.self_attn.gen_cache(memory), static


def _stack(first: Layer, count: int) -> LayerList:
    """The layer, and others made like it."""
    return LayerList([first, *(type(first)(**first._config) for _ in range(count - 1))])


class TransformerEncoder(Layer):
    """Encoder layers one after the other.

    Args:
        encoder_layer: the first; the others are made with the same arguments, and values of their own.
        num_layers: how many.
        norm: a layer for the result, or None.

    Called as its layers; the cache is a list of theirs.
    """

    def __init__(self, encoder_layer: Layer, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        self.layers = _stack(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(self, src: Any, src_mask: Any = None, cache: Any = None) -> Any:
        out, new = src, []
        for i, layer in enumerate(self.layers):
            if cache is None:
                out = layer(out, src_mask=src_mask)
            else:
                out, own = layer(out, src_mask=src_mask, cache=cache[i])
                new.append(own)
        if self.norm is not None:
            out = self.norm(out)
        return out if cache is None else (out, new)

    def gen_cache(self, src: Any, do_zip: bool = False) -> list[Any]:
        """Empty caches for a batch as in src, one for each layer; with `do_zip` the list of all keys and that of all values."""
        caches = [layer.gen_cache(src) for layer in self.layers]
        return list(zip(*caches, strict=True)) if do_zip else caches


class TransformerDecoder(Layer):
    """Decoder layers one after the other.

    Args:
        decoder_layer: the first; the others are made with the same arguments, and values of their own.
        num_layers: how many.
        norm: a layer for the result, or None.

    Called as its layers; the cache is a list of theirs.
    """

    def __init__(self, decoder_layer: Layer, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        self.layers = _stack(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, cache: Any = None) -> Any:
        out, new = tgt, []
        for i, layer in enumerate(self.layers):
            if cache is None:
                out = layer(out, memory, tgt_mask=tgt_mask, memory_mask=memory_mask)
            else:
                out, own = layer(out, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, cache=cache[i])
                new.append(own)
        if self.norm is not None:
            out = self.norm(out)
        return out if cache is None else (out, new)

    def gen_cache(self, memory: Any, do_zip: bool = False) -> list[Any]:
        """The caches of the layers, pairs (own, static); with `do_zip` the list of the own ones and that of the static ones."""
        caches = [layer.gen_cache(memory) for layer in self.layers]
        return list(zip(*caches, strict=True)) if do_zip else caches


class Transformer(Layer):
    """An encoder and a decoder: src [batch, length, d_model], tgt [batch, target length, d_model] → the shape of tgt.

    Args:
        d_model, nhead, dim_feedforward, dropout, activation, attn_dropout, act_dropout, normalize_before: see `TransformerEncoderLayer`.
        num_encoder_layers, num_decoder_layers: how many.
        weight_attr, bias_attr: for all, or a list of one for all, of two for attentions and feed-forward, or of three for the decoder's
            attention to itself, that to the memory, and feed-forward parts.
        custom_encoder, custom_decoder: layers to use instead.

    Called with src, tgt, and optionally src_mask, tgt_mask, memory_mask; see `MultiHeadAttention`.

    >>> from dy2st import zeros
    >>> model = Transformer(8, 2, 1, 1, 16)
    >>> model(zeros([1, 5, 8]), zeros([1, 3, 8]), tgt_mask=Transformer.generate_square_subsequent_mask(3)).shape
    [1, 3, 8]
    """

    def __init__(self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
                 dim_feedforward: int = 2048, dropout: float = 0.1, activation: str = "relu",
                 attn_dropout: float | None = None, act_dropout: float | None = None, normalize_before: bool = False,
                 weight_attr: Any = None, bias_attr: Any = None, custom_encoder: Any = None,
                 custom_decoder: Any = None) -> None:  # fmt: skip
        super().__init__()
        common = (d_model, nhead, dim_feedforward, dropout, activation, attn_dropout, act_dropout, normalize_before)
        if custom_encoder is None:
            layer = TransformerEncoderLayer(*common, _of_encoder(weight_attr), _of_encoder(bias_attr))
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, LayerNorm(d_model))
        if custom_decoder is None:
            own = TransformerDecoderLayer(*common, _of_decoder(weight_attr), _of_decoder(bias_attr))
            custom_decoder = TransformerDecoder(own, num_decoder_layers, LayerNorm(d_model))
        self.encoder, self.decoder = custom_encoder, custom_decoder
        self.d_model, self.nhead = d_model, nhead

    def forward(self, src: Any, tgt: Any, src_mask: Any = None, tgt_mask: Any = None, memory_mask: Any = None) -> Any:
        memory = self.encoder(src, src_mask=src_mask)
        return self.decoder(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask)

    @staticmethod
    def generate_square_subsequent_mask(length: Any) -> Tensor:
        """A mask [length, length] for attention to what came before: 0 up to the diagonal, -inf behind it."""
        return creation.triu(creation.full([length, length], -math.inf), 1)


def _of_encoder(attr: Any) -> Any:
    return [attr[0], attr[-1]] if isinstance(attr, (list, tuple)) else attr


def _of_decoder(attr: Any) -> Any:
    return [attr[0], attr[1] if len(attr) == 3 else attr[0], attr[-1]] if isinstance(attr, (list, tuple)) else attr
