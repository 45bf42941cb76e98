"""What all tests share."""

import gc
import os
import random
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from dy2st_runtime.executor import kept
from hypothesis import settings

import dy2st

HERE = Path(__file__).parent

# what tests of several folders use; and the corpus of user functions as the package `corpus`
sys.path.insert(0, str(HERE / "helpers"))
corpus = types.ModuleType("corpus")
corpus.__path__ = [str(HERE / "programs")]
sys.modules["corpus"] = corpus

# The same examples in every run, so that a failure is the fault of the change that is tested and not of the dice. A random program can
# also be one whose ints grow without end. DY2ST_FUZZ=1 looks for new examples, and for tests that hold for some weights only.
settings.register_profile("fixed", derandomize=True, deadline=None)
FIXED = os.environ.get("DY2ST_FUZZ") != "1"
if FIXED:
    settings.load_profile("fixed")


KEPT_SYMBOL = kept.symbol


def pytest_collection_finish():
    """The tests and the modules stay until the end: no search for garbage is to look through them. A worker has a million such objects,
    and each search, also those that tests ask for, took half a second."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def planned():
    """Tests look at what becomes of a Program, some with other constants than the text of the package has: nothing is kept of it.
    With KEEP_PLANS=1 plans are kept: a second run takes those of the first."""
    if os.environ.get("KEEP_PLANS") == "1":
        yield
        return
    # a patch of its own: `monkeypatch` would be undone behind all fixtures of a test
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept, "symbol", lambda *_: None)
        yield


@pytest.fixture(autouse=True)
def seeded():
    """Weights and what else a test draws are those of every other run, too."""
    if FIXED:
        dy2st.seed(0)
        np.random.seed(0)
        random.seed(0)
