import sys
from pathlib import Path

# for gradcheck
sys.path.insert(0, str(Path(__file__).parent))
