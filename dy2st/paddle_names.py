"""The public names of PaddlePaddle 2.6.2, and what is to be said of those that are missing here.

The names have one source, tests/data/paddle_names.txt, which `tools/paddle_names.py` writes. A checkout reads that file, and the build
copies it into the package (setup.py). The page docs/reference/paddle-api.md is made from the same tables.
"""

from __future__ import annotations

import difflib
import functools
import sys
import types
from pathlib import Path
from typing import NamedTuple

_PACKAGE = Path(__file__).parent
_ROOT = __name__.rpartition(".")[0]
# where the names are in an installed package, and where in a checkout
FILES = (_PACKAGE / "paddle_names.txt", _PACKAGE.parent / "tests" / "data" / "paddle_names.txt")
PAGE = "docs/reference/paddle-api.md"

_NO_SPARSE = "there are no sparse tensors"
_NO_CHIPS = "dy2st runs on CPUs, and on GPUs of NVIDIA"
_NO_QUANTIZATION = "there is no quantization"
_NO_SERVERS = "there are no parameter servers"
_INSIDE = "this belongs to the inside of PaddlePaddle's tensors"

# names, or namespaces with all that is in them -> why they are left out. All other names are planned.
LEFT_OUT: dict[str, str] = {
    "paddle.sparse": _NO_SPARSE,
    **dict.fromkeys((f"paddle.Tensor.{name}" for name in (
        "coalesce", "cols", "crows", "indices", "is_same_shape", "nnz", "to_dense", "to_sparse_coo", "to_sparse_csr", "values")),
        _NO_SPARSE),
    "paddle.nn.functional.sparse_attention": _NO_SPARSE,
    "paddle.incubate.asp": "kernels gain nothing from weights with zeros",
    "paddle.quantization": _NO_QUANTIZATION,
    "paddle.nn.quant": _NO_QUANTIZATION,
    **dict.fromkeys((f"paddle.distributed.{name}" for name in (
        "CountFilterEntry", "InMemoryDataset", "ProbabilityEntry", "QueueDataset", "ShowClickEntry",
        "fleet.MultiSlotDataGenerator", "fleet.MultiSlotStringDataGenerator", "fleet.utils.DistributedInfer", "fleet.utils.HDFSClient")),
        _NO_SERVERS),
    "paddle.static.ctr_metric_bundle": _NO_SERVERS,
    "paddle.static.nn.sparse_embedding": _NO_SERVERS,
    **dict.fromkeys((f"paddle.static.{name}" for name in (
        "IpuCompiledProgram", "IpuStrategy", "ipu_shard_guard", "set_ipu_shard", "xpu_places")), _NO_CHIPS),
    "paddle.device.xpu": _NO_CHIPS,
    "paddle.device.IPUPlace": _NO_CHIPS,
    "paddle.device.XPUPlace": _NO_CHIPS,
    "paddle.inference.XpuConfig": _NO_CHIPS,
    **dict.fromkeys((f"paddle.static.nn.sequence_{name}" for name in (
        "concat", "conv", "enumerate", "expand", "expand_as", "first_step", "last_step", "pad", "pool", "reshape", "reverse", "scatter",
        "slice", "softmax", "unpad")), "tensors have no levels of detail; pad the sequences, and pass their lengths"),
    **dict.fromkeys((f"paddle.Tensor.{name}" for name in (
        "dist_attr", "get_map_tensor", "get_selected_rows", "get_tensor", "is_dense", "is_dist", "is_selected_rows", "is_sparse",
        "is_sparse_coo", "is_sparse_csr", "num_shard", "offset", "placements", "process_mesh", "reconstruct_from_", "rows",
        "set_string_list", "set_vocab")), _INSIDE),
    "paddle.onnx": "models are saved in PaddlePaddle's format, and its own tools convert that",
    "paddle.hub": "dy2st does not load code from the network",
}  # fmt: skip

_ONE_PROCESS = "leave it out, in one process"
_IN_NUMPY = "use NumPy outside of static functions; no gradient flows through that"

