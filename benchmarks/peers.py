"""Virtual environments for the peers: `python -m benchmarks.peers [paddle] [torch] [jax] [onnxruntime]` makes those that are missing.

`--package NAME=REQUIREMENT` installs something else for a package, as `torch=torch==2.13.0+cpu` where the default brings GPU
libraries. The runner makes what is missing too. They lie in `benchmarks/.venvs`, or in `--venvs FOLDER`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from .frameworks import PEERS

FOLDER = Path(__file__).parent / ".venvs"


def python_of(peer: str, folder: Path = FOLDER, packages: dict[str, str] | None = None) -> str:
    """The interpreter of a peer's virtual environment, which is made if it is missing."""
    place = folder / peer
    python, done = place / "bin" / "python", place / "installed.txt"
    if not done.exists():
        wanted = [(packages or {}).get(name, name) for name in ("numpy", *PEERS[peer])]
        print(f"making {place}: {' '.join(wanted)}", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *wanted], check=True)
        done.write_text("\n".join(wanted) + "\n")
    return str(python)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__.splitlines()[0])
    parser.add_argument("peers", nargs="*", metavar="PEER", help=f"which: {', '.join(PEERS)} (default: all)")
    parser.add_argument("--venvs", type=Path, default=FOLDER)
    parser.add_argument("--package", action="append", default=[], metavar="NAME=REQUIREMENT")
    options = parser.parse_args()
    unknown = [p for p in options.peers if p not in PEERS]
    if unknown:
        parser.error(f"unknown peer {unknown[0]!r}; choose from {', '.join(PEERS)}")
    packages = dict(p.split("=", 1) for p in options.package)
    for peer in options.peers or PEERS:
        print(python_of(peer, options.venvs, packages))
    return 0


if __name__ == "__main__":
    sys.exit(main())
