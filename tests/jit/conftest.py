import sys
from pathlib import Path

# the functions that are refused, those for `full_graph=False`, and the cases of the corpus
sys.path.insert(0, str(Path(__file__).parent))
