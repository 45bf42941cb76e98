"""The functions of images, under the names of `paddle.vision.transforms.functional`."""

from ...missing_names import explain_missing as _explain_missing
from .color import adjust_brightness as adjust_brightness
from .color import adjust_contrast as adjust_contrast
from .color import adjust_hue as adjust_hue
from .color import adjust_saturation as adjust_saturation
from .geometry import center_crop as center_crop
from .geometry import crop as crop
from .geometry import erase as erase
from .geometry import hflip as hflip
from .geometry import normalize as normalize
from .geometry import pad as pad
from .geometry import resize as resize
from .geometry import to_grayscale as to_grayscale
from .geometry import to_tensor as to_tensor
from .geometry import vflip as vflip

_explain_missing(__name__)
