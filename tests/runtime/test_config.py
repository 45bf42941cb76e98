"""The table of switches, as environment variables."""

import os
import subprocess
import sys

import pytest
from dy2st_runtime import config
from dy2st_runtime.passes.pipeline import PASSES

from dy2st.transpiler.pipeline import PIPELINE


def test_the_stages_that_can_be_printed_are_those_that_there_are():
    syntax, programs = [p.pass_name() for p in PIPELINE], list(dict.fromkeys(name for name, _ in PASSES))
    assert list(config.STAGES) == ["ast", *syntax, "code", "program", *programs, "loop", "source", "plan", "traces"]


def imported(**env):
    return subprocess.run([sys.executable, "-c", "import dy2st_runtime.config"], capture_output=True, text=True, env={**os.environ, **env})


@pytest.mark.parametrize(
    ("env", "text"),
    [
        ({"DY2ST_DUMP": "code,progam"}, "ValueError: environment variable DY2ST_DUMP='code,progam': 'progam' is nothing that can be "
                                        "printed, did you mean 'program'?; known are: all, ast"),
        ({"DY2ST_CHECKS": "maybe"}, "ValueError: environment variable DY2ST_CHECKS='maybe': expected 0 or 1"),
        ({"DY2ST_CHECK": "1"}, "RuntimeWarning: environment variable DY2ST_CHECK is no switch of dy2st, did you mean 'DY2ST_CHECKS'?"),
    ],
)  # fmt: skip
def test_what_is_unknown_is_said(env, text):
    done = imported(**env)
    assert text in done.stderr
    assert done.returncode == ("ValueError" in text)


def test_what_is_known_is_silent():
    assert imported(DY2ST_DUMP="code, all", DY2ST_CHECKS="1").stderr == ""
