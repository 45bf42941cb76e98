import sys
from pathlib import Path

# the helpers of the tests of layers
sys.path.insert(0, str(Path(__file__).parent.parent / "nn"))
