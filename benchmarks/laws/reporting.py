"""What the files here print: a posterior beside what a paper found, and errors of held-out runs."""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

import bayescale as bs
from bayescale.check.at_runs import at_runs
from bayescale.data import Runs
from bayescale.fitted import Fit
from bayescale.tables import Table


def timed_fit(law: Any, runs: Any, seed: int = 1, **settings: Any) -> Fit:
    """Fit, and print what it cost: CPU and wall seconds of all that `bs.fit` does."""
    wall, cpu = time.perf_counter(), time.process_time()
    fit = bs.fit(law, runs, seed=seed, progress=False, **settings)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(
        f"{fit.law.name}: {cpu:.0f} CPU s, {wall:.0f} s on the clock, "
        f"{fit.record['gradients_per_draw']:.0f} gradients a draw; {fit.gate.headline()}",
        flush=True,
    )
    return fit


def say(
    fit: Fit, expected: Mapping[str, str], also: Mapping[str, np.ndarray] | None = None
) -> None:
    """Print posterior medians and 90% intervals beside what is expected.

    Parameters
    ----------
    fit : Fit
    expected : mapping
        Quantity of the fit (or of ``also``) -> what the source says of it.
    also : mapping, optional
        Further quantities: name -> draws.
    """
    rows = []
    for name, said in expected.items():
        if also and name in also:
            low, middle, high = np.quantile(also[name], [0.05, 0.5, 0.95])
        else:
            low, middle, high = fit.summary.loc[name, ["q05", "median", "q95"]]
        rows.append([name, f"{middle:.4g}", f"{low:.4g} to {high:.4g}", said])
    title = (
        f"{fit.law.name}, {len(fit.runs)} runs: {fit.gate.headline()}, "
        f"{fit.record['gradients_per_draw']:.0f} gradients a draw"
    )
    reasons = [str(p) for p in fit.gate.problems]
    print(Table(["", "median", "90%", "expected"], rows, title, reasons), flush=True)


def errors(fit: Fit, held: Runs) -> dict[str, float]:
    """How well a fit predicts runs it has not seen: errors of log loss, coverage and width."""
    there = at_runs(fit, held)
    error = np.log(np.median(there.mean, axis=0) / there.observed)
    low, high = np.quantile(there.replicate, [0.05, 0.95], axis=0)
    inside = (low <= there.observed) & (there.observed <= high)
    return {
        "runs": len(held),
        "RMSE": float(np.sqrt(np.mean(error**2))),
        "mean": float(error.mean()),
        "largest": float(np.abs(error).max()),
        "90% covers": float(inside.mean()),
        "width": float(np.mean(np.log(high / low))),
    }


def say_errors(title: str, found: Mapping[str, Mapping[str, float]]) -> None:
    """Print errors of held-out runs, a row for each fit."""
    columns = ["", *next(iter(found.values()))]
    rows = [[name, *(f"{v:.3g}" for v in one.values())] for name, one in found.items()]
    print(Table(columns, rows, title, notes=["errors of log loss: 0.01 is 1%"]), flush=True)


def parts(runs: Runs, held: np.ndarray, why: str) -> tuple[Runs, Runs]:
    """The runs to fit and those to predict."""
    return runs.select(~held, f"not {why}"), runs.select(held, why)
