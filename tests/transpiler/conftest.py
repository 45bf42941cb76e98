"""Makes the helper modules beside the tests importable, and keeps generated files out of the user's cache."""

import sys
from pathlib import Path

import pytest
from dy2st_runtime import config

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory):
    config.CACHE_DIR.set(str(tmp_path_factory.mktemp("cache")))
    yield
    config.CACHE_DIR.set("")
