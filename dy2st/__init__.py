"""dy2st: a dynamic-to-static compiler. `import dy2st as paddle` runs models written for PaddlePaddle's API.

Eager tensors and layers are here, in `nn`, `optimizer` and `tensor`; `jit` turns decorated functions into static programs,
`static` and `fluid` build them by hand.
"""

from __future__ import annotations

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from dy2st_runtime.executor.engines import get_engine as get_engine
from dy2st_runtime.executor.engines import set_engine as set_engine
from dy2st_runtime.threads import get_num_threads as get_num_threads
from dy2st_runtime.threads import set_num_threads as set_num_threads

from . import errors as errors
from . import nn as nn
from . import optimizer as optimizer
from . import regularizer as regularizer
from . import tensor as tensor
from .alias import install_as_paddle as install_as_paddle
from .custom import custom_op as custom_op
from .framework.dtype import get_default_dtype as get_default_dtype
from .framework.dtype import set_default_dtype as set_default_dtype
from .framework.flags import get_flags as get_flags
from .framework.flags import set_flags as set_flags
from .framework.io import load as load
from .framework.io import save as save
from .framework.place import CPUPlace as CPUPlace
from .framework.place import CUDAPinnedPlace as CUDAPinnedPlace
from .framework.place import CUDAPlace as CUDAPlace
from .framework.place import get_device as get_device
from .framework.place import is_compiled_with_cuda as is_compiled_with_cuda
from .framework.place import set_device as set_device
from .missing_names import missing as _missing
from .nn.layer import Layer as Layer
from .nn.param_attr import ParamAttr as ParamAttr
from .nn.parameter import create_parameter as create_parameter
from .tensor import Parameter as Parameter
from .tensor import Tensor as Tensor
from .tensor.api import abs as abs
from .tensor.api import acos as acos
from .tensor.api import acosh as acosh
from .tensor.api import add as add
from .tensor.api import add_n as add_n
from .tensor.api import addmm as addmm
from .tensor.api import all as all
from .tensor.api import allclose as allclose
from .tensor.api import amax as amax
from .tensor.api import amin as amin
from .tensor.api import any as any
from .tensor.api import arange as arange
from .tensor.api import argmax as argmax
from .tensor.api import argmin as argmin
from .tensor.api import argsort as argsort
from .tensor.api import asin as asin
from .tensor.api import asinh as asinh
from .tensor.api import assign as assign
from .tensor.api import atan as atan
from .tensor.api import atanh as atanh
from .tensor.api import bernoulli as bernoulli
from .tensor.api import bincount as bincount
from .tensor.api import bitwise_and as bitwise_and
from .tensor.api import bitwise_left_shift as bitwise_left_shift
from .tensor.api import bitwise_not as bitwise_not
from .tensor.api import bitwise_or as bitwise_or
from .tensor.api import bitwise_right_shift as bitwise_right_shift
from .tensor.api import bitwise_xor as bitwise_xor
from .tensor.api import bmm as bmm
from .tensor.api import broadcast_tensors as broadcast_tensors
from .tensor.api import broadcast_to as broadcast_to
from .tensor.api import bucketize as bucketize
from .tensor.api import cast as cast
from .tensor.api import ceil as ceil
from .tensor.api import chunk as chunk
from .tensor.api import clip as clip
from .tensor.api import clone as clone
from .tensor.api import concat as concat
from .tensor.api import cos as cos
from .tensor.api import cosh as cosh
from .tensor.api import count_nonzero as count_nonzero
from .tensor.api import cross as cross
from .tensor.api import cumprod as cumprod
from .tensor.api import cumsum as cumsum
from .tensor.api import deg2rad as deg2rad
from .tensor.api import diag as diag
from .tensor.api import diagonal as diagonal
from .tensor.api import diff as diff
from .tensor.api import dist as dist
from .tensor.api import divide as divide
from .tensor.api import dot as dot
from .tensor.api import einsum as einsum
from .tensor.api import empty as empty
from .tensor.api import empty_like as empty_like
from .tensor.api import equal as equal
from .tensor.api import equal_all as equal_all
from .tensor.api import erf as erf
from .tensor.api import exp as exp
from .tensor.api import expand as expand
from .tensor.api import expand_as as expand_as
from .tensor.api import expm1 as expm1
from .tensor.api import eye as eye
from .tensor.api import flatten as flatten
from .tensor.api import flip as flip
from .tensor.api import floor as floor
from .tensor.api import floor_divide as floor_divide
from .tensor.api import floor_mod as floor_mod
from .tensor.api import fmax as fmax
from .tensor.api import fmin as fmin
from .tensor.api import frac as frac
from .tensor.api import full as full
from .tensor.api import full_like as full_like
from .tensor.api import gather as gather
from .tensor.api import gather_nd as gather_nd
from .tensor.api import gaussian as gaussian
from .tensor.api import get_rng_state as get_rng_state
from .tensor.api import greater_equal as greater_equal
from .tensor.api import greater_than as greater_than
from .tensor.api import heaviside as heaviside
from .tensor.api import histogram as histogram
from .tensor.api import hstack as hstack
from .tensor.api import hypot as hypot
from .tensor.api import increment as increment
from .tensor.api import index_add as index_add
from .tensor.api import index_fill as index_fill
from .tensor.api import index_sample as index_sample
from .tensor.api import index_select as index_select
from .tensor.api import inner as inner
from .tensor.api import is_complex as is_complex
from .tensor.api import is_empty as is_empty
from .tensor.api import is_floating_point as is_floating_point
from .tensor.api import is_integer as is_integer
from .tensor.api import is_tensor as is_tensor
from .tensor.api import isclose as isclose
from .tensor.api import isfinite as isfinite
from .tensor.api import isin as isin
from .tensor.api import isinf as isinf
from .tensor.api import isnan as isnan
from .tensor.api import kron as kron
from .tensor.api import kthvalue as kthvalue
from .tensor.api import lerp as lerp
from .tensor.api import less_equal as less_equal
from .tensor.api import less_than as less_than
from .tensor.api import linspace as linspace
from .tensor.api import log as log
from .tensor.api import log1p as log1p
from .tensor.api import log2 as log2
from .tensor.api import log10 as log10
from .tensor.api import logaddexp as logaddexp
from .tensor.api import logical_and as logical_and
from .tensor.api import logical_not as logical_not
from .tensor.api import logical_or as logical_or
from .tensor.api import logical_xor as logical_xor
from .tensor.api import logit as logit
from .tensor.api import logsumexp as logsumexp
from .tensor.api import masked_fill as masked_fill
from .tensor.api import masked_select as masked_select
from .tensor.api import matmul as matmul
from .tensor.api import max as max
from .tensor.api import maximum as maximum
from .tensor.api import mean as mean
from .tensor.api import median as median
from .tensor.api import meshgrid as meshgrid
from .tensor.api import min as min
from .tensor.api import minimum as minimum
from .tensor.api import mm as mm
from .tensor.api import mod as mod
from .tensor.api import mode as mode
from .tensor.api import moveaxis as moveaxis
from .tensor.api import multinomial as multinomial
from .tensor.api import multiply as multiply
from .tensor.api import mv as mv
from .tensor.api import nan_to_num as nan_to_num
from .tensor.api import nanmean as nanmean
from .tensor.api import nansum as nansum
from .tensor.api import neg as neg
from .tensor.api import nonzero as nonzero
from .tensor.api import norm as norm
from .tensor.api import normal as normal
from .tensor.api import not_equal as not_equal
from .tensor.api import numel as numel
from .tensor.api import one_hot as one_hot
from .tensor.api import ones as ones
from .tensor.api import ones_like as ones_like
from .tensor.api import outer as outer
from .tensor.api import pow as pow
from .tensor.api import prod as prod
from .tensor.api import put_along_axis as put_along_axis
from .tensor.api import quantile as quantile
from .tensor.api import rad2deg as rad2deg
from .tensor.api import rand as rand
from .tensor.api import randint as randint
from .tensor.api import randint_like as randint_like
from .tensor.api import randn as randn
from .tensor.api import randperm as randperm
from .tensor.api import rank as rank
from .tensor.api import reciprocal as reciprocal
from .tensor.api import remainder as remainder
from .tensor.api import repeat_interleave as repeat_interleave
from .tensor.api import reshape as reshape
from .tensor.api import reshape_ as reshape_
from .tensor.api import roll as roll
from .tensor.api import rot90 as rot90
from .tensor.api import round as round
from .tensor.api import rsqrt as rsqrt
from .tensor.api import scale as scale
from .tensor.api import scatter as scatter
from .tensor.api import scatter_nd as scatter_nd
from .tensor.api import scatter_nd_add as scatter_nd_add
from .tensor.api import searchsorted as searchsorted
from .tensor.api import seed as seed
from .tensor.api import set_rng_state as set_rng_state
from .tensor.api import shape as shape
from .tensor.api import shard_index as shard_index
from .tensor.api import sign as sign
from .tensor.api import sin as sin
from .tensor.api import sinh as sinh
from .tensor.api import slice as slice
from .tensor.api import sort as sort
from .tensor.api import split as split
from .tensor.api import sqrt as sqrt
from .tensor.api import square as square
from .tensor.api import squeeze as squeeze
from .tensor.api import squeeze_ as squeeze_
from .tensor.api import stack as stack
from .tensor.api import standard_normal as standard_normal
from .tensor.api import stanh as stanh
from .tensor.api import std as std
from .tensor.api import strided_slice as strided_slice
from .tensor.api import subtract as subtract
from .tensor.api import sum as sum
from .tensor.api import swapaxes as swapaxes
from .tensor.api import t as t
from .tensor.api import take as take
from .tensor.api import take_along_axis as take_along_axis
from .tensor.api import tan as tan
from .tensor.api import tanh as tanh
from .tensor.api import tensordot as tensordot
from .tensor.api import tile as tile
from .tensor.api import to_tensor as to_tensor
from .tensor.api import topk as topk
from .tensor.api import trace as trace
from .tensor.api import transpose as transpose
from .tensor.api import tril as tril
from .tensor.api import tril_indices as tril_indices
from .tensor.api import triu as triu
from .tensor.api import triu_indices as triu_indices
from .tensor.api import trunc as trunc
from .tensor.api import unbind as unbind
from .tensor.api import unflatten as unflatten
from .tensor.api import unfold as unfold
from .tensor.api import uniform as uniform
from .tensor.api import unique as unique
from .tensor.api import unsqueeze as unsqueeze
from .tensor.api import unsqueeze_ as unsqueeze_
from .tensor.api import unstack as unstack
from .tensor.api import var as var
from .tensor.api import view as view
from .tensor.api import vstack as vstack
from .tensor.api import where as where
from .tensor.api import zeros as zeros
from .tensor.api import zeros_like as zeros_like
from .tensor.autograd import enable_grad as enable_grad
from .tensor.autograd import grad as grad
from .tensor.autograd import no_grad as no_grad
from .tensor.autograd import set_grad_enabled as set_grad_enabled
from .tensor.dispatch import in_dynamic_mode as in_dynamic_mode
from .tensor.dispatch import is_grad_enabled as is_grad_enabled
from .tensor.printing import set_printoptions as set_printoptions

