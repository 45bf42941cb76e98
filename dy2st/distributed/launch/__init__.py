"""`python -m dy2st.distributed.launch`: runs a script in a job of one process."""

from ...missing_names import explain_missing as _explain_missing
from ..spawning import launch as launch

_explain_missing(__name__)
