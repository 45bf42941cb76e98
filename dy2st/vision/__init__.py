"""Models and transforms of images."""

from ..missing_names import explain_missing as _explain_missing
from . import models as models
from . import transforms as transforms
from .models import VGG as VGG
from .models import LeNet as LeNet
from .models import MobileNetV2 as MobileNetV2
from .models import ResNet as ResNet
from .models import mobilenet_v2 as mobilenet_v2
from .models import resnet18 as resnet18
from .models import resnet34 as resnet34
from .models import resnet50 as resnet50
from .models import resnet101 as resnet101
from .models import resnet152 as resnet152
from .models import resnext50_32x4d as resnext50_32x4d
from .models import resnext101_32x4d as resnext101_32x4d
from .models import vgg11 as vgg11
from .models import vgg13 as vgg13
from .models import vgg16 as vgg16
from .models import vgg19 as vgg19
from .models import wide_resnet50_2 as wide_resnet50_2
from .models import wide_resnet101_2 as wide_resnet101_2

_explain_missing(__name__)