# the same -> what to write now. In-place methods, functions and methods of one name, and names of 1.x have rules (`_by_rule`).
INSTEAD: dict[str, str] = {
    "paddle.amp": "leave it out: each tensor keeps its dtype",
    "paddle.batch": "use `paddle.io.DataLoader`",
    "paddle.callbacks": "call it in the training loop",
    "paddle.distributed": _ONE_PROCESS,
    "paddle.distribution": "use `paddle.normal`, `paddle.uniform` and the like; write log densities by their formula",
    "paddle.fft": _IN_NUMPY,
    "paddle.incubate.autograd.grad": "use `paddle.grad`",
    "paddle.inference.convert_to_mixed_precision": "use the model as it is, in its own dtypes",
    "paddle.linalg": _IN_NUMPY,
    "paddle.optimizer.Lamb": "use `paddle.optimizer.AdamW`",
    "paddle.static.Print": "use `print` in a static function, or fetch the value",
    "paddle.static.nn.py_func": "use `paddle.custom_op`",
    "paddle.static.py_func": "use `paddle.custom_op`",
    "paddle.summary": "print the layer",
    "paddle.vision.datasets": "write a `paddle.io.Dataset` that reads the files",
    # of 1.x
    "paddle.fluid.DataFeeder": "use a dict of arrays as the `feed`",
    "paddle.fluid.dygraph.CosineDecay": "use `paddle.optimizer.lr.CosineAnnealingDecay`",
    "paddle.fluid.dygraph.LinearLrWarmup": "use `paddle.optimizer.lr.LinearWarmup`",
    "paddle.fluid.dygraph.ReduceLROnPlateau": "use `paddle.optimizer.lr.ReduceOnPlateau`",
    "paddle.fluid.io.DataLoader": "use `paddle.io.DataLoader`",
    "paddle.fluid.io.PyReader": "use `paddle.io.DataLoader`",
    "paddle.fluid.layers.Print": "use `print` in a static function, or fetch the value",
    "paddle.fluid.layers.StaticRNN": "use `for` in a static function, or `paddle.fluid.layers.rnn`",
    "paddle.fluid.layers.Switch": "use `if` in a static function, or `paddle.fluid.layers.case`",
    "paddle.fluid.layers.While": "use `while` in a static function, or `paddle.fluid.layers.while_loop`",
    "paddle.fluid.layers.cosine_decay": "use `paddle.optimizer.lr.CosineAnnealingDecay`",
    "paddle.fluid.layers.linear_lr_warmup": "use `paddle.optimizer.lr.LinearWarmup`",
    "paddle.fluid.layers.noam_decay": "use `paddle.optimizer.lr.NoamDecay`",
    "paddle.fluid.layers.py_func": "use `paddle.custom_op`",
    "paddle.fluid.metrics": "use `paddle.metric.Accuracy`, or NumPy on what is fetched",
    "paddle.fluid.nets": "use its parts, such as `paddle.fluid.layers.conv2d` and `paddle.fluid.layers.pool2d`",
}
# where PaddlePaddle 2 keeps what 1.x has in `fluid`
_OF_FLUID = ("paddle.fluid.", "paddle.base.")
_HOMES_OF_FLUID = ("paddle", "paddle.nn.functional", "paddle.nn", "paddle.static", "paddle.static.nn", "paddle.optimizer")


_MISSING = object()


class Status(NamedTuple):
    """What becomes of a name that is missing.

    Attributes:
        reason: why it is left out; None if it is planned.
        instead: what to write now; None if nothing does.
        rule: the same in words for all names that a rule is about; None if `instead` is from the table.
    """

    reason: str | None
    instead: str | None
    rule: str | None = None


@functools.cache
def names() -> frozenset[str]:
    """All names, dotted, with "paddle" in front."""
    return frozenset(next(path for path in FILES if path.exists()).read_text(encoding="utf-8").split())


