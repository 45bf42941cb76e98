"""`Config`: which model runs, and where."""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dy2st_runtime import Predictor as Runner
from dy2st_runtime.threads import get_num_threads, set_num_threads
from dy2st_runtime.warning import warn

from ..errors import AttributeValueError, DeviceError
from ..framework.place import is_compiled_with_cuda
from .kinds import PrecisionType

_ALWAYS = "each model is optimized and compiled"
_PLANNED = "memory is planned and used again in any case"
_KERNELS = "kernels are dy2st's own"
_TENSORRT = "of TensorRT"
# Switches that are accepted, and why they change nothing. docs/howto/deploy.md has the same table.
WITHOUT_EFFECT: dict[str, str] = {
    **dict.fromkeys(("switch_ir_optim", "switch_ir_debug", "delete_pass", "set_optimization_level", "enable_new_ir", "enable_new_executor",
                     "enable_cinn", "use_optimized_model", "enable_save_optim_model", "set_optim_cache_dir"), _ALWAYS),
    **dict.fromkeys(("enable_memory_optim", "enable_low_precision_io"), _PLANNED),
    **dict.fromkeys(("enable_mkldnn", "disable_mkldnn", "enable_onednn", "disable_onednn", "set_mkldnn_cache_capacity",
                     "set_onednn_cache_capacity", "set_mkldnn_op", "set_onednn_op", "disable_mkldnn_fc_passes",
                     "disable_onednn_fc_passes", "disable_onnxruntime", "enable_ort_optimization", "exp_enable_use_cutlass"), _KERNELS),
    **dict.fromkeys(("switch_use_feed_fetch_ops", "switch_specify_input_names"), "inputs have their names"),
    **dict.fromkeys(("enable_profile", "disable_glog_info"), "nothing is logged; `dy2st.profiler` measures"),
    **dict.fromkeys(("collect_shape_range_info", "enable_tuned_tensorrt_dynamic_shape", "set_trt_dynamic_shape_info",
                     "enable_tensorrt_varseqlen", "enable_tensorrt_memory_optim", "enable_tensorrt_dla", "enable_tensorrt_inspector",
                     "set_tensorrt_optimization_level", "exp_disable_tensorrt_ops"), _TENSORRT),
}  # fmt: skip
# Switches that are accepted with a warning: what they ask for is not here, the model runs all the same.
WITH_A_WARNING: dict[str, str] = {
    "enable_tensorrt_engine": "TensorRT", "enable_openvino_engine": "OpenVINO", "enable_onnxruntime": "the ONNX runtime",
    **dict.fromkeys(("enable_mkldnn_bfloat16", "enable_onednn_bfloat16"), "bfloat16"),
    **dict.fromkeys(("enable_mkldnn_int8", "enable_onednn_int8", "enable_tensorrt_explicit_quantization"), "quantization"),
}  # fmt: skip
# Switches that are errors: devices that dy2st has no code for.
REFUSED = ("enable_xpu", "enable_ipu", "enable_custom_device", "set_xpu_config", "set_xpu_device_id")


