import sys
from pathlib import Path

# the helpers of these tests, and the corpus of user functions
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
