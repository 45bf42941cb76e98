"""The functions of neural networks: `import dy2st.nn.functional as F`."""

import types as _types

from ...tensor import Tensor as _Tensor
from ...tensor.api import of_numbers as _of_numbers
from . import activation as activation
from . import loss as _loss
from .activation import celu as celu
from .activation import elu as elu
from .activation import elu_ as elu_
from .activation import gelu as gelu
from .activation import glu as glu
from .activation import gumbel_softmax as gumbel_softmax
from .activation import hardshrink as hardshrink
from .activation import hardsigmoid as hardsigmoid
from .activation import hardswish as hardswish
from .activation import hardtanh as hardtanh
from .activation import leaky_relu as leaky_relu
from .activation import log_sigmoid as log_sigmoid
from .activation import log_softmax as log_softmax
from .activation import maxout as maxout
from .activation import mish as mish
from .activation import prelu as prelu
from .activation import relu as relu
from .activation import relu6 as relu6
from .activation import relu_ as relu_
from .activation import rrelu as rrelu
from .activation import selu as selu
from .activation import sigmoid as sigmoid
from .activation import silu as silu
from .activation import softmax as softmax
from .activation import softmax_ as softmax_
from .activation import softplus as softplus
from .activation import softshrink as softshrink
from .activation import softsign as softsign
from .activation import swish as swish
from .activation import tanh as tanh
from .activation import tanh_ as tanh_
from .activation import tanhshrink as tanhshrink
from .activation import thresholded_relu as thresholded_relu
from .attention import scaled_dot_product_attention as scaled_dot_product_attention
from .common import alpha_dropout as alpha_dropout
from .common import bilinear as bilinear
from .common import cosine_similarity as cosine_similarity
from .common import diag_embed as diag_embed
from .common import dropout as dropout
from .common import dropout2d as dropout2d
from .common import dropout3d as dropout3d
from .common import embedding as embedding
from .common import label_smooth as label_smooth
from .common import linear as linear
from .common import normalize as normalize
from .common import one_hot as one_hot
from .common import pad as pad
from .common import pairwise_distance as pairwise_distance
from .common import pixel_shuffle as pixel_shuffle
from .common import sequence_mask as sequence_mask
from .common import square_error_cost as square_error_cost
from .common import zeropad2d as zeropad2d
from .conv import conv1d as conv1d
from .conv import conv1d_transpose as conv1d_transpose
from .conv import conv2d as conv2d
from .conv import conv2d_transpose as conv2d_transpose
from .ctc import ctc_loss as ctc_loss
from .decoding import gather_tree as gather_tree
from .loss import binary_cross_entropy as binary_cross_entropy
from .loss import binary_cross_entropy_with_logits as binary_cross_entropy_with_logits
from .loss import cross_entropy as cross_entropy
from .loss import dice_loss as dice_loss
from .loss import gaussian_nll_loss as gaussian_nll_loss
from .loss import kl_div as kl_div
from .loss import l1_loss as l1_loss
from .loss import log_loss as log_loss
from .loss import margin_ranking_loss as margin_ranking_loss
from .loss import mse_loss as mse_loss
from .loss import nll_loss as nll_loss
from .loss import poisson_nll_loss as poisson_nll_loss
from .loss import sigmoid_focal_loss as sigmoid_focal_loss
from .loss import smooth_l1_loss as smooth_l1_loss
from .loss import softmax_with_cross_entropy as softmax_with_cross_entropy
from .margin import cosine_embedding_loss as cosine_embedding_loss
from .margin import hinge_embedding_loss as hinge_embedding_loss
from .margin import multi_label_soft_margin_loss as multi_label_soft_margin_loss
from .margin import soft_margin_loss as soft_margin_loss
from .margin import triplet_margin_loss as triplet_margin_loss
from .margin import triplet_margin_with_distance_loss as triplet_margin_with_distance_loss
from .norm import batch_norm as batch_norm
from .norm import group_norm as group_norm
from .norm import instance_norm as instance_norm
from .norm import layer_norm as layer_norm
from .norm import local_response_norm as local_response_norm
from .pooling import adaptive_avg_pool1d as adaptive_avg_pool1d
from .pooling import adaptive_avg_pool2d as adaptive_avg_pool2d
from .pooling import adaptive_max_pool1d as adaptive_max_pool1d
from .pooling import adaptive_max_pool2d as adaptive_max_pool2d
from .pooling import avg_pool1d as avg_pool1d
from .pooling import avg_pool2d as avg_pool2d
from .pooling import max_pool1d as max_pool1d
from .pooling import max_pool2d as max_pool2d
from .resizing import interpolate as interpolate
from .resizing import upsample as upsample
from .vision import affine_grid as affine_grid
from .vision import channel_shuffle as channel_shuffle
from .vision import fold as fold
from .vision import grid_sample as grid_sample
from .vision import pixel_unshuffle as pixel_unshuffle
from .vision import temporal_shift as temporal_shift
from .vision import unfold as unfold
from .volumes import adaptive_avg_pool3d as adaptive_avg_pool3d
from .volumes import adaptive_max_pool3d as adaptive_max_pool3d
from .volumes import avg_pool3d as avg_pool3d
from .volumes import conv3d as conv3d
from .volumes import conv3d_transpose as conv3d_transpose
from .volumes import max_pool3d as max_pool3d

# methods of Tensor too, as in PaddlePaddle
for _function in (sigmoid, softmax):
    setattr(_Tensor, _function.__name__, _function)

for _name, _function in list(globals().items()):
    if isinstance(_function, _types.FunctionType) and _function.__module__ in (activation.__name__, _loss.__name__):
        globals()[_name] = _of_numbers(_function, __name__)
