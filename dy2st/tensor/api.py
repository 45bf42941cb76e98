"""The public functions on tensors, each under its public name, and which of them are methods of `Tensor` too."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from . import (
    arranging,
    attribute,
    creation,
    derived,
    later_methods,
    linalg,
    logic,
    manipulation,
    math,
    picking,
    random,
    reduction,
    scaling,
    search,
    statistics,
)
from .arranging import bucketize as bucketize
from .arranging import diagonal as diagonal
from .arranging import diff as diff
from .arranging import hstack as hstack
from .arranging import index_add as index_add
from .arranging import isin as isin
from .arranging import kron as kron
from .arranging import kthvalue as kthvalue
from .arranging import median as median
from .arranging import put_along_axis as put_along_axis
from .arranging import repeat_interleave as repeat_interleave
from .arranging import rot90 as rot90
from .arranging import scatter_nd as scatter_nd
from .arranging import searchsorted as searchsorted
from .arranging import shard_index as shard_index
from .arranging import tensordot as tensordot
from .arranging import trace as trace
from .arranging import tril_indices as tril_indices
from .arranging import triu_indices as triu_indices
from .arranging import vstack as vstack
from .attribute import is_complex as is_complex
from .attribute import is_floating_point as is_floating_point
from .attribute import is_integer as is_integer
from .attribute import numel as numel
from .attribute import rank as rank
from .attribute import shape as shape
from .creation import arange as arange
from .creation import assign as assign
from .creation import clone as clone
from .creation import diag as diag
from .creation import empty as empty
from .creation import empty_like as empty_like
from .creation import eye as eye
from .creation import full as full
from .creation import full_like as full_like
from .creation import linspace as linspace
from .creation import meshgrid as meshgrid
from .creation import ones as ones
from .creation import ones_like as ones_like
from .creation import to_tensor as to_tensor
from .creation import to_variable as to_variable
from .creation import tril as tril
from .creation import triu as triu
from .creation import zeros as zeros
from .creation import zeros_like as zeros_like
from .derived import deg2rad as deg2rad
from .derived import fmax as fmax
from .derived import fmin as fmin
from .derived import frac as frac
from .derived import hypot as hypot
from .derived import logaddexp as logaddexp
from .derived import logit as logit
from .derived import nan_to_num as nan_to_num
from .derived import nanmean as nanmean
from .derived import nansum as nansum
from .derived import rad2deg as rad2deg
from .distinct import unique as unique
from .linalg import addmm as addmm
from .linalg import bmm as bmm
from .linalg import cross as cross
from .linalg import dot as dot
from .linalg import einsum as einsum
from .linalg import inner as inner
from .linalg import matmul as matmul
from .linalg import mm as mm
from .linalg import mv as mv
from .linalg import outer as outer
from .logic import allclose as allclose
from .logic import bitwise_and as bitwise_and
from .logic import bitwise_left_shift as bitwise_left_shift
from .logic import bitwise_not as bitwise_not
from .logic import bitwise_or as bitwise_or
from .logic import bitwise_right_shift as bitwise_right_shift
from .logic import bitwise_xor as bitwise_xor
from .logic import equal as equal
from .logic import equal_all as equal_all
from .logic import greater_equal as greater_equal
from .logic import greater_than as greater_than
from .logic import is_empty as is_empty
from .logic import is_tensor as is_tensor
from .logic import isclose as isclose
from .logic import less_equal as less_equal
from .logic import less_than as less_than
from .logic import logical_and as logical_and
from .logic import logical_not as logical_not
from .logic import logical_or as logical_or
from .logic import logical_xor as logical_xor
from .logic import not_equal as not_equal
from .logic import where as where
from .manipulation import broadcast_tensors as broadcast_tensors
from .manipulation import broadcast_to as broadcast_to
from .manipulation import cast as cast
from .manipulation import chunk as chunk
from .manipulation import concat as concat
from .manipulation import expand as expand
from .manipulation import expand_as as expand_as
from .manipulation import flatten as flatten
from .manipulation import flip as flip
from .manipulation import gather as gather
from .manipulation import gather_nd as gather_nd
from .manipulation import index_select as index_select
from .manipulation import moveaxis as moveaxis
from .manipulation import reshape as reshape
from .manipulation import reshape_ as reshape_
from .manipulation import roll as roll
from .manipulation import scatter as scatter
from .manipulation import scatter_nd_add as scatter_nd_add
from .manipulation import slice as slice
from .manipulation import split as split
from .manipulation import squeeze as squeeze
from .manipulation import squeeze_ as squeeze_
from .manipulation import stack as stack
from .manipulation import strided_slice as strided_slice
from .manipulation import swapaxes as swapaxes
from .manipulation import t as t
from .manipulation import take_along_axis as take_along_axis
from .manipulation import tile as tile
from .manipulation import transpose as transpose
from .manipulation import unbind as unbind
from .manipulation import unflatten as unflatten
from .manipulation import unsqueeze as unsqueeze
from .manipulation import unsqueeze_ as unsqueeze_
from .manipulation import unstack as unstack
from .manipulation import view as view
from .math import abs as abs
from .math import acos as acos
from .math import acosh as acosh
from .math import add as add
from .math import add_n as add_n
from .math import asin as asin
from .math import asinh as asinh
from .math import atan as atan
from .math import atanh as atanh
from .math import ceil as ceil
from .math import cos as cos
from .math import cosh as cosh
from .math import divide as divide
from .math import erf as erf
from .math import exp as exp
from .math import expm1 as expm1
from .math import floor as floor
from .math import floor_divide as floor_divide
from .math import floor_mod as floor_mod
from .math import isfinite as isfinite
from .math import isinf as isinf
from .math import isnan as isnan
from .math import lerp as lerp
from .math import log as log
from .math import log1p as log1p
from .math import log2 as log2
from .math import log10 as log10
from .math import maximum as maximum
from .math import minimum as minimum
from .math import mod as mod
from .math import multiply as multiply
from .math import neg as neg
from .math import pow as pow
from .math import reciprocal as reciprocal
from .math import remainder as remainder
from .math import round as round
from .math import rsqrt as rsqrt
from .math import sign as sign
from .math import sin as sin
from .math import sinh as sinh
from .math import sqrt as sqrt
from .math import square as square
from .math import stanh as stanh
from .math import subtract as subtract
from .math import tan as tan
from .math import tanh as tanh
from .math import trunc as trunc
from .picking import heaviside as heaviside
from .picking import index_fill as index_fill
from .picking import take as take
from .picking import unfold as unfold
from .random import bernoulli as bernoulli
from .random import gaussian as gaussian
from .random import get_rng_state as get_rng_state
from .random import multinomial as multinomial
from .random import normal as normal
from .random import rand as rand
from .random import randint as randint
from .random import randint_like as randint_like
from .random import randn as randn
from .random import randperm as randperm
from .random import seed as seed
from .random import set_rng_state as set_rng_state
from .random import standard_normal as standard_normal
from .random import uniform as uniform
from .reduction import all as all
from .reduction import amax as amax
from .reduction import amin as amin
from .reduction import any as any
from .reduction import count_nonzero as count_nonzero
from .reduction import cumprod as cumprod
from .reduction import cumsum as cumsum
from .reduction import dist as dist
from .reduction import logsumexp as logsumexp
from .reduction import max as max
from .reduction import mean as mean
from .reduction import min as min
from .reduction import norm as norm
from .reduction import prod as prod
from .reduction import std as std
from .reduction import sum as sum
from .reduction import var as var
from .scaling import clip as clip
from .scaling import increment as increment
from .scaling import scale as scale
from .search import argmax as argmax
from .search import argmin as argmin
from .search import argsort as argsort
from .search import index_sample as index_sample
from .search import masked_fill as masked_fill
from .search import masked_select as masked_select
from .search import nonzero as nonzero
from .search import one_hot as one_hot
from .search import sort as sort
from .search import topk as topk
from .statistics import bincount as bincount
from .statistics import histogram as histogram
from .statistics import mode as mode
from .statistics import quantile as quantile
from .tensor import Tensor

_METHOD_NAMES: dict[Any, str] = {
    arranging: "bucketize diagonal diff index_add kron kthvalue median put_along_axis repeat_interleave rot90 tensordot trace",
    derived: "deg2rad fmax fmin frac logit nan_to_num nanmean nansum rad2deg",
    attribute: "numel is_floating_point is_integer is_complex",
    linalg: "matmul mm bmm mv dot inner outer cross addmm",
    logic: "equal not_equal less_than less_equal greater_than greater_equal logical_and logical_or logical_xor "
    "logical_not bitwise_and bitwise_or bitwise_xor bitwise_not isclose allclose equal_all is_empty where",
    manipulation: "reshape view reshape_ flatten unflatten squeeze squeeze_ unsqueeze unsqueeze_ transpose t moveaxis swapaxes "
    "split chunk unbind unstack expand broadcast_to expand_as tile flip roll slice "
    "strided_slice gather index_select gather_nd scatter scatter_nd_add take_along_axis concat stack",
    math: "add subtract multiply divide floor_divide remainder mod floor_mod pow maximum minimum exp expm1 log "
    "log2 log10 log1p sqrt rsqrt square abs sign floor ceil round trunc sin cos tan asin acos atan sinh "
    "cosh tanh asinh acosh atanh erf reciprocal isnan isinf isfinite neg lerp add_n",
    scaling: "scale clip",
    reduction: "sum mean max min amax amin prod all any logsumexp cumsum cumprod var std norm dist count_nonzero",
    search: "argmax argmin argsort sort topk nonzero masked_select masked_fill index_sample",
    random: "bernoulli multinomial",
    picking: "heaviside index_fill take unfold fill_diagonal_",
    statistics: "bincount histogram mode quantile",
}

METHODS: dict[str, Any] = {
    "rank": attribute.rank,
    **{name: getattr(module, name) for module, names in _METHOD_NAMES.items() for name in names.split()},
    "T": property(manipulation.reverse_axes),
    "tril": creation.tril,
    "triu": creation.triu,
    "unique": unique,
    **later_methods.METHODS,
}
"""What `operators.install` gives to `Tensor`."""


@functools.cache  # two names of a function stay two names of one
def of_numbers(function: Callable[..., Any], module: str) -> Callable[..., Any]:
    """A function of tensors, which makes a tensor also of numbers alone; operators on numbers, which share the code, give numbers.

    One that modifies a tensor gives that, and stays as it is.

    Args:
        module: where the result is to be found under the function's name, by `pickle` for one.
    """

    if function.__name__.endswith("_") or function.__name__ == "increment":
        return function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        out = function(*args, **kwargs)
        return creation.tensor_of(out) if isinstance(out, Tensor) and out._weak else out

    call.__module__ = module
    return call


def all_of_numbers(namespace: dict[str, Any], *modules: str) -> None:
    """Gives a module that shows the functions of these modules what `of_numbers` makes of them."""
    for name, function in list(namespace.items()):
        if isinstance(function, types.FunctionType) and function.__module__ in modules:
            namespace[name] = of_numbers(function, namespace["__name__"])


all_of_numbers(globals(), math.__name__, scaling.__name__, logic.__name__, derived.__name__)
