"""Runs benchmarks by name, all by default, and prints their tables. Exit status 1 if a promised limit was missed.

Names are workloads (`newton`), one of their cases (`mnist_cnn.train`), or dy2st's own (`startup`).
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import sys
from pathlib import Path
from typing import Any

from . import beside, report, runner
from .common import Row
from .frameworks import FRAMEWORKS, PEERS
from .peers import FOLDER
from .workloads import MODULES

OWN = ("startup", "cold", "eager", "conversion", "loops", "recursion", "training", "threads", "convolution", "growth", "recompute",
       "layout", "projections", "reductions", "engines")  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join((*OWN, *MODULES))} (default: all)")
    parser.add_argument("--peers", default="", help=f"measured beside dy2st: some of {','.join(PEERS)}, or 'torch eager' alone")
    parser.add_argument("--threads", type=int, default=2, help="of each measurement (default: 2)")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long a steady time is measured (default: 3)")
    parser.add_argument("--rounds", type=int, default=1, help="processes for each steady time (default: 1)")
    parser.add_argument("--quick", action="store_true", help="only steady times, and not of eager dy2st")
    parser.add_argument("--by", choices=("steady", "fastest", "cpu"), default="steady",
                        help="what the tables show: the median, the fastest call, or the least processor time")  # fmt: skip
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the records as JSON lines")
    parser.add_argument("--show", type=Path, metavar="FILE", help="print the tables of a saved run")
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("A", "B"), help="compare two saved runs")
    parser.add_argument("--venvs", type=Path, default=FOLDER, help="the virtual environments of the peers")
    options = parser.parse_args(arguments)
    try:
        if options.compare:
            print(report.compared(*map(report.load, options.compare)))
            return 0
        if options.show:
            _tables(report.load(options.show), options.by)
            return 0
        peers = [p for p in options.peers.split(",") if p]
        unknown = [p for p in peers if p not in (*PEERS, *FRAMEWORKS)]
        if unknown:
            raise ValueError(f"unknown peer {unknown[0]!r}; choose from {', '.join((*PEERS, *FRAMEWORKS))}")
        names = options.names or [*OWN, *MODULES]
        cases = runner.cases([n for n in names if n not in OWN])
    except (ValueError, OSError) as error:
        parser.error(str(error))
    settings = runner.Settings(peers, options.threads, options.seconds, options.rounds, options.quick, options.venvs)
    records: list[dict[str, Any]] = [runner.machine(settings)]
    print(_words(records[0]), flush=True)
    missed = False
    for name in (n for n in names if n in OWN):
        missed |= _own(name, records)
        if name == "eager":
            missed |= _beside(records, settings)
    for record in runner.measurements(cases, settings, records[0]):
        records.append(record)
        print(f"  {record['workload']}.{record['case']:<10}{record['framework']:<18}"
              f"{record.get('refused') or report.figure(record[options.by], ' ms')}", flush=True)  # fmt: skip
        if options.save:
            report.save(records, options.save)
    if options.save:
        report.save(records, options.save)
    if cases:
        _tables(records, options.by)
    return int(missed)


def _own(name: str, records: list[dict[str, Any]]) -> bool:
    """Runs one of dy2st's own benchmarks; whether a limit was missed."""
    module = importlib.import_module(f"benchmarks.{name}")
    print(f"{name}: {module.__doc__.splitlines()[0]}")
    rows: list[Row] = module.run()
    for row in rows:
        print(row, flush=True)
        records.append({"benchmark": name, **dataclasses.asdict(row)})
    return any(row.limit is not None and row.value > row.limit for row in rows)


def _beside(records: list[dict[str, Any]], settings: runner.Settings) -> bool:
    """Runs eager models beside PaddlePaddle's eager mode; whether a limit was missed."""
    rows = beside.run(settings)
    records += [{"benchmark": "eager models", **dataclasses.asdict(row)} for row in rows]
    return any(row.limit is not None and row.value > row.limit for row in rows)


def _words(record: dict[str, Any]) -> str:
    rates = f"; products {record['gemm']:.0f} GFLOP/s, copies {record['copy']:.0f} GB/s" if "gemm" in record else ""
    return (f"{record['machine']}, {record['threads']} threads, Python {record['python']}, {record['date']}, "
            f"commit {record['commit']}{rates}")  # fmt: skip


def _tables(records: list[dict[str, Any]], by: str) -> None:
    tables = [report.comparison(records, by), report.ways(records, by), report.frameworks_table(records, by)]
    print("\n" + "\n\n".join([_words(records[0]), *tables]))


if __name__ == "__main__":
    sys.exit(main())
