"""Optimizer steps in programs: parameters are updated in place, and a step without a gradient leaves everything as it
is."""

from typing import Any

import numpy as np
import pytest
from dy2st_runtime import reference
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.ir import IRBuilder, Program, Variable
from dy2st_runtime.ops import registry
from dy2st_runtime.ops.control import ABSENT


def training_step() -> tuple[Program, dict[str, np.ndarray]]:
    """One step of Adam on a parameter of 3 elements, with its state."""
    program = Program()
    block = program.global_block()
    grad = block.create_var("grad", "float32", [3], is_data=True)
    state = {"w": np.arange(3, dtype=np.float32), "m1": np.zeros(3, np.float32), "m2": np.zeros(3, np.float32),
             "b1": np.array([0.9], np.float32), "b2": np.array([0.999], np.float32), "lr": np.array([0.1], np.float32)}  # fmt: skip
    v = {name: block.create_var(name, "float32", value.shape, persistable=True) for name, value in state.items()}
    outs = {"ParamOut": "w", "Moment1Out": "m1", "Moment2Out": "m2", "Beta1PowOut": "b1", "Beta2PowOut": "b2"}
    adam = registry.get("adam")
    ins: tuple[Variable, ...] = (v["w"], grad, v["lr"], v["m1"], v["m2"], v["b1"], v["b2"])
    IRBuilder(block).apply(adam, ins, adam.complete_attrs({}), {slot: [name] for slot, name in outs.items()})
    return program, state


def run(backend: str, program: Program, grads: list[Any], state: dict[str, np.ndarray]) -> None:
    """Runs a step for each gradient; `state` is updated."""
    if backend == "reference":
        for g in grads:
            reference.run_program(program, {"grad": g}, state)
        return
    executable = Executable(program, ["grad"], [], absent_feeds=["grad"])
    for g in grads:
        executable.run([g], state)


@pytest.mark.parametrize("backend", ["reference", "native"])
def test_adam_takes_steps_of_the_learning_rate(backend: str) -> None:
    program, state = training_step()
    grad = np.array([1.0, -2.0, 0.0], np.float32)
    run(backend, program, [grad, grad, grad], state)
    # with a constant gradient every bias-corrected step is lr * sign(gradient)
    np.testing.assert_allclose(state["w"], [-0.3, 1.3, 2.0], rtol=1e-4)
    np.testing.assert_allclose(state["b1"], [0.9**4], rtol=1e-5)


@pytest.mark.parametrize("backend", ["reference", "native"])
def test_an_absent_gradient_leaves_the_state(backend: str) -> None:
    program, state = training_step()
    before = {name: value.copy() for name, value in state.items()}
    run(backend, program, [ABSENT], state)
    for name, value in before.items():
        np.testing.assert_array_equal(state[name], value, err_msg=name)
    run(backend, program, [np.ones(3, np.float32), ABSENT, np.ones(3, np.float32)], state)
    np.testing.assert_allclose(state["w"], before["w"] - 0.2, rtol=1e-4)
