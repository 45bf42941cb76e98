"""`fluid.dygraph`: dynamic mode and its layers."""

from ...jit.api import declarative as declarative
from ...jit.translator import ProgramTranslator as ProgramTranslator
from ...legacy.io import load_dygraph as load_dygraph
from ...legacy.io import save_dygraph as save_dygraph
from ...legacy.layers import FC as FC
from ...legacy.layers import Conv2D as Conv2D
from ...legacy.layers import Dropout as Dropout
from ...legacy.layers import Embedding as Embedding
from ...legacy.layers import Linear as Linear
from ...legacy.layers import Pool2D as Pool2D
from ...legacy.mode import disable_imperative as disable_dygraph
from ...legacy.mode import enable_imperative as enable_dygraph
from ...legacy.mode import guard as guard
from ...legacy.more_layers import Conv2DTranspose as Conv2DTranspose
from ...legacy.more_layers import Conv3D as Conv3D
from ...legacy.more_layers import Conv3DTranspose as Conv3DTranspose
from ...legacy.more_layers import GRUUnit as GRUUnit
from ...legacy.more_layers import InstanceNorm as InstanceNorm
from ...legacy.normalizations import GroupNorm as GroupNorm
from ...legacy.normalizations import LayerNorm as LayerNorm
from ...legacy.normalizations import PReLU as PReLU
from ...missing_names import explain_missing as _explain_missing
from ...nn import BatchNorm as BatchNorm
from ...nn import Layer as Layer
from ...nn import LayerList as LayerList
from ...nn import ParameterList as ParameterList
from ...nn import Sequential as Sequential
from ...tensor.autograd import grad as grad
from ...tensor.autograd import no_grad as no_grad
from ...tensor.creation import to_variable as to_variable
from . import base as base
from . import jit as jit
from . import nn as nn

_explain_missing(__name__)
