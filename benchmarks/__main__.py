"""Runs benchmarks by name, all by default, and prints their tables. Exit status 1 if a promised limit was missed."""

from __future__ import annotations

import argparse
import importlib
import os
import sys

from .common import Row

NAMES = ("startup", "conversion", "loops", "recursion", "training")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(NAMES)} (default: all)")
    names = parser.parse_args().names or list(NAMES)
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]!r}; choose from {', '.join(NAMES)}")
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}")
    missed: list[Row] = []
    for name in names:
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"{name}: {module.__doc__.splitlines()[0]}")
        for row in module.run():
            print(row, flush=True)
            if row.limit is not None and row.value > row.limit:
                missed.append(row)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
