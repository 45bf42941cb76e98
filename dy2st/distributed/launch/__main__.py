"""`python -m dy2st.distributed.launch train.py`: see `launch`."""

from . import launch

if __name__ == "__main__":
    launch()
