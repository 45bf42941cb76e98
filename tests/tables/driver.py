"""Runs the tables: `python -m tests.tables [--table things] [--only WORD ...] [--every N] [--jobs N] [--refusals] [--show]`.

A table has a program for each two things that it crosses: containers, objects and iterators with where they are changed, two places with
how they get one value, two methods with what both of them change, two lists with what two paths do to them, and a value that may be of
two kinds with what is asked of it, also in a generator function. All are small; each is called five times, eagerly and statically, and
what the calls give and leave is compared: values, gradients, which objects are one. What a table has shown becomes a test
(docs/history/testing.md).
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import time
from collections import Counter

from .compare import Verdict, verdict
from .programs import TABLES, Program


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.tables", description=__doc__.split("\n")[0])
    parser.add_argument("--table", choices=TABLES, action="append", help="one of the tables (all)")
    parser.add_argument("--only", nargs="*", default=[], help="programs whose name has one of these words")
    parser.add_argument("--every", type=int, default=1, help="each so many-th program (each)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--refusals", action="store_true", help="say what was refused, and how often")
    parser.add_argument("--show", action="store_true", help="print the programs that differ")
    args = parser.parse_args(argv)
    programs = itertools.chain.from_iterable(TABLES[name]() for name in args.table or TABLES)
    wanted = (p for p in programs if not args.only or any(word in p.words for word in args.only))
    start = time.perf_counter()
    kinds: Counter[str] = Counter()
    refused: dict[str, list[str]] = {}
    # a process remembers the source of what it has converted: after so many parts another one takes its place
    with multiprocessing.get_context("spawn").Pool(args.jobs, maxtasksperchild=100) as pool:
        for program, found in pool.imap(_run, itertools.islice(wanted, 0, None, args.every), chunksize=20):
            kinds[found.kind] += 1
            if found.kind.isupper():
                print(f"{found.kind}: {program.name}\n    {found.why[:600]}", flush=True)
                if args.show:
                    print(program.forward, flush=True)
            elif found.kind == "refused":
                refused.setdefault(found.why[:90], []).append(program.name)
    if args.refusals:
        for why, names in sorted(refused.items(), key=lambda pair: -len(pair[1])):
            print(f"{len(names):6} {why}\n       {names[0]}")
    counts = ", ".join(f"{n} {kind}" for kind, n in kinds.most_common())
    print(f"{sum(kinds.values())} programs in {time.perf_counter() - start:.0f} s: {counts}")
    return int(any(kind.isupper() for kind in kinds))


def _run(program: Program) -> tuple[Program, Verdict]:
    return program, verdict(program)
