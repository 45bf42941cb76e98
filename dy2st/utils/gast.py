"""Syntax trees that are alike in all versions of Python: the package `gast`, where PaddlePaddle has it."""

from gast import *  # noqa: F403
