"""Settings of layers under the names by which PaddlePaddle keeps them."""

import copy

import pytest

import dy2st as paddle
from dy2st import nn

SETTINGS = {
    "Conv2D": (lambda: nn.Conv2D(4, 6, 3, padding=1, stride=2, groups=2, bias_attr=False), {
        "_in_channels": 4, "_out_channels": 6, "_kernel_size": [3, 3], "_stride": [2, 2], "_padding": 1, "_dilation": [1, 1], "_groups": 2,
        "_padding_mode": "zeros", "_data_format": "NCHW", "_bias_attr": False, "_param_attr": None, "_dtype": "float32",
    }),
    "Conv1D": (lambda: nn.Conv1D(2, 2, 3), {"_kernel_size": [3], "_stride": [1], "_dilation": [1], "_data_format": "NCL"}),
    "Conv3DTranspose": (lambda: nn.Conv3DTranspose(2, 2, 3), {"_kernel_size": [3] * 3, "_stride": [1] * 3, "output_padding": 0}),
    "BatchNorm2D": (lambda: nn.BatchNorm2D(3), {
        "_num_features": 3, "_momentum": 0.9, "_epsilon": 1e-5, "_data_format": "NCHW", "_use_global_stats": None, "_weight_attr": None,
        "_bias_attr": None,
    }),
    "BatchNorm": (lambda: nn.BatchNorm(3), {"_momentum": 0.9, "_epsilon": 1e-5, "_data_layout": "NCHW", "_act": None, "_param_attr": None}),
    "LayerNorm": (lambda: nn.LayerNorm(4), {"_normalized_shape": [4], "_epsilon": 1e-5, "_weight_attr": None, "_bias_attr": None}),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4), {"_num_groups": 2, "_num_channels": 4, "_epsilon": 1e-5, "_data_format": "NCHW"}),
    "InstanceNorm2D": (lambda: nn.InstanceNorm2D(3), {"_num_features": 3, "_momentum": 0.9, "_epsilon": 1e-5}),
    "Linear": (lambda: nn.Linear(2, 3), {"_in_features": 2, "_out_features": 3, "_weight_attr": None, "_bias_attr": None}),
    "Embedding": (lambda: nn.Embedding(3, 2, padding_idx=-1), {"_num_embeddings": 3, "_embedding_dim": 2, "_padding_idx": -1}),
    "AdaptiveAvgPool2D": (lambda: nn.AdaptiveAvgPool2D((1, None)), {"_output_size": (1, None), "_data_format": "NCHW"}),
    "AdaptiveAvgPool1D": (lambda: nn.AdaptiveAvgPool1D(2), {"output_size": 2}),
    "MaxPool2D": (lambda: nn.MaxPool2D(3, 2, 1), {"ksize": 3, "stride": 2, "padding": 1, "ceil_mode": False, "return_mask": False}),
    "AvgPool2D": (lambda: nn.AvgPool2D(3, ceil_mode=True), {
        "ksize": 3, "stride": None, "padding": 0, "ceil_mode": True, "exclusive": True, "data_format": "NCHW",
    }),
    "MaxPool1D": (lambda: nn.MaxPool1D(2), {"kernel_size": 2, "stride": None}),
    "LeakyReLU": (lambda: nn.LeakyReLU(0.2), {"_negative_slope": 0.2}),
    "Softmax": (lambda: nn.Softmax(), {"_axis": -1}),
    "GELU": (lambda: nn.GELU(), {"_approximate": False}),
}  # fmt: skip


@pytest.mark.parametrize("layer", SETTINGS)
def test_settings_have_the_names_of_paddlepaddle(layer):
    """Values as PaddlePaddle 3.3.1 gives them."""
    make, expected = SETTINGS[layer]
    made = make()
    assert {name: getattr(made, name) for name in expected} == expected


def test_settings_that_are_set_have_effect():
    def strided(layer, x):
        return layer(x), layer._stride[0] * x.sum()

    conv, x = nn.Conv2D(1, 1, 3, stride=2), paddle.ones([1, 1, 8, 8])
    static = paddle.jit.to_static(strided)
    assert [t.shape for t in static(conv, x)] == [[1, 1, 3, 3], []]
    conv._stride, conv._dilation = [1, 1], [2, 2]
    assert (conv.stride, conv.dilation) == ([1, 1], [2, 2])
    for f in (strided, static):
        assert [t.shape for t in f(conv, x)] == [[1, 1, 4, 4], []]
        assert f(conv, x)[1].item() == 64
    pool = nn.MaxPool2D(2)
    pool.ksize, pool.stride = 4, 2
    assert pool(x).shape == paddle.jit.to_static(pool)(x).shape == [1, 1, 3, 3]
    norm = nn.BatchNorm2D(1)
    norm._momentum = 0.5
    assert norm.momentum == copy.deepcopy(norm)._momentum == 0.5
