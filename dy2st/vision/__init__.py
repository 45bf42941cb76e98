"""Models of images."""

from . import models as models
