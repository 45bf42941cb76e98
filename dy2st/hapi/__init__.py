"""Training without a loop of one's own: `Model` with its callbacks."""

from .model import Model as Model
