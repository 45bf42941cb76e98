import sys
import types
from pathlib import Path

HERE = Path(__file__).parent

# the helpers of these tests; and the corpus of user functions as the package `corpus`
sys.path.insert(0, str(HERE))
corpus = types.ModuleType("corpus")
corpus.__path__ = [str(HERE.parent / "programs")]
sys.modules["corpus"] = corpus
