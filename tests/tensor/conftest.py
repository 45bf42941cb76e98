import sys
from pathlib import Path

# for gradcheck, and op_cases
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "runtime" / "ops"))
