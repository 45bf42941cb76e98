"""`fluid.dygraph.nn`."""

from ...legacy.layers import FC as FC
from ...legacy.layers import Conv2D as Conv2D
from ...legacy.layers import Dropout as Dropout
from ...legacy.layers import Embedding as Embedding
from ...legacy.layers import Linear as Linear
from ...legacy.layers import Pool2D as Pool2D
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

_explain_missing(__name__)
