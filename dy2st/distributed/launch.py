"""`python -m dy2st.distributed.launch train.py`: see `launch`."""

from __future__ import annotations

from .spawning import launch as launch

if __name__ == "__main__":
    launch()
