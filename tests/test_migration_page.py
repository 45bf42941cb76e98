"""The programs of docs/migration.md run."""

from pathlib import Path

import numpy as np

from dy2st.testing import check_op

PAGE = (Path(__file__).parent.parent / "docs" / "migration.md").read_text(encoding="utf-8")


def test_the_op_of_the_page():
    blocks = [part.split("```")[0] for part in PAGE.split("```python\n")[1:]]
    assert len(blocks) == 3
    scope = {}
    exec("\n".join(blocks[:2]), scope)
    check_op(scope["running_max"], np.array([1.0, 3.0, 2.0, 5.0]))
    compile(blocks[2], "migration.md", "exec")
