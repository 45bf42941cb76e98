import sys
from pathlib import Path

# `tests.fuzz` is a package
sys.path.insert(0, str(Path(__file__).parent.parent.parent))
