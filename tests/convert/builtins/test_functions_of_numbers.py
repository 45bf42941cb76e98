"""Functions of the API that take one operand: of a Python number that only the run knows they give what they give of one in eager mode."""

import inspect
import types
import warnings

import numpy as np
import pytest
from dy2st_runtime import config

import dy2st
from dy2st import fluid, jit
from dy2st.nn import functional
from dy2st.tensor import Tensor

# of the process, without end, or drawn anew by each call
OTHERS = {"seed", "save", "load", "in_dynamic_mode", "enable_static", "disable_static", "summary"}
RANDOM = ("rand", "gauss", "normal", "uniform", "dropout", "rrelu", "bernoulli", "poisson", "gumbel", "multinomial")
# they take more than eager mode does: a number of the run has what tensors have
LENIENT = {"add_n", "is_integer"}


def functions(module: types.ModuleType) -> list[str]:
    found = []
    for name, f in vars(module).items():
        if not inspect.isfunction(f) or name.startswith(("_", "set_")) or name in OTHERS | LENIENT or any(r in name for r in RANDOM):
            continue
        parameters = list(inspect.signature(f).parameters.values())
        if sum(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters) == 1:
            found.append(name)
    return found


def result(f, *args):
    try:
        return f(*args)
    except Exception as error:
        return error


@pytest.mark.parametrize("module", [dy2st, functional, fluid.layers], ids=lambda m: m.__name__)
@pytest.mark.parametrize("whole", [True, False], ids=["int", "float"])
def test_a_number_of_the_run_makes_what_a_number_makes(module: types.ModuleType, whole: bool) -> None:
    names = functions(module)
    same = 0
    for name in names:
        function = getattr(module, name)

        def program(x):
            number = int(x.sum()) if whole else float(x.sum()) * 0.5
            return function(number)  # noqa: B023

        x = Tensor(np.array([1.0, 2.0], "float32"))
        with config.NO_JIT.override(True), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            eager, static = result(program, x), result(jit.to_static(program), x)
        if isinstance(static, Exception):  # it says so
            continue
        assert type(static) is type(eager), (name, eager, static)
        if isinstance(eager, Tensor):
            assert static.dtype == eager.dtype, (name, eager, static)
            np.testing.assert_allclose(static.numpy(), eager.numpy(), rtol=1e-6, err_msg=name)
            same += 1
    assert same > 15
