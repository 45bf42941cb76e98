"""Benchmarks: `python -m benchmarks [NAME ...]`. Each module has `run() -> list[Row]`; figures are ratios in one run, of medians."""