class Config:
    """Which model runs, and where.

    PaddlePaddle's switches are all accepted: `WITHOUT_EFFECT` has those that change nothing, and why; `WITH_A_WARNING` those that ask for
    what is not here. docs/howto/deploy.md has them as a table.

    Args:
        paths: of the program and of the parameters (`net.pdmodel`, `net.pdiparams`; or `__model__`, `__params__` in one folder); or of a
            folder in the 1.x form; or the path that was given to `jit.save`; or another Config, which is copied; or none yet.

    Raises:
        AttributeValueError: there are more than two paths.
        DeviceError: by a switch that asks for a device that dy2st has no code for.

    Example:
        >>> config = Config("model/net.pdmodel", "model/net.pdiparams")
        >>> config.set_cpu_math_library_num_threads(2)
        >>> config.prog_file(), config.cpu_math_library_num_threads()
        ('model/net.pdmodel', 2)
    """

    Precision = PrecisionType

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[..., None]: ...  # the switches of the tables above

    def __init__(self, *paths: Any):
        self._model = self._params = ""
        self._buffers: tuple[bytes, bytes] | None = None
        self._gpu: int | None = None
        self._pool_mb = 0
        self._threads: int | None = None
        self._called: dict[str, Any] = {}  # switches without effect -> the first argument
        if len(paths) == 1 and isinstance(paths[0], Config):
            vars(self).update(copy.deepcopy(vars(paths[0])))
        elif paths:
            self.set_model(*paths)

    # ---- the model ----
    def set_model(self, *paths: str | os.PathLike[str]) -> None:
        """Sets the path of a folder or both files: see `Config`."""
        if len(paths) not in (1, 2):
            raise AttributeValueError(f"a model has one path or two, of the program and the parameters; got {len(paths)}")
        self._model, self._params = os.fspath(paths[0]), os.fspath(paths[1]) if len(paths) == 2 else ""
        self._buffers = None

    def set_prog_file(self, path: str) -> None:
        """Sets the path of the program."""
        self._model = path

    def set_params_file(self, path: str) -> None:
        """Sets the path of the parameters."""
        self._params = path

    def set_model_buffer(self, program: bytes, program_size: int, params: bytes, params_size: int) -> None:
        """Sets the model itself: the bytes of both files, and their numbers."""
        self._buffers = bytes(program[:program_size]), bytes(params[:params_size])

    def model_from_memory(self) -> bool:
        """Whether the model was given as bytes."""
        return self._buffers is not None

    def model_dir(self) -> str:
        """The path of the model, if it is one; else ""."""
        return "" if self._params else self._model

    def prog_file(self) -> str:
        """The path of the program, if there are two; else ""."""
        return self._model if self._params else ""

    def params_file(self) -> str:
        """The path of the parameters."""
        return self._params

    # ---- where ----
    def enable_use_gpu(self, memory_pool_init_size_mb: int = 100, device_id: int = 0, precision_mode: Any = PrecisionType.Float32) -> None:
        """Runs the model on the GPU if CUDA support is installed; else there is a warning, and it runs on the CPU.

        Args:
            memory_pool_init_size_mb: without effect.
            device_id: 0.
            precision_mode: another than Float32 is a warning: a model runs in its own dtypes.

        Raises:
            DeviceError: another GPU than the first.
        """
        if device_id != 0:
            raise DeviceError(f"a model runs on the GPU 0, not {device_id!r}", hint="choose another by CUDA_VISIBLE_DEVICES")
        if precision_mode != PrecisionType.Float32:
            warn(f"{PrecisionType(precision_mode).name} is not here: the model runs in its own dtypes")
        self._pool_mb = memory_pool_init_size_mb
        if is_compiled_with_cuda():
            self._gpu = device_id
        else:
            warn("no CUDA support is installed: the model runs on the CPU")

    def disable_gpu(self) -> None:
        """Runs the model on the CPU, as it does by default."""
        self._gpu = None

    def use_gpu(self) -> bool:
        """Whether the model runs on the GPU."""
        return self._gpu is not None

    def gpu_device_id(self) -> int:
        """The number of the GPU, or 0."""
        return self._gpu or 0

    def memory_pool_init_size_mb(self) -> int:
        """What `enable_use_gpu` was given."""
        return self._pool_mb

    def set_cpu_math_library_num_threads(self, count: int) -> None:
        """Sets how many threads share the work of a kernel, once a predictor is made: of all predictors and static functions of the
        process, as they share one pool.

        Args:
            count: 1 or more. Without this call it is the number of cores (PaddlePaddle: 1).
        """
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise AttributeValueError(f"the number of threads must be 1 or more, got {count!r}")
        self._threads = count

    def cpu_math_library_num_threads(self) -> int:
        """How many threads share the work of a kernel."""
        return get_num_threads() if self._threads is None else self._threads

    # ---- what was switched ----
    def ir_optim(self) -> bool:
        """What `switch_ir_optim` was given; True without a call."""
        return bool(self._called.get("switch_ir_optim", True))

    def glog_info_disabled(self) -> bool:
        """Whether `disable_glog_info` was called."""
        return "disable_glog_info" in self._called

    def specify_input_name(self) -> bool:
        """What `switch_specify_input_names` was given."""
        return bool(self._called.get("switch_specify_input_names", False))

    def use_feed_fetch_ops_enabled(self) -> bool:
        """What `switch_use_feed_fetch_ops` was given."""
        return bool(self._called.get("switch_use_feed_fetch_ops", False))

    def mkldnn_enabled(self) -> bool:
        """False: kernels are dy2st's own."""
        return False

    onednn_enabled = mkldnn_int8_enabled = tensorrt_engine_enabled = onnxruntime_enabled = openvino_engine_enabled = mkldnn_enabled
    use_xpu = tensorrt_dynamic_shape_enabled = tuned_tensorrt_dynamic_shape = mkldnn_enabled

    def summary(self) -> str:
        """The model, the place and the threads as a table."""
        rows = {
            "model_file": self.prog_file() or self.model_dir(), "params_file": self._params,
            "device": f"gpu:{self._gpu}" if self.use_gpu() else "cpu", "cpu_math_thread": self.cpu_math_library_num_threads(),
        }  # fmt: skip
        return "\n".join(f"{name:16} {value}" for name, value in rows.items()) + "\n"

    def runner(self) -> Runner:
        """The predictor of the runtime.

        Raises:
            AttributeValueError: no model was set.
            FileNotFoundError, FormatError: see `dy2st_runtime.load_inference_model`.
        """
        place = "cuda" if self.use_gpu() else "cpu"
        if self._threads is not None:
            set_num_threads(self._threads)
        if self._buffers is not None:
            with tempfile.TemporaryDirectory() as folder:
                files = [Path(folder) / name for name in ("model.pdmodel", "model.pdiparams")]
                for file, data in zip(files, self._buffers, strict=True):
                    file.write_bytes(data)
                return Runner(files[0], place=place)
        if not self._model:
            raise AttributeValueError("the Config names no model", hint="give it the paths of the program and of the parameters")
        folder, name = os.path.split(self._model)
        if not self._params or name.endswith((".pdmodel", ".json")):
            beside = os.path.relpath(self._params, folder or ".") if self._params else None
            return Runner(self._model, params_filename=beside, place=place)
        return Runner(folder or ".", model_filename=name, params_filename=os.path.relpath(self._params, folder or "."), place=place)


def _accepted(name: str, why: str) -> Callable[..., None]:
    def switch(self: Config, *args: Any, **kwargs: Any) -> None:
        self._called[name] = next(iter((*args, *kwargs.values())), True)

    switch.__doc__ = f"Accepted, without effect: {why}."
    return switch


def _warned(what: str) -> Callable[..., None]:
    def switch(self: Config, *args: Any, **kwargs: Any) -> None:
        warn(f"{what} is not here: the model runs on dy2st's own kernels, in its own dtypes")

    switch.__doc__ = f"A warning, and the model runs all the same: {what} is not here."
    return switch


def _refused(name: str) -> Callable[..., None]:
    def switch(self: Config, *args: Any, **kwargs: Any) -> None:
        raise DeviceError(f"{name}: there is no code for such a device", hint="leave it out: the model runs on the CPU")

    switch.__doc__ = "Raises a DeviceError: dy2st runs on CPUs, and on GPUs of NVIDIA."
    return switch


for _name, _text in WITHOUT_EFFECT.items():
    setattr(Config, _name, _accepted(_name, _text))
for _name, _text in WITH_A_WARNING.items():
    setattr(Config, _name, _warned(_text))
for _name in REFUSED:
    setattr(Config, _name, _refused(_name))
