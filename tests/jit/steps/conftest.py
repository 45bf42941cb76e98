import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dy2st.jit.steps import learning
from dy2st.tensor import watching

sys.path.insert(0, str(Path(__file__).parent))  # the loops


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Steps are joined as soon as they are known to be alike, however little time they take."""
    monkeypatch.setattr(learning, "SHARE", 0.0)
    yield
    watching.end()
    assert not watching.blocks
