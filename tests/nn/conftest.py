import sys
from pathlib import Path

# the helpers of these tests
sys.path.insert(0, str(Path(__file__).parent))
