"""A pytest plugin: the hand-built programs of the executor's tests run on CUDA instead of the CPU."""

from __future__ import annotations

import hand_built
from dy2st_runtime.executor.cuda import CudaExecutable

hand_built.Executable = CudaExecutable
