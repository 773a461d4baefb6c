"""nutpie in a loop: the model compiled once, each sweep's runs swapped in without compiling.

The model is that of the speed benchmark, size and data terms at each sweep's geometric means.
Draws a chain are the fewest of a few numbers whose smallest ESS (and largest R-hat, where asked
for) is good enough in every fit, found by trying; tuning is nutpie's default. Neither trying nor
diagnostics are in the time.
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.many.contender import Outcome, Stopwatch, Task, serve, versions_of
from benchmarks.many.ess import mean_and_sd, worst
from benchmarks.speed.contender import field_terms
from benchmarks.speed.contenders.pymc_nutpie import COLUMNS, build
from benchmarks.speed.job import Job

Centred = tuple[Job, list[np.ndarray]]  # a sweep's references, its columns about them


def run(task: Task) -> Outcome:
    watch = Stopwatch()
    import nutpie

    sweeps = [_centred(columns, task) for columns in task.sweeps()]
    compiled = nutpie.compile_pymc_model(build(task.priors, sweeps[0][1], swappable=True))
    _sample(compiled, task, *sweeps[0], task.options["draws"][0], task.seed + len(sweeps))
    start, tried = watch.lap(), []
    for draws in task.options["draws"]:
        tried.append(_loop(compiled, task, sweeps, draws))
        if _reached(task, tried[-1]).all():
            break
    notes = [note for outcome in tried for note in outcome.notes]
    versions = versions_of("nutpie", "pymc", "pytensor", "numba")
    return replace(tried[-1], start=start, notes=notes, versions=versions)


def _loop(compiled: Any, task: Task, sweeps: list[Centred], draws: int) -> Outcome:
    watch = Stopwatch()
    trees = [_sample(compiled, task, *s, draws, task.seed + k) for k, s in enumerate(sweeps)]
    spent = watch.lap()
    found = [_quantities(tree, job) for tree, (job, _) in zip(trees, sweeps, strict=True)]
    ess, rhat = zip(*(worst(quantities) for quantities in found), strict=True)
    outcome = Outcome(
        spent=spent,
        fits=len(trees),
        min_ess=ess,
        max_rhat=rhat,
        draws=draws,
        gradients=float(np.mean([t.sample_stats["n_steps"].mean() for t in trees])),
        a=[mean_and_sd(quantities["a"]) for quantities in found],
    )
    enough = _reached(task, outcome).sum()
    note = f"{draws} draws: {enough} of {len(ess)} fits reach it, least ESS {min(ess):.0f}"
    return replace(outcome, notes=[note])


def _reached(task: Task, outcome: Outcome) -> np.ndarray:
    """Which fits have the ESS, and the R-hat, that are asked for."""
    most = task.options.get("max_rhat", np.inf)
    enough = np.asarray(outcome.min_ess) >= task.options["min_ess"]
    return enough & (np.asarray(outcome.max_rhat) < most)


def _centred(columns: Mapping[str, np.ndarray], task: Task) -> Centred:
    """A sweep's references, and its columns about them."""
    logs = {name: np.log(values) for name, values in columns.items()}
    N_ref, D_ref = np.exp(logs["N"].mean()), np.exp(logs["D"].mean())
    job = Job("", {k: dict(v) for k, v in task.priors.items()}, N_ref, D_ref, task.chains)
    return job, [logs["N"] - np.log(N_ref), logs["D"] - np.log(D_ref), logs["loss"]]


def _sample(
    compiled: Any, task: Task, job: Job, columns: list[np.ndarray], draws: int, seed: int
) -> Any:
    import nutpie

    swapped = compiled.with_data(**dict(zip(COLUMNS, columns, strict=True)))
    return nutpie.sample(
        swapped, draws=draws, chains=job.chains, cores=_cores(), seed=seed, progress_bar=False
    )


def _quantities(tree: Any, job: Job) -> dict[str, np.ndarray]:
    found = field_terms({name: tree.posterior[name].values for name in job.priors}, job)
    alpha, beta = found["alpha"], found["beta"]
    return found | {"b": 1 - found["a"], "gamma": alpha * beta / (alpha + beta)}


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    serve(run)
