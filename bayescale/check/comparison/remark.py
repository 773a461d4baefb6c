"""What must be said of a fit that takes the checkpoints of a run for independent trainings."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.check.comparison.checkpoints import (
    MIN_CURVE,
    REFUSED,
    SURE,
    autocorrelation,
    correlated,
    residuals,
    run_column,
)
from bayescale.data.curves.order import along_column
from bayescale.errors import DataError
from bayescale.inference.batch import make_batch
from bayescale.inference.rows import at_rows
from bayescale.scatter import SCALES

if TYPE_CHECKING:
    from bayescale.fitted import Fit

MOST_ROWS = 200_000  # of a table that is looked at
DRAWS = 100
LEAST_RUNS, LEAST_SIZES = 8, 4  # with which a correlation of runs with their size says something
SURE_OF_SIZE = 5.0  # standard errors of that correlation


def checkpoint_remarks(fit: "Fit") -> tuple[str, ...]:
    """Warnings about checkpoints that the noise takes as independent, with what to try.

    A table whose header names the run, with several rows a run, is sure; without one, errors that
    go together along the likely curves tell (`correlated`). Where the noise has offsets of runs
    but no memory, the errors around those offsets are looked at; and whether what runs have to
    themselves goes with their size.
    """
    noise = fit.model.noise
    if len(fit.runs) > MOST_ROWS:
        return ()
    if noise.runs is not None:
        around = () if noise.along is not None else _around_offsets(fit, noise.runs)
        return (*around, *_with_size(fit, noise.runs))
    column = run_column(fit.runs)
    if column is not None:
        runs = fit.runs.table[column].nunique()
        return (
            f"checkpoints: {len(fit.runs)} rows are checkpoints of {runs} runs by '{column}', and "
            "this noise takes them as independent, so intervals are too narrow. Try: "
            f"{_memory(column)}, or the last checkpoint of each: curves=Curves(run='{column}', "
            f"last=True) (--run {column} --last).",
        )
    likely = correlated(fit)
    if likely is None or not likely.checkpoints:
        return ()
    return (
        f"checkpoints: these rows look like {likely}, and this noise takes them as independent, "
        f"so intervals are too narrow. Try: a column that names the run, and {_memory('run')}.",
    )


def _memory(column: str) -> str:
    return f"noise=Noise(runs='{column}', along='D') (--runs-column {column} --along D)"


def _around_offsets(fit: "Fit", column: str) -> tuple[str, ...]:
    """Whether neighbours' errors go together beyond what the run's offset explains."""
    try:
        place = fit.runs.table[along_column(fit.runs.table, fit.runs.source)].to_numpy(dtype=float)
    except DataError:
        return ()
    keys = [column, *fit.law.label_columns]
    code = fit.runs.table.groupby(keys, sort=False).ngroup().to_numpy()
    order = np.lexsort((place, code))
    parts = np.split(order, np.flatnonzero(np.diff(code[order])) + 1)
    curves = [part for part in parts if len(np.unique(place[part])) >= MIN_CURVE]
    pairs = sum(len(c) - 1 for c in curves)
    if not curves:
        return ()
    r = autocorrelation(_standardised(fit), curves)
    if r < REFUSED or r * np.sqrt(pairs) < SURE:
        return ()
    return (
        f"checkpoints: neighbours along a '{column}' err together (correlation {r:.2f}) beyond "
        "its offset, and this noise takes them as independent, so intervals are too narrow. "
        f"Try: {_memory(column)}.",
    )


def _with_size(fit: "Fit", column: str) -> tuple[str, ...]:
    """Whether runs lie off the law by their size: scatter that a bend of the law would explain."""
    if "N" not in fit.runs.table:
        return ()
    table = fit.runs.table.assign(error=residuals(fit))
    runs: Any = table.groupby(column)[["N", "error"]].median()
    size: Any = np.log(runs["N"])
    if len(runs) < LEAST_RUNS or size.nunique() < LEAST_SIZES or runs["error"].std() == 0:
        return ()
    r = float(np.corrcoef(size, runs["error"])[0, 1])
    if r**2 * (len(runs) - 2) < SURE_OF_SIZE**2 * (1 - r**2):
        return ()
    spread = float(runs["error"].std())
    return (
        f"checkpoints: what a '{column}' has to itself (spread {spread:.2g}) goes with its size N "
        f"(correlation {r:.2f}): that is the law bending otherwise than these runs, not scatter. "
        "Try: a law that couples size and data (coupled), or only the last checkpoints.",
    )


def _standardised(fit: "Fit") -> np.ndarray:
    """Residuals around the runs' offsets in scales of the noise, median over draws."""
    step = max(1, len(next(iter(fit.sites.values()))) // DRAWS)
    batch = make_batch(fit.model, fit.runs, fit.layout)
    mean, params = at_rows(fit.model, batch, {k: v[::step] for k, v in fit.sites.items()})
    u = SCALES[fit.model.noise.on].forward(batch["response"])
    z, _ = fit.model.noise.standardised(u, mean, params, batch["noise"])
    return np.median(np.broadcast_to(z, mean.shape), axis=0)
