"""bayescale.fit in a loop, in one warm process."""

import os
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.many.contender import Outcome, Stopwatch, Task, serve
from benchmarks.many.ess import mean_and_sd


def run(task: Task) -> Outcome:
    watch = Stopwatch()
    options = {"chains": task.chains, "progress": False, **task.options}
    if options.pop("one_core", False):
        if not hasattr(os, "sched_setaffinity"):
            return Outcome(missing="this system can't hold a process to one core")
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    import bayescale as bs

    tables = [pd.DataFrame(columns) for columns in task.sweeps()]

    def fit(k: int, seed: int) -> Any:
        return bs.fit("chinchilla", tables[k], seed=seed, **options)

    fit(0, task.seed + len(tables))
    start = watch.lap()
    fits = [fit(k, task.seed + k) for k in range(len(tables))]
    return Outcome(
        start=start,
        spent=watch.lap(),
        fits=len(fits),
        min_ess=[min(f.gate.min_ess_bulk, f.gate.min_ess_tail) for f in fits],
        max_rhat=[f.gate.max_rhat for f in fits],
        draws=float(np.mean([f.stats["lp"].shape[1] for f in fits])),
        gradients=float(np.mean([f.record["gradients_per_draw"] for f in fits])),
        a=[mean_and_sd(f.variables["a"].values) for f in fits],
    )


if __name__ == "__main__":
    serve(run)
