"""Each test has programs, a scope and names of its own."""

import pytest

import dy2st.unique_name
from dy2st import static


@pytest.fixture(autouse=True)
def fresh():
    """What a test builds and runs concerns no other."""
    with (
        static.program_guard(static.Program(), static.Program()),
        static.scope_guard(static.Scope()),
        dy2st.unique_name.guard(),
    ):
        yield


@pytest.fixture
def exe():
    return static.Executor()
