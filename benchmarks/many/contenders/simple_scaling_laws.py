"""simple-scaling-laws in a loop in one warm process: its defaults, a bootstrap, so no ESS."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.extrapolation.rival import DATA, LOSS, SIZE
from benchmarks.many.contender import Outcome, Stopwatch, Task, serve, versions_of


def run(task: Task) -> Outcome:
    watch = Stopwatch()
    import simple_scaling_laws as ssl  # pyright: ignore[reportMissingImports]

    warnings.simplefilter("ignore")
    tables = [_table(columns) for columns in task.sweeps()]
    ssl.fit(tables[0], seed=task.seed)
    start = watch.lap()
    for k, table in enumerate(tables):
        ssl.fit(table, seed=task.seed + k)
    return Outcome(
        start=start,
        spent=watch.lap(),
        fits=len(tables),
        versions=versions_of("simple-scaling-laws"),
    )


def _table(columns: Mapping[str, np.ndarray]) -> Any:
    import polars as pl

    names = {SIZE: "N", DATA: "D", LOSS: "loss"}
    runs = {"training_run_id": [f"run{k}" for k in range(len(columns["loss"]))]}
    return pl.DataFrame(runs | {name: columns[own] for name, own in names.items()})


if __name__ == "__main__":
    serve(run)
