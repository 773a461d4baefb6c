"""bayescale.fit_many, as a user calls it: all options but those of the task are its defaults."""

from typing import Any

import numpy as np

from benchmarks.many.contender import Outcome, Stopwatch, Task, serve
from benchmarks.many.ess import QUANTITIES, mean_and_sd, worst
from benchmarks.many.lockstep import wastes
from benchmarks.many.sweeps import simulate

CHECKED = 20  # fits whose ESS is computed again by ArviZ
WIDTHS = (1, 4, 16, 64, 256, 1024)


def run(task: Task) -> Outcome:
    watch = Stopwatch()
    from bayescale.many.job import fit_many

    options = dict(task.options)
    device, all_first = options.get("device", "cpu"), options.pop("all_first", False)
    if device != "cpu" and not _have(device):
        return Outcome(missing=f"JAX has no {device} here")
    drawn = options.pop("simulate", None)
    tables = _tables(simulate(**drawn) if drawn else task.sweeps())
    options |= {"chains": task.chains, "device": device, "progress": False}
    # lanes are compiled for a width that depends on the number of data sets
    fit_many("chinchilla", tables if all_first else tables[:1], seed=task.seed + 1, **options)
    start = watch.lap()
    many = fit_many("chinchilla", tables, seed=task.seed, **options)
    return _outcome(many, start, watch)


def _outcome(many: Any, start: Any, watch: Stopwatch) -> Outcome:
    spent, fits = watch.lap(), list(many.values())
    ess = [min(f.gate.min_ess_bulk, f.gate.min_ess_tail) for f in fits]
    again = [worst({n: f.variables[n].values for n in QUANTITIES})[0] for f in fits[:CHECKED]]
    off = max(abs(a / b - 1) for a, b in zip(again, ess, strict=False))
    fewest = min(f.stats["n_steps"].shape[1] for f in fits)
    steps = np.stack([f.stats["n_steps"][:, :fewest] for f in fits])
    return Outcome(
        start=start,
        spent=spent,
        fits=len(fits) + len(many.failures),
        min_ess=ess,
        max_rhat=[f.gate.max_rhat for f in fits],
        draws=float(np.mean([f.stats["lp"].shape[1] for f in fits])),
        gradients=float(np.mean([f.record["gradients_per_draw"] for f in fits])),
        a=[mean_and_sd(f.variables["a"].values) for f in fits[:CHECKED]],
        failures=[f.error for f in many.failures],
        notes=[f"min ESS of {len(again)} fits computed again by ArviZ: {off:.1e} off at most"],
        extra={"lockstep": wastes(steps, WIDTHS)},
    )


def _tables(sweeps: Any) -> list[Any]:
    import pandas as pd

    return [pd.DataFrame(columns) for columns in sweeps]


def _have(platform: str) -> bool:
    import jax

    try:
        return bool(jax.devices(platform))
    except RuntimeError:
        return False


if __name__ == "__main__":
    serve(run)
