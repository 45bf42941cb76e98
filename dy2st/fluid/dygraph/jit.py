"""`fluid.dygraph.jit`."""

from ...jit.api import declarative as declarative
from ...jit.saving import save as save
from ...jit.translated_layer import load as load
