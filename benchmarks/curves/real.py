"""Real training curves, fitted in every way: posteriors, and predictions of larger runs."""

import time
from dataclasses import dataclass

import numpy as np

import bayescale as bs
from bayescale.check.at_runs import at_runs
from benchmarks.curves.ways import WAYS, Way


@dataclass(frozen=True)
class Case:
    """One table of training curves.

    Parameters
    ----------
    name, path : str
        The path is below the data folder.
    law : str
    loss : str
        Column of the loss.
    curves : Curves
    largest : float
        Runs with at least this many parameters are held out.
    """

    name: str
    path: str
    law: str
    loss: str
    curves: bs.Curves
    largest: float


_GEMSTONES = "gemstones/gemstones_curves.csv"
_SMOOTH = bs.Curves(run="run_id", drop_before=2e10, smooth=5, thin=30)
_MIXTURES = bs.Curves(run=("weight_*", "model_size"), drop_before=5e9)
CASES = (
    Case("gemstones, chinchilla", _GEMSTONES, "chinchilla", "loss", _SMOOTH, 1e9),
    Case("gemstones, coupled", _GEMSTONES, "coupled", "loss", _SMOOTH, 1e9),
    Case(
        "slimpajama, loss on c4",
        "slimpajama_mixtures/dmsl_llm_slimpajama.csv",
        "chinchilla",
        "c4_loss",
        _MIXTURES,
        9e8,
    ),
)


@dataclass(frozen=True)
class Found:
    """What one way says of one table."""

    case: str
    way: str
    rows: int
    fit: bs.Fit
    held: float
    error: float
    width: float
    runs_held: int
    seconds: float


def look(case: Case, way: Way, folder: str, draws: int = 500) -> Found:
    """Fit all runs, then the smaller ones, and predict the ends of the larger ones."""
    runs = read(case, way, folder)
    begin = time.perf_counter()
    options = {"noise": way.noise, "draws": draws, "progress": False}
    fit = bs.fit(case.law, runs, **options)
    seconds = time.perf_counter() - begin
    small = runs.column("N") < case.largest
    part = bs.fit(case.law, runs.select(small, f"N < {case.largest:g}"), **options)
    ends = bs.read_runs(runs, curves=bs.Curves(run="run", last=True))
    ends = ends.select(ends.column("N") >= case.largest, f"N >= {case.largest:g}")
    seen = at_runs(part, ends, seed=1)
    low, high = np.quantile(seen.replicate, [0.05, 0.95], axis=0)
    error = np.log(np.median(seen.replicate, axis=0)) - np.log(seen.observed)
    return Found(
        case=case.name,
        way=way.name,
        rows=len(runs),
        fit=fit,
        held=float(np.mean((low <= seen.observed) & (seen.observed <= high))),
        error=float(np.sqrt(np.mean(error**2))),
        width=float(np.median(np.log(high / low))),
        runs_held=len(ends),
        seconds=seconds,
    )


def read(case: Case, way: Way, folder: str) -> bs.Runs:
    """The table, cleaned, with the run's name in the column ``run``."""
    runs = bs.read_runs(f"{folder}/{case.path}", loss=case.loss, drop_missing=True)
    runs = bs.read_runs(runs, curves=case.curves)
    if "run" not in runs.table:
        table = runs.table.rename(columns={case.curves.columns[0]: "run"})
        runs = bs.read_runs(table[["N", "D", "loss", "run"]])
    return bs.read_runs(runs, curves=bs.Curves(run="run", last=way.last))


def all_cases(folder: str) -> list[Found]:
    """Every way on every table."""
    return [look(case, way, folder) for case in CASES for way in WAYS]
