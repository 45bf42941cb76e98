"""`fluid.initializer`."""

from ..missing_names import explain_missing as _explain_missing
from ..nn.initializer import Assign as NumpyArrayInitializer
from ..nn.initializer import Constant as Constant
from ..nn.initializer import Constant as ConstantInitializer
from ..nn.initializer import MSRAInitializer as MSRA
from ..nn.initializer import MSRAInitializer as MSRAInitializer
from ..nn.initializer import NormalInitializer as Normal
from ..nn.initializer import NormalInitializer as NormalInitializer
from ..nn.initializer import TruncatedNormalInitializer as TruncatedNormal
from ..nn.initializer import TruncatedNormalInitializer as TruncatedNormalInitializer
from ..nn.initializer import UniformInitializer as Uniform
from ..nn.initializer import UniformInitializer as UniformInitializer
from ..nn.initializer import Xavier as Xavier
from ..nn.initializer import Xavier as XavierInitializer

_explain_missing(__name__)
