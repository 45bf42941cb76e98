"""`fluid.dygraph.base`."""

from ...legacy.mode import disable_imperative as disable_dygraph
from ...legacy.mode import enable_imperative as enable_dygraph
from ...legacy.mode import guard as guard
from ...missing_names import explain_missing as _explain_missing
from ...tensor.autograd import grad as grad
from ...tensor.autograd import no_grad as no_grad
from ...tensor.creation import to_variable as to_variable

_explain_missing(__name__)
