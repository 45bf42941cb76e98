"""Transforms of images: of PIL images, NumPy arrays and tensors, under PaddlePaddle's names."""

from ...missing_names import explain_missing as _explain_missing
from . import functional as functional
from .color import BrightnessTransform as BrightnessTransform
from .color import ColorJitter as ColorJitter
from .color import ContrastTransform as ContrastTransform
from .color import HueTransform as HueTransform
from .color import SaturationTransform as SaturationTransform
from .functional import adjust_brightness as adjust_brightness
from .functional import adjust_contrast as adjust_contrast
from .functional import adjust_hue as adjust_hue
from .functional import center_crop as center_crop
from .functional import crop as crop
from .functional import erase as erase
from .functional import hflip as hflip
from .functional import normalize as normalize
from .functional import pad as pad
from .functional import resize as resize
from .functional import to_grayscale as to_grayscale
from .functional import to_tensor as to_tensor
from .functional import vflip as vflip
from .random_transforms import RandomCrop as RandomCrop
from .random_transforms import RandomErasing as RandomErasing
from .random_transforms import RandomHorizontalFlip as RandomHorizontalFlip
from .random_transforms import RandomResizedCrop as RandomResizedCrop
from .random_transforms import RandomVerticalFlip as RandomVerticalFlip
from .transforms import BaseTransform as BaseTransform
from .transforms import CenterCrop as CenterCrop
from .transforms import Compose as Compose
from .transforms import Grayscale as Grayscale
from .transforms import Normalize as Normalize
from .transforms import Pad as Pad
from .transforms import Resize as Resize
from .transforms import ToTensor as ToTensor
from .transforms import Transpose as Transpose

_explain_missing(__name__)