def of_paddle(module: str, name: str) -> str:
    """The name in PaddlePaddle of what a module of dy2st would have."""
    dotted = f"paddle{module.removeprefix(_ROOT)}.{name}"
    homes: tuple[str, ...] = ()
    if module in (f"{_ROOT}.tensor", f"{_ROOT}.framework"):
        homes = ("paddle",)  # PaddlePaddle documents them there
    elif dotted.startswith(_OF_FLUID) and _by_rule(dotted)[0] is None:
        homes = _HOMES_OF_FLUID
    return next((f"{home}.{name}" for home in homes if f"{home}.{name}" in names()), dotted)


def exists(dotted: str) -> bool:
    """Whether dy2st has a name of PaddlePaddle's."""
    return _found(dotted) is not _MISSING


def _found(dotted: str) -> object:
    """What dy2st has under a name of PaddlePaddle's, or `_MISSING`."""
    found: object = sys.modules[_ROOT]
    for name in dotted.split(".")[1:]:
        # a module is asked by `dir`, as asking it for a name that is missing would lead here again
        if not (name in dir(found) if isinstance(found, types.ModuleType) else hasattr(found, name)):
            return _MISSING
        found = getattr(found, name)
    return found


def status(dotted: str) -> Status:
    """What becomes of a name of PaddlePaddle's that is missing."""
    reason, instead = _of_nearest(LEFT_OUT, dotted), _of_nearest(INSTEAD, dotted)
    return Status(reason, instead) if instead else Status(reason, *_by_rule(dotted))


def _of_nearest(table: dict[str, str], dotted: str) -> str | None:
    """The entry for a name, or for the innermost namespace that has one."""
    while "." in dotted:
        if dotted in table:
            return table[dotted]
        dotted = dotted.rpartition(".")[0]
    return None


def _by_rule(dotted: str) -> tuple[str, str] | tuple[None, None]:
    """What serves instead of a name, by its form alone; and the rule in words."""
    namespace, _, name = dotted.rpartition(".")
    if name.endswith("_") and _is_function(dotted[:-1]):
        return f"use `{dotted[:-1]}`, which gives a new tensor", "use the form without the underscore, which gives a new tensor"
    if namespace == "paddle.Tensor" and _is_function(f"paddle.{name}"):
        return f"use the function `paddle.{name}`", "use the function `paddle.NAME`"
    if namespace == "paddle" and _is_function(f"paddle.Tensor.{name}"):
        return f"use the method `paddle.Tensor.{name}`", "use the method of tensors"
    if dotted.startswith(_OF_FLUID):
        found = next((f"{home}.{name}" for home in _HOMES_OF_FLUID if exists(f"{home}.{name}")), None)
        if found is not None:
            return f"use `{found}`, its name in PaddlePaddle 2", "use the name in PaddlePaddle 2"
    return None, None


def _is_function(dotted: str) -> bool:
    return isinstance(_found(dotted), types.FunctionType)


@functools.lru_cache(maxsize=1024)
def remark(dotted: str) -> str | None:
    """The end of the error for a name that is missing; None if PaddlePaddle has no such name, as far as is known here."""
    reason, instead, _ = status(dotted)
    if dotted not in names() and instead is None:
        return None
    why = "PaddlePaddle has it, dy2st not yet" if reason is None else f"PaddlePaddle has it, dy2st has not: {reason}"
    cure = f"{instead[0].upper()}{instead[1:]}. " if instead else ""
    return f"{why}. {cure}{PAGE} lists what is missing"


@functools.lru_cache(maxsize=1024)
def suggestion(module: str, name: str) -> str:
    """The end of the error for a name that PaddlePaddle does not have either: the same name elsewhere, or one that is near, if there is."""
    elsewhere = sorted((known for known in names() if known.endswith(f".{name}") and exists(known)), key=lambda known: (len(known), known))
    public = [known for known in dir(sys.modules[module]) if not known.startswith("_")]
    near = elsewhere or difflib.get_close_matches(name, public, n=1)
    return f". Did you mean: {near[0]!r}?" if near else ""
