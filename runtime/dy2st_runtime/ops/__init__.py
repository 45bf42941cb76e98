"""The op records, a file for each family. Importing this package registers them all."""

from . import accumulate as accumulate
from . import activation as activation
from . import arithmetic as arithmetic
from . import batch_norm as batch_norm
from . import check as check
from . import compare as compare
from . import control as control
from . import conv as conv
from . import cross_entropy as cross_entropy
from . import fill as fill
from . import join as join
from . import matmul as matmul
from . import movement as movement
from . import pad as pad
from . import pool as pool
from . import random as random
from . import reduce as reduce
from . import row_norm as row_norm
from . import row_norm_grad as row_norm_grad
from . import scan as scan
from . import set_value as set_value
from . import shape as shape
from . import slicing as slicing
from . import softmax as softmax
from . import unary as unary
from . import update as update
