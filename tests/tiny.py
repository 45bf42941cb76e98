"""One test of each package, in about ten seconds once kernels are in the cache: `make tiny`, or `python -m tests.tiny`.

They say at once which package a change has broken. Arguments go on to pytest.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TESTS = {
    "dy2st": "test_profiler.py::test_each_op_and_line_has_its_calls_and_time",
    "dy2st/convert": "convert/test_plain_python.py::test_not_in_and_is_none",
    "dy2st/convert/alias": "convert/alias/test_merged_captures.py::test_an_argument_is_told_from_a_tensor_outside",
    "dy2st/convert/builtins": "convert/builtins/test_to_tensor.py::test_rows_of_which_only_the_run_knows_the_length",
    "dy2st/convert/calls": "convert/guards/test_computed_reads.py::test_getattribute_with_a_name",
    "dy2st/convert/contexts": "convert/contexts/test_logging.py::test_options_of_a_call_are_refused",
    "dy2st/convert/control": "convert/control/test_trace_counts.py::test_no_more_varies_than_in_a_trace_of_its_own",
    "dy2st/convert/effects": "convert/effects/test_attributes.py::test_an_attribute_that_some_calls_set",
    "dy2st/convert/guards": "convert/guards/test_reach.py",
    "dy2st/convert/iteration": "convert/iteration/test_outer_deques.py::test_what_a_loop_of_the_program_does_not_see_is_refused",
    "dy2st/convert/purity": "convert/purity/test_trace_time_effects.py::test_a_flag_of_another_thread_is_asked_at_each_call",
    "dy2st/convert/pyfacts": "convert/pyfacts/test_bytecode.py::test_numbers_of_more_than_a_byte",
    "dy2st/convert/regions": "convert/regions/test_replaced_containers.py::test_what_the_caller_holds_is_not_changed_unseen",
    "dy2st/convert/trace": "convert/trace/test_user_exceptions.py::test_caught",
    "dy2st/convert/training": "convert/training/test_leaf_gradients.py::test_hooks_that_come_and_go",
    "dy2st/convert/values": "convert/values/test_unset_and_none.py::test_reading_it_is_a_name_error",
    "dy2st/device": "framework/test_devices.py::test_events_and_streams",
    "dy2st/distributed": "distributed/test_one_process.py::TestEnvironment::test_who_this_is",
    "dy2st/distributed/communication": "distributed/test_one_process.py::TestCollectives::test_a_received_tensor_is_a_copy",
    "dy2st/distributed/fleet": "distributed/test_one_process.py::TestFleet::test_a_job",
    "dy2st/distributed/fleet/meta_parallel": "distributed/test_meta_parallel.py::test_random_states",
    "dy2st/distributed/launch": "distributed/test_one_process.py::test_a_script_is_launched",
    "dy2st/distributed/fleet/utils": "distributed/test_one_process.py::TestFleet::test_files",
    "dy2st/distribution": "distribution/test_distribution.py::test_draws",
    "dy2st/fluid": "legacy/test_names.py::test_random_numbers",
    "dy2st/fluid/dygraph": "legacy/test_legacy.py::test_to_variable_gives_a_tensor_back",
    "dy2st/framework": "framework/test_io.py::test_containers",
    "dy2st/hapi": "hapi/test_model.py::test_a_static_network_trains_as_in_eager_mode",
    "dy2st/incubate": "incubate/test_incubate.py::test_masked_softmax",
    "dy2st/incubate/nn": "incubate/test_incubate.py::test_fused_functions",
    "dy2st/inference": "inference/test_inference.py::test_kinds_and_versions",
    "dy2st/io": "framework/test_loader.py::test_batches",
    "dy2st/jit": "jit/test_static_function.py::test_sizes_retrace_once",
    "dy2st/jit/steps": "jit/steps/test_whole_calls.py::test_two_calls_in_a_step",
    "dy2st/legacy": "legacy/test_legacy.py::test_layers",
    "dy2st/library": "convert/values/test_container_subclasses.py::test_kept",
    "dy2st/metric": "framework/test_framework.py::test_accuracy",
    "dy2st/nn": "nn/test_layers.py::test_nothing_warns",
    "dy2st/nn/functional": "nn/test_window_arguments.py",
    "dy2st/nn/utils": "nn/test_utils.py::test_parameters_as_a_vector",
    "dy2st/optimizer": "optimizer/test_optimizers.py::test_training_converges",
    "dy2st/static": "static/test_executor.py::test_gradients_of_data",
    "dy2st/tensor": "tensor/test_dispatch.py",
    "dy2st/transpiler": "transpiler/test_scenarios.py::test_calls_are_converted",
    "dy2st/transpiler/analysis": "transpiler/analysis/test_analysis.py::test_effects_of_scopes",
    "dy2st/transpiler/passes": "transpiler/passes/test_exits.py::test_returns",
    "dy2st/utils": "framework/test_framework.py::test_nested_structures",
    "dy2st/vision": "vision/test_models.py::test_names",
    "dy2st/vision/models": "vision/test_models.py::test_errors",
    "dy2st/vision/transforms": "vision/test_transforms.py::test_tensors",
    "dy2st_runtime": "runtime/test_predictor.py::test_inputs_and_outputs",
    "dy2st_runtime/backward": "runtime/test_backward.py::test_a_broadcast_and_a_value_used_twice",
    "dy2st_runtime/codegen": "runtime/test_kernel_keys.py::test_a_kernel_on_elements_alone_is_one_for_all_shapes",
    "dy2st_runtime/executor": "runtime/executor/test_executable.py::test_nested_loops",
    "dy2st_runtime/formats": "runtime/formats/test_inference_model.py::test_only_what_the_fetches_need_is_saved",
    "dy2st_runtime/ir": "runtime/passes/test_ssa.py",
    "dy2st_runtime/loopir": "runtime/ops/test_hundreds.py::test_one_that_becomes_parts",
    "dy2st_runtime/lowering": "runtime/passes/test_rows.py::test_several_results_and_other_dtypes",
    "dy2st_runtime/ops": "runtime/ops/test_update.py::test_an_absent_gradient_leaves_the_state",
    "dy2st_runtime/passes": "runtime/passes/test_cse.py",
}


def main() -> int:
    tests = [str(ROOT / "tests" / test) for test in TESTS.values()]
    return int(pytest.main(["-q", "-m", "not slow", "-p", "no:cacheprovider", *sys.argv[1:], *tests]))


if __name__ == "__main__":
    sys.exit(main())