__version__ = "0.1.0"

# dtypes are their names
bool = "bool"
uint8 = "uint8"
int8 = "int8"
int16 = "int16"
int32 = "int32"
int64 = "int64"
float16 = "float16"
float32 = "float32"
float64 = "float64"

in_dygraph_mode = in_dynamic_mode

# functions that modify their first argument, which are its methods too
_IN_PLACE = (
    "abs_", "acos_", "addmm_", "atan_", "bitwise_and_", "bitwise_not_", "bitwise_or_", "bitwise_xor_", "cos_", "cumprod_", "cumsum_",
    "divide_", "erf_", "expm1_", "floor_divide_", "floor_mod_", "frac_", "hypot_", "index_add_", "index_fill_", "log10_", "log2_", "log_",
    "logit_", "masked_fill_", "mod_", "multiply_", "nan_to_num_", "neg_", "normal_", "pow_", "remainder_", "scatter_", "sin_", "sinh_",
    "square_", "t_", "tan_", "tanh_", "transpose_", "tril_", "triu_", "trunc_",
)  # fmt: skip
globals().update({_name: getattr(Tensor, _name) for _name in _IN_PLACE})

if _TYPE_CHECKING:
    from . import autograd as autograd
    from . import callbacks as callbacks
    from . import config as config
    from . import device as device
    from . import distributed as distributed
    from . import distribution as distribution
    from . import errors as errors
    from . import fluid as fluid
    from . import hapi as hapi
    from . import incubate as incubate
    from . import inference as inference
    from . import io as io
    from . import jit as jit
    from . import linalg as linalg
    from . import metric as metric
    from . import profiler as profiler
    from . import static as static
    from . import sysconfig as sysconfig
    from . import utils as utils
    from . import version as version
    from . import vision as vision
    from .distributed.parallel import DataParallel as DataParallel
    from .hapi import Model as Model

# these are imported when they are first asked for, so that eager users do not wait for the compiler
_LAZY_MODULES = (
    "autograd", "callbacks", "config", "device", "distributed", "distribution", "errors", "fluid", "hapi", "incubate", "inference", "io",
    "jit", "linalg", "metric", "profiler", "static", "sysconfig", "utils", "version", "vision",
)  # fmt: skip
_OTHER_NAMES = {"base": "fluid"}  # what PaddlePaddle calls it since 2.6
_LAZY_NAMES = {"DataParallel": "distributed", "Model": "hapi", "enable_static": "static", "disable_static": "static"}


def __getattr__(name: str) -> _Any:
    name = _OTHER_NAMES.get(name, name)
    if name in _LAZY_MODULES:
        return _importlib.import_module(f"{__name__}.{name}")
    if name in _LAZY_NAMES:
        return getattr(_importlib.import_module(f"{__name__}.{_LAZY_NAMES[name]}"), name)
    raise _missing(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY_MODULES, *_OTHER_NAMES, *_LAZY_NAMES})
