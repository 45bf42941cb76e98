"""Static functions: `to_static`, `declarative`, and what belongs to them."""

from ..convert.calls.calls import ignore_module as ignore_module
from ..convert.calls.calls import not_to_static as not_to_static
from ..missing_names import explain_missing as _explain_missing
from .api import declarative as declarative
from .api import set_code_level as set_code_level
from .api import set_verbosity as set_verbosity
from .api import to_static as to_static
from .concrete import ConcreteProgram as ConcreteProgram
from .recompute import recompute as recompute
from .saving import save as save
from .signature import InputSpec as InputSpec
from .static_function import StaticFunction as StaticFunction
from .static_function import enable_to_static as enable_to_static
from .translated_layer import TranslatedLayer as TranslatedLayer
from .translated_layer import load as load
from .translator import ProgramTranslator as ProgramTranslator

_explain_missing(__name__)
