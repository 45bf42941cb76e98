"""Models of images."""

from ..missing_names import explain_missing as _explain_missing
from . import models as models

_explain_missing(__name__)
