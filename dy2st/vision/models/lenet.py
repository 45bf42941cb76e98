"""LeNet (LeCun et al., 1998), for images of digits."""

from __future__ import annotations

from typing import Any

from ... import nn
from ...tensor import Tensor


class LeNet(nn.Layer):
    """[N, 1, 28, 28] → [N, num_classes].

    >>> from dy2st import zeros
    >>> LeNet()(zeros([1, 1, 28, 28])).shape
    [1, 10]
    """

    def __init__(self, num_classes: int = 10) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.features = nn.Sequential(
            nn.Conv2D(1, 6, 3, 1, 1), nn.ReLU(), nn.MaxPool2D(2, 2),
            nn.Conv2D(6, 16, 5, 1, 0), nn.ReLU(), nn.MaxPool2D(2, 2),
        )  # fmt: skip
        if num_classes > 0:
            self.fc = nn.Sequential(nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, num_classes))

    def forward(self, inputs: Any) -> Tensor:
        x = self.features(inputs)
        return self.fc(x.flatten(1)) if self.num_classes > 0 else x
