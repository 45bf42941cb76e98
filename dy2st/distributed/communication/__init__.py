"""`distributed.communication`: the collectives, and `stream`."""

from ...missing_names import explain_missing as _explain_missing
from . import stream as stream

_explain_missing(__name__)
