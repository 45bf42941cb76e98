"""`fluid.initializer`."""

from ..nn.initializer import Assign as NumpyArrayInitializer
from ..nn.initializer import Constant as Constant
from ..nn.initializer import Constant as ConstantInitializer
from ..nn.initializer import Kaiming as MSRA
from ..nn.initializer import Kaiming as MSRAInitializer
from ..nn.initializer import Normal as Normal
from ..nn.initializer import Normal as NormalInitializer
from ..nn.initializer import TruncatedNormal as TruncatedNormal
from ..nn.initializer import TruncatedNormal as TruncatedNormalInitializer
from ..nn.initializer import Uniform as Uniform
from ..nn.initializer import Uniform as UniformInitializer
from ..nn.initializer import Xavier as Xavier
from ..nn.initializer import Xavier as XavierInitializer
