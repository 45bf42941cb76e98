"""Linear layers, embeddings and losses with the names that they have where their weights are divided."""

from __future__ import annotations

from typing import Any

from ....nn import Embedding, Layer, Linear
from ....nn import functional as F
from ....tensor import Tensor
from ...environment import Group, require_one_process


class ColumnParallelLinear(Linear):
    """x @ weight + bias, with the columns of the weight divided: `nn.Linear` in one process.

    Args:
        in_features, out_features: sizes.
        weight_attr: see `ParamAttr`.
        has_bias: whether there is a bias; None: no.
        gather_output, fuse_matmul_bias, mp_group, name: accepted as PaddlePaddle has them.

    Raises:
        WorldError: the environment says that there are several processes.

    >>> [name for name, _ in ColumnParallelLinear(3, 2).named_parameters()]
    ['weight']
    """

    def __init__(self, in_features: int, out_features: int, weight_attr: Any = None, has_bias: bool | None = None,
                 gather_output: bool = True, fuse_matmul_bias: bool = False, mp_group: Group | None = None,
                 name: str | None = None) -> None:  # fmt: skip
        require_one_process()
        super().__init__(in_features, out_features, weight_attr, None if has_bias else False)


class RowParallelLinear(Linear):
    """x @ weight + bias, with the rows of the weight divided: `nn.Linear` in one process.

    Args:
        in_features, out_features: sizes.
        weight_attr: see `ParamAttr`.
        has_bias: whether there is a bias.
        input_is_parallel, fuse_matmul_bias, mp_group, name: accepted as PaddlePaddle has them.

    Raises:
        WorldError: the environment says that there are several processes.
    """

    def __init__(self, in_features: int, out_features: int, weight_attr: Any = None, has_bias: bool = True,
                 input_is_parallel: bool = False, fuse_matmul_bias: bool = False, mp_group: Group | None = None,
                 name: str | None = None) -> None:  # fmt: skip
        require_one_process()
        super().__init__(in_features, out_features, weight_attr, None if has_bias else False)


class VocabParallelEmbedding(Embedding):
    """Rows of a table, which are divided: `nn.Embedding` in one process. Integers [...] → [..., embedding_dim].

    Args:
        num_embeddings, embedding_dim: the shape of the table.
        weight_attr: see `ParamAttr`.
        mp_group, name: accepted as PaddlePaddle has them.

    Raises:
        WorldError: the environment says that there are several processes.
    """

    def __init__(self, num_embeddings: int, embedding_dim: int, weight_attr: Any = None, mp_group: Group | None = None,
                 name: str | None = None) -> None:  # fmt: skip
        require_one_process()
        super().__init__(num_embeddings, embedding_dim, weight_attr=weight_attr)


class ParallelCrossEntropy(Layer):
    """The cross entropy of logits whose classes are divided: `nn.functional.softmax_with_cross_entropy` in one process.

    Logits [..., classes] and labels [...] or [..., 1] → [..., 1].

    Args:
        mp_group, name: accepted as PaddlePaddle has them.
        ignore_index: the label whose loss is 0.

    Raises:
        WorldError: the environment says that there are several processes.
    """

    def __init__(self, mp_group: Group | None = None, name: str | None = None, ignore_index: int = -100) -> None:
        require_one_process()
        super().__init__()
        self.ignore_index = ignore_index

    def forward(self, input: Any, label: Any) -> Tensor:
        found: Tensor = F.softmax_with_cross_entropy(input, label, ignore_index=self.ignore_index)
        return found
