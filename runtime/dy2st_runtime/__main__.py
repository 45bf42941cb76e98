"""`python -m dy2st_runtime`: run, show and describe saved models."""

from .cli import main

if __name__ == "__main__":
    raise SystemExit(main())
