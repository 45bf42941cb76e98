"""`fluid.dygraph.jit`."""

from ...jit.api import declarative as declarative
from ...jit.saving import save as save
from ...jit.translated_layer import load as load
from ...missing_names import explain_missing as _explain_missing

_explain_missing(__name__)
