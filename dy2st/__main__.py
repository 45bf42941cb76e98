"""`python -m dy2st`: runs scripts that import paddle, and explains the codes of errors."""

from .cli import main

if __name__ == "__main__":
    raise SystemExit(main())
