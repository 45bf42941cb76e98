"""Benchmarks: `python -m benchmarks [NAME ...]`.

`workloads/` holds models that other frameworks run too. `startup`, `eager`, `conversion`, `loops`, `recursion` and `training` measure
dy2st alone, each by a function `run() -> list[Row]`. Figures are ratios in one run, of medians.
"""
