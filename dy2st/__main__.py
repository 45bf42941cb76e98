"""`python -m dy2st`: explains the codes of errors."""

from .cli import main

if __name__ == "__main__":
    raise SystemExit(main())
