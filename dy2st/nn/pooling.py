"""Pooling layers; each has the arguments of its function in `nn.functional`."""

from __future__ import annotations

from . import functional as F
from .activation import Activation


class Pooling(Activation):
    """Base: calls `function` with the arguments of the constructor."""


class MaxPool1D(Pooling):
    """The maximum of each window of sequences [N, C, L]."""

    function = staticmethod(F.max_pool1d)


class MaxPool2D(Pooling):
    """The maximum of each window of images [N, C, H, W].

    >>> from dy2st import zeros
    >>> MaxPool2D(2, 2)(zeros([1, 3, 4, 4])).shape
    [1, 3, 2, 2]
    """

    function = staticmethod(F.max_pool2d)


class AvgPool1D(Pooling):
    """The average of each window of sequences [N, C, L]."""

    function = staticmethod(F.avg_pool1d)


class AvgPool2D(Pooling):
    """The average of each window of images [N, C, H, W]."""

    function = staticmethod(F.avg_pool2d)


class AdaptiveAvgPool1D(Pooling):
    """The averages of a number of cells that cover sequences [N, C, L]."""

    function = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2D(Pooling):
    """The averages of a grid of cells that covers images [N, C, H, W]."""

    function = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveMaxPool1D(Pooling):
    """The maxima of a number of cells that cover sequences [N, C, L]."""

    function = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2D(Pooling):
    """The maxima of a grid of cells that covers images [N, C, H, W]."""

    function = staticmethod(F.adaptive_max_pool2d)


class MaxPool3D(Pooling):
    """The maximum of each window of volumes [N, C, D, H, W]."""

    function = staticmethod(F.max_pool3d)


class AvgPool3D(Pooling):
    """The average of each window of volumes [N, C, D, H, W]."""

    function = staticmethod(F.avg_pool3d)


class AdaptiveAvgPool3D(Pooling):
    """The averages of a grid of cells that covers volumes [N, C, D, H, W]."""

    function = staticmethod(F.adaptive_avg_pool3d)


class AdaptiveMaxPool3D(Pooling):
    """The maxima of a grid of cells that covers volumes [N, C, D, H, W]."""

    function = staticmethod(F.adaptive_max_pool3d)
