"""Python to Python: control flow becomes calls of a runtime object that the caller provides.

The transpiler knows nothing of tensors. `docs/explanation/architecture.md` has the form of the generated code.
"""

from dy2st.transpiler.conversion import Converted as Converted
from dy2st.transpiler.conversion import convert as convert
from dy2st.transpiler.conversion import first_yield as first_yield
from dy2st.transpiler.conversion import locate as locate
from dy2st.transpiler.conversion import place_of as place_of
from dy2st.transpiler.errors import ConversionError as ConversionError
from dy2st.transpiler.loader import is_generated as is_generated
from dy2st.transpiler.loader import made_functions as made_functions
from dy2st.transpiler.loader import made_variables as made_variables
from dy2st.transpiler.visible import DEBUGGERS as DEBUGGERS
