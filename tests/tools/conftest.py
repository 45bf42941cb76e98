import sys
from pathlib import Path

# `tests.tiny` and `tests.pythons` are scripts of a package
sys.path.insert(0, str(Path(__file__).parent.parent.parent))
