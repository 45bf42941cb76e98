"""Tables (in Markdown) of the records of a run, and of two runs beside each other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .runner import TOLERANCE

OURS = ("dy2st", "dy2st step", "dy2st eager")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table with aligned columns."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    lines = [" | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in (head, ["-" * w for w in widths], *rows)]
    return "\n".join(f"| {line} |" for line in lines)


def figure(value: float | None, unit: str = "") -> str:
    """A number with three digits, or nothing."""
    if value is None:
        return ""
    return (f"{value:,.0f}" if value >= 100 else f"{value:.3g}") + unit


def by_case(records: Sequence[dict[str, Any]]) -> dict[str, dict[str, dict[str, Any]]]:
    """The records of workloads: `workload.case` -> framework -> record."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for r in records:
        if "workload" in r:
            found.setdefault(f"{r['workload']}.{r['case']}", {})[r["framework"]] = r
    return found


def right(record: dict[str, Any]) -> bool:
    """Whether a framework could do the workload, with the results of dy2st."""
    return "refused" not in record and record.get("difference", 0.0) <= TOLERANCE


def best_peer(frameworks: dict[str, dict[str, Any]], by: str) -> dict[str, Any] | None:
    """The fastest of those that are not ours and whose results are right."""
    return min((r for name, r in frameworks.items() if name not in OURS and right(r)), key=lambda r: r[by], default=None)


def comparison(records: Sequence[dict[str, Any]], by: str = "steady") -> str:
    """Times beside the peers', and the notes of what was refused or wrong."""
    found = by_case(records)
    rows, notes = [], []
    for case, frameworks in found.items():
        for name, r in frameworks.items():
            if not right(r):
                notes.append(f"{case}: {name}: {r.get('refused') or 'its results differ by {:.1e}'.format(r['difference'])}")
        ways = [r for name in ("dy2st", "dy2st step") if by in (r := frameworks.get(name, {}))]
        ours, best = min(ways, key=lambda r: r[by], default=frameworks.get("dy2st", {})), best_peer(frameworks, by)
        steady, memory = ours.get(by), frameworks.get("torch eager", {}).get("memory")
        rows.append([
            case, figure(steady, " ms"), figure(frameworks.get("dy2st eager", {}).get(by), " ms"),
            f"{best['framework']} {figure(best[by], ' ms')}" if best else "",
            figure(steady / best[by] if best and steady else None),
            figure(100 * ours["least"] / steady if steady and ours.get("least") else None, " %"),
            figure(ours.get("cold", 0) / 1e3 or None, " s"), figure(ours.get("warm", 0) / 1e3 or None, " s"),
            figure(ours["memory"] / memory if memory and "memory" in ours else None),
        ])  # fmt: skip
    head = ("workload", "dy2st", "eager", "best peer", "ratio", "of the bound", "cold", "warm", "memory / torch eager")
    return "\n".join([table(head, rows), *notes])


def ways(records: Sequence[dict[str, Any]], by: str = "steady") -> str:
    """Of what has a step: the ordinary loop around a static model beside the whole step as one static function."""
    rows = []
    for case, frameworks in by_case(records).items():
        model, step = (frameworks.get(name, {}).get(by) for name in ("dy2st", "dy2st step"))
        if model and step:
            rows.append([case, figure(model, " ms"), figure(step, " ms"), figure(model / step)])
    return table(("workload", "model", "step", "model / step"), rows) if rows else ""


def frameworks_table(records: Sequence[dict[str, Any]], by: str = "steady") -> str:
    """Milliseconds of every framework; those that are wrong in brackets."""
    found = by_case(records)
    names = list(dict.fromkeys(name for frameworks in found.values() for name in frameworks))
    rows = [[case, *(_cell(frameworks.get(name), by) for name in names)] for case, frameworks in found.items()]
    return table(["workload (ms)", *names], rows)


def _cell(record: dict[str, Any] | None, by: str) -> str:
    if record is None or by not in record:
        return "" if record is None else "refused"
    return figure(record[by]) if right(record) else f"({figure(record[by])})"


def save(records: Sequence[dict[str, Any]], path: Path) -> None:
    """Writes records as JSON lines."""
    path.write_text("".join(json.dumps(r) + "\n" for r in records))


def load(path: Path) -> list[dict[str, Any]]:
    """Reads records that `save` has written.

    Raises:
        ValueError: a line is no record.
    """
    found = []
    for i, line in enumerate(path.read_text().splitlines(), start=1):
        try:
            found.append(dict(json.loads(line)))
        except (ValueError, TypeError):
            raise ValueError(f"{path}:{i} is no record of a benchmark") from None
    return found


def compared(before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any]]) -> str:
    """Each figure of two runs, and their ratio; the peers' show how much of it is the machine."""
    first, second = _figures(before), _figures(after)
    rows = [[name, figure(first[name]), figure(second[name]), figure(second[name] / first[name] if first[name] else None)]
            for name in first if name in second]  # fmt: skip
    only = [f"only in {where}: {name}" for where, mine, other in (("the first", first, second), ("the second", second, first))
            for name in mine if name not in other]  # fmt: skip
    heads = [f"{r.get('commit', '?')} ({r.get('date', '?')})" for r in (before[0], after[0])]
    return "\n".join([table(["", *heads, "ratio"], rows), *only])


def _figures(records: Sequence[dict[str, Any]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for r in records:
        if "workload" in r:
            name = f"{r['workload']}.{r['case']}, {r['framework']}"
            for key, unit in (("steady", "ms"), ("cold", "ms"), ("warm", "ms"), ("memory", "MiB")):
                if key in r and (key == "steady" or r["framework"] == "dy2st"):
                    found[f"{name}, {key} {unit}"] = r[key]
        elif "benchmark" in r:
            found[f"{r['benchmark']}: {r['name']} {r['unit']}"] = r["value"]
    return found
