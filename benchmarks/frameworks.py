"""The frameworks that run the workloads, how each stages a model, and how its results become arrays.

Nothing is imported here before it is asked for: a measurement runs in the virtual environment of its framework.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .workloads.common import Refused

# peer -> what is installed for it from the package index
PEERS = {"paddle": ["paddlepaddle", "setuptools"], "torch": ["torch"], "jax": ["jax"],
         "onnxruntime": ["torch", "onnx", "onnxscript", "onnxruntime"]}  # fmt: skip


def _as_it_is(model: Any) -> Any:
    return model


@dataclass(frozen=True)
class Stage:
    """How dy2st or PaddlePaddle stages a model, and as a whole a training step or what asks for gradients."""

    model: Callable[[Any], Any]
    step: Callable[[Any], Any] = _as_it_is

    def __call__(self, model: Any) -> Any:
        return self.model(model)


@dataclass(frozen=True)
class Framework:
    """A way to run a workload.

    Attributes:
        name: `dy2st`, `torch compile`, ...
        peer: the virtual environment that has it; empty: the one that runs dy2st.
        dialect: which of a workload's functions it runs.
        only: the kinds of cases it can do.
    """

    name: str
    peer: str
    dialect: str
    only: tuple[str, ...] = ("train", "infer", "grad")


FRAMEWORKS = {f.name: f for f in (
    Framework("dy2st", "", "paddle"),
    Framework("dy2st step", "", "paddle", ("train", "grad")),
    Framework("dy2st eager", "", "paddle"),
    Framework("paddle eager", "paddle", "paddle"),
    Framework("paddle to_static", "paddle", "paddle"),
    Framework("torch eager", "torch", "torch"),
    Framework("torch compile", "torch", "torch"),
    Framework("torch script", "torch", "torch"),
    Framework("jax", "jax", "jax"),
    Framework("onnxruntime", "onnxruntime", "torch", ("infer",)),
)}  # fmt: skip


def opened(framework: Framework, threads: int) -> tuple[Any, ...]:
    """Imports a framework: its module, and (but for JAX, whose programs stage themselves) the function that stages a model."""
    if framework.dialect == "jax":
        import jax

        return (jax,)
    if framework.dialect == "torch":
        import torch

        torch.set_num_threads(threads)
        stages = {"torch eager": _as_it_is, "torch compile": torch.compile, "torch script": torch.jit.script,
                  "onnxruntime": lambda model: _OnnxModel(torch, model, threads)}  # fmt: skip
        return torch, stages[framework.name]
    if framework.peer == "paddle":
        import paddle
    else:
        import dy2st as paddle
    if framework.name == "dy2st step":
        return paddle, Stage(_as_it_is, paddle.jit.to_static)
    return paddle, Stage(_as_it_is if framework.name.endswith("eager") else paddle.jit.to_static)


class _OnnxModel:
    """A module of PyTorch, exported at its first call and run by ONNX Runtime."""

    def __init__(self, torch: Any, model: Any, threads: int):
        if not isinstance(model, torch.nn.Module):
            raise Refused("only modules are exported")
        if any(word in model.forward.__code__.co_names for word in ("bool", "all")):
            raise Refused("the exporter refuses a loop on data")
        self.torch, self.model, self.threads, self.session = torch, model, threads, None

    def __call__(self, *inputs: Any) -> Any:
        feeds = [x.numpy() for x in inputs]
        if self.session is None:
            import onnxruntime

            program = self.torch.onnx.export(self.model, inputs, dynamo=True, verbose=False)
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = self.threads
            self.session = onnxruntime.InferenceSession(program.model_proto.SerializeToString(), options)
            self.names = [x.name for x in self.session.get_inputs()]
        return self.session.run(None, dict(zip(self.names, feeds, strict=True)))


def finish(result: Any) -> Any:
    """Waits for what JAX computes in the background; returns the result."""
    for x in leaves(result):
        if hasattr(x, "block_until_ready"):
            x.block_until_ready()
    return result


def leaves(result: Any) -> list[Any]:
    """The tensors in tuples and lists."""
    return [x for part in result for x in leaves(part)] if isinstance(result, (tuple, list)) else [result]


def arrays(result: Any) -> list[np.ndarray]:
    """The results as arrays."""
    plain = (x.detach() if hasattr(x, "detach") else x for x in leaves(result))
    return [np.asarray(x.numpy() if hasattr(x, "numpy") else x) for x in plain]


def environment(threads: int, cache: str) -> dict[str, str]:
    """The environment of a measurement: so many threads, and all caches in a folder of its own."""
    names = ("DY2ST_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    limits = dict.fromkeys(names, str(threads))
    caches = {"DY2ST_CACHE_DIR": "dy2st", "TORCHINDUCTOR_CACHE_DIR": "torch", "JAX_COMPILATION_CACHE_DIR": "jax"}
    more = {"JAX_PLATFORMS": "cpu", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "CUDA_VISIBLE_DEVICES": ""}
    return {**os.environ, **limits, **{name: os.path.join(cache, folder) for name, folder in caches.items()}, **more}
