"""`python -m tests.fuzz_ops --seconds 600 --seed 0`: random programs of many operations; see CONTRIBUTING.md.

Each program is run eagerly and natively, for calls of several sizes (`check` says what is compared), in a process that is started
again when it dies or hangs. A disagreement is made small and printed as a program that `--file` runs. The last line says which seeds
were run: the next run can go on from there. `--show SEED` prints a program, `--one SEED` runs one.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import multiprocessing
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path

from dy2st_runtime import config

from tests.fuzz.reduce import reduced

from .check import Disagreement, check
from .generator import program
from .reduce import candidates
from .templates import GROUPS

CHUNK = 40
PATIENCE = 120  # seconds without a word of a process that runs a program
NOTHING = "DISAGREEMENT no result"  # the process dies or hangs


def run(text: str, seconds: float, said: Callable[[str, str], None]) -> tuple[str, str]:
    """What became of a program: a note of `check`, or a disagreement and its report.

    Args:
        seconds: for making a program small.
        said: is told what is known, before each call that may not come back.
    """
    said(NOTHING, text)
    try:
        return check(text), ""
    except Disagreement as error:
        kind, message = error.kind, str(error)
    end, messages = time.monotonic() + seconds, {text: message}

    def shows(smaller: str) -> bool:
        said(f"DISAGREEMENT {kind}", f"{message}\n\n{text}")
        if time.monotonic() > end:
            return False
        try:
            check(smaller)
        except Disagreement as error:
            messages[smaller] = str(error)
            return error.kind == kind
        except Exception:
            return False  # what is left is no program
        return False

    small = reduced(text, shows, smaller=candidates)
    return f"DISAGREEMENT {kind}", f"{messages[small]}\n\n{small}"


def worker(send: Connection, seeds: range, groups: list[str], seconds: float, cache: str) -> None:
    """Sends of each seed (seed, what, report, whether that is all)."""
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    warnings.simplefilter("ignore")
    config.CACHE_DIR.set(cache)  # so many kernels are of no use in the user's cache
    for seed in seeds:
        what, report = run(program(seed, groups), seconds, lambda what, report, seed=seed: send.send((seed, what, report, False)))
        send.send((seed, what, report, True))


def chunk(seeds: range, groups: list[str], seconds: float, cache: str) -> Iterator[tuple[int, str, str]]:
    """(seed, what, report) of seeds in order, up to one at which the process dies or hangs."""
    context = multiprocessing.get_context("spawn")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=worker, args=(send, seeds, groups, seconds, cache))
    process.start()
    send.close()
    seed, what, report, ended = seeds.start, NOTHING, "", False
    try:
        while receive.poll(PATIENCE):
            seed, what, report, ended = receive.recv()
            if ended:
                yield seed, what, report
        how = f"nothing for {PATIENCE} s"
    except EOFError:
        process.join()
        how = f"exit status {process.exitcode}"
    finally:
        process.kill()
        process.join()
    if not ended:
        yield seed, what, f"{how}\n{report}"
    elif seed != seeds[-1]:  # while it wrote the next program
        yield seed + 1, NOTHING, how


def results(options: argparse.Namespace) -> Iterator[tuple[int, str, str]]:
    """(seed, what, report) of all seeds, in order."""
    seed, last = options.seed, options.seed + options.programs if options.programs else sys.maxsize
    while seed < last:
        seeds = range(seed, min(seed + CHUNK, last))
        with tempfile.TemporaryDirectory(prefix="dy2st-fuzz-ops-") as folder, \
                contextlib.closing(chunk(seeds, options.groups, options.reducing, folder)) as ended:  # fmt: skip
            for result in ended:
                yield result
                seed = result[0] + 1


def search(options: argparse.Namespace) -> int:
    start, total, done = time.monotonic(), Counter[str](), options.seed - 1
    try:
        for done, what, report in results(options):
            total[what] += 1
            if report:
                print(f"--- seed {done}: {what}\n{report}\n", flush=True)
            if (done + 1) % 500 == 0:
                print(f"... {done} after {time.monotonic() - start:.0f} s", flush=True)
            if time.monotonic() - start > options.seconds:
                break
    except KeyboardInterrupt:
        print()
    failures = sum(n for what, n in total.items() if what.startswith("DISAGREEMENT"))
    for what, number in total.most_common():
        print(f"{number:7} {what}")
    of = f" of the groups {', '.join(options.groups)}" if options.groups else ""
    print(f"{sum(total.values())} programs{of}, seeds {options.seed} to {done}, in {time.monotonic() - start:.0f} s: "
          f"{failures} disagreements")  # fmt: skip
    return 1 if failures else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz_ops", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--programs", type=int, default=0, help="stop after so many (0: when the time is over)")
    parser.add_argument("--reducing", type=float, default=60, help="seconds for making a program small")
    parser.add_argument("--groups", nargs="+", default=[], choices=GROUPS, help="of templates (all); a seed is another program then")
    parser.add_argument("--show", type=int, metavar="SEED", help="print a program")
    parser.add_argument("--one", type=int, metavar="SEED", help="run a program")
    parser.add_argument("--file", type=Path, help="run the program of a file")
    options = parser.parse_args()
    if options.show is not None:
        print(program(options.show, options.groups))
        return 0
    if options.one is None and options.file is None:
        return search(options)
    try:
        print(check(options.file.read_text() if options.file else program(options.one, options.groups)))
    except Disagreement as error:
        print(error)
        return 1
    return 0
