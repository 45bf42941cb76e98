"""Test helpers of this folder can be imported by name."""

import sys
from pathlib import Path

for folder in (".", "cuda", "executor", "formats", "ops", "passes"):
    sys.path.insert(0, str(Path(__file__).parent / folder))
