"""Texts with values in them: what `print`, `assert` and `raise_if` show."""

from __future__ import annotations

import numpy as np
import pytest
from dy2st_runtime.errors import AttributeValueError
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.ir import IRBuilder, Program
from dy2st_runtime.ops import message


@pytest.mark.parametrize(
    ("value", "spec", "text"),
    [
        (np.array(7), "=", "7"), (np.array([2.5]), "=:.3f", "2.500"), (np.array(True), "=", "True"), (np.array(7), "=!r:>3", "  7"),
        (np.array(0.123456, np.float32), ":.2f", "0.12"),
    ],
)  # fmt: skip
def test_a_value_by_its_spec(value: np.ndarray, spec: str, text: str) -> None:
    assert message.show(value, spec) == text


def test_the_front_end_says_how_tensors_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message, "_tensor_text", message._plain)
    assert message.show(np.array([1, 2]), "") == "[1 2]"
    message.set_tensor_text(lambda array, stop_gradient: f"{array.tolist()} {stop_gradient}")
    assert message.compose(["a ", " b ", ""], ["", "^"], [np.array([1, 2]), np.array([3])]) == "a [1, 2] True b [3] False"


def test_parts_must_fit_the_values() -> None:
    with pytest.raises(AttributeValueError, match="2 values need 3 parts and 2 specs"):
        message.check("print", ["a", "b"], ["", ""], 2)


def test_print_shows_the_values_of_each_run(capsys: pytest.CaptureFixture[str]) -> None:
    program = Program()
    x = program.global_block().create_var("x", "int64", (), is_data=True)
    b = IRBuilder(program.global_block())
    b.op("print", In=[x], parts=["x is ", ""], specs=["="], end=";\n")
    doubled = b.add(x, x)
    b.op("print", In=[doubled], parts=["twice ", ""], specs=["="], stderr=True)
    executable = Executable(program, ["x"], [doubled.name])
    for value in (3, 4):
        assert executable.run([np.array(value)])[0] == 2 * value
    shown = capsys.readouterr()
    assert shown.out == "x is 3;\nx is 4;\n"
    assert shown.err == "twice 6\ntwice 8\n"
