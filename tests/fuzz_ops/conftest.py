import sys
from pathlib import Path

# `tests.fuzz` and `tests.fuzz_ops` are packages
sys.path.insert(0, str(Path(__file__).parent.parent.parent))
