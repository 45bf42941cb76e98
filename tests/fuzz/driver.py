"""`python -m tests.fuzz --seconds 600 --seed 0 --jobs 2`: random programs in parallel processes; see CONTRIBUTING.md.

Each program is run eagerly and by the interpreter after the passes (gradients, state and exceptions included); each tenth also
transformed but eager, by the plain interpreter, and saved and read again; another tenth computed again for the gradient; each
`--native`-th natively; with `--ways cuda,native` each in these ways and no others. A disagreement is made small and
printed as a regression test. The last line says which seeds were run: the next run can go on from there. With `--mutants` the
programs are those of the corpus, changed; with `--tangles` those in which tensors have many names, with `--mixtures` those in which
one name is a number, a tensor, a text or None.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from dy2st_runtime import config

from dy2st.transpiler import loader

from .generator import program
from .mixtures import mixture
from .mutants import Mutant, MutantWay, mutant
from .reduce import reduced, regression_test
from .tangles import CALLS as TANGLED
from .tangles import tangle
from .ways import CALLS, COMPILED, WAYS, Disagreement, Way, check

CHUNK = 25
CHUNKS = 16  # of one process: what its programs leave ends with it, some 4 MB for each
EAGER, LIMIT, REDUCING = 3, 60, 600  # seconds of the processor, for a program in eager mode and in all ways, and for making it small
COMPILING = 10  # how many times as long the ways that compile may take, where all programs are run so
MEMORY = 8 << 30


class OutOfTime(BaseException):
    """A program does not come to an end (what is made smaller may lose its counter)."""


_running = False
_stopped = False


def stop(*_: object) -> None:
    global _stopped
    if _running:  # not when it has just come to its end
        _stopped = True
        raise OutOfTime


def ways_of(seed: int, native: int, only: Sequence[str] = ()) -> list[str]:
    """In which ways a program is run: in some that are told, or by its seed."""
    if only:
        return list(only)
    more = {0: ["converted", "interpreted", "saved"], 5: ["recomputed"]}.get(seed % 10, [])
    return ["optimized", *more] + ["native"] * (native > 0 and seed % native == 0)


MADE = {
    "grammar": lambda seed: Mutant(program(seed), CALLS, ""),
    "mutants": mutant,
    "tangles": lambda seed: Mutant(tangle(seed), TANGLED, ""),
    "mixtures": lambda seed: Mutant(mixture(seed), TANGLED, ""),
}
"""Where the program of a seed comes from."""


def run(seed: int, native: int, of: str = "grammar", only: Sequence[str] = ()) -> tuple[str, str]:
    """What became of one program: "same", "raised", "refused ...", or a disagreement and its report."""
    made, mutants = MADE[of](seed), of == "mutants"
    source, ways = made.text, ways_of(seed, native, only)
    whole = LIMIT * COMPILING if COMPILED.intersection(only) else LIMIT

    def disagreement(text: str, ways: Sequence[str] = ways, limit: float = whole / 6) -> tuple[str, str]:
        global _running, _stopped
        _running, _stopped = True, False
        signal.signal(signal.SIGVTALRM, stop)
        # again and again: a `finally` of the program may be what the first one meets
        signal.setitimer(signal.ITIMER_VIRTUAL, limit, 1)
        try:
            refusal, raised = check(text, ways, seed % 4, made.calls, MutantWay if mutants else Way)
        except Disagreement as error:
            kind, what = error.kind, str(error)
        except OutOfTime:
            pass
        except Exception as error:
            kind, what = f"the harness: {type(error).__name__}", repr(error)
        else:
            kind = ""
        finally:
            _running = False
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        if _stopped:  # whatever became of it: a program, or what traces it, may have caught it
            return "no end", f"no end within {limit} s"
        if kind:
            return kind, what
        if refusal is None:
            return "", "raised" if raised else "same"
        return "", f"refused {refusal.code} {'' if refusal.useful else '(eager raises) '}{refusal.message}"

    # first, and not for long: what has no end in eager mode fills the memory, which ends the process
    kind, what = disagreement(source, [], EAGER)
    if kind == "no end" or (mutants and kind):
        return f"{kind} in eager mode", ""
    kind, what = disagreement(source, limit=whole)
    if not kind:
        return what, ""
    print(f"seed {seed} disagrees ({kind}); it is made small", flush=True)
    enabled = gc.isenabled()
    gc.enable()  # hundreds of programs are run, and one that ends in all memory must not end the search
    small, end = source, time.process_time() + REDUCING
    try:
        if kind != "no end":
            small = reduced(source, lambda text: time.process_time() < end and disagreement(text)[0] == kind)
            what = disagreement(small)[1]
    except MemoryError:
        small = source
    finally:
        if not enabled:
            gc.disable()
    origin = f"{made.origin}, called with {made.calls}\n" if mutants else ""
    report = f"seed {seed}, {what}\n\n{origin}{regression_test(small, f'fuzzed_{seed}')}\n"
    return f"DISAGREEMENT {kind}", report


def chunk(task: tuple[int, int, int, str, Sequence[str]]) -> tuple[int, int, Counter, list[str]]:
    first, end, native, of, only = task
    if "cuda" not in only:  # whose driver takes far more addresses than it uses memory
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    # nearly all that programs leave is garbage: to look for it takes a sixth of the time, and the process ends soon
    gc.disable()
    # the transformed sources of so many programs are of no use in the user's cache
    folder = Path(tempfile.mkdtemp(prefix="dy2st-fuzz-"))
    loader.folder = lambda: folder
    found: Counter = Counter()
    reports: list[str] = []
    try:
        for seed in range(first, end):
            with config.TRACE_LIMIT.override(20_000):  # of loops that have no end where no call gets to
                what, report = run(seed, native, of, only)
            found[what] += 1
            if report:
                reports.append(report)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return first, end, found, reports


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--programs", type=int, default=0, help="stop after so many (0: when the time is over)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--native", type=int, default=200, help="each how many-th program is run natively too (0: none)")
    parser.add_argument("--ways", default="", help=f"run each program in these ways only: some of {', '.join(WAYS)}")
    parser.add_argument("--mutants", dest="of", action="store_const", const="mutants", default="grammar",
                        help="programs of the corpus with changes, instead of those of the grammar")  # fmt: skip
    parser.add_argument("--tangles", dest="of", action="store_const", const="tangles",
                        help="small programs in which tensors have many names and change in place")  # fmt: skip
    parser.add_argument("--mixtures", dest="of", action="store_const", const="mixtures",
                        help="small programs in which one name is a number, a tensor, a text or None")  # fmt: skip
    parser.add_argument("--refusals", action="store_true", help="list the refusals of what eager mode can")
    options = parser.parse_args()
    only = [name.strip() for name in options.ways.split(",") if name.strip()]
    if unknown := set(only) - set(WAYS):
        parser.error(f"{sorted(unknown)[0]!r} is no way; known are {', '.join(WAYS)}")
    start, failures = time.time(), 0
    total: Counter = Counter()
    end = options.seed + options.programs if options.programs else sys.maxsize

    def tasks():
        first = options.seed
        while first < end and time.time() - start < options.seconds:
            yield first, min(first + CHUNK, end), options.native, options.of, only
            first += CHUNK

    last = options.seed
    with multiprocessing.get_context("spawn").Pool(options.jobs, maxtasksperchild=CHUNKS) as pool:
        try:
            for _, stop, found, reports in bounded(pool, tasks(), options.jobs):
                total.update(found)
                last = stop
                failures += len(reports)
                for report in reports:
                    print(f"--- {report}", flush=True)
                if stop // 500 != (stop - CHUNK) // 500:
                    print(f"... {stop} after {time.time() - start:.0f} s, {failures} disagreements", flush=True)
        except KeyboardInterrupt:
            pool.terminate()
    seconds = time.time() - start
    for what, number in total.most_common():
        if not what.startswith("refused") or options.refusals:
            print(f"{number:7} {what}")
    refused = sum(n for what, n in total.items() if what.startswith("refused"))
    print(f"{sum(total.values())} programs, seeds {options.seed} to {last - 1}, in {seconds:.0f} s: "
          f"{failures} disagreements, {refused} refused")  # fmt: skip
    return 1 if failures else 0


def bounded(pool, tasks, jobs: int):
    """The results of tasks in order; tasks are taken as they are needed, so that the time can end them."""
    waiting = []
    for task in tasks:
        waiting.append(pool.apply_async(chunk, (task,)))
        if len(waiting) > 50 * jobs:  # one program may take as long as a thousand others
            yield waiting.pop(0).get()
    for result in waiting:
        yield result.get()
