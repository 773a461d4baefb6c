"""Residuals against an input: whether the data slope or bend otherwise than the law."""

from dataclasses import dataclass, replace

import numpy as np

from bayescale.check.predictive import advice
from bayescale.check.predictive.quantity import (
    Checked,
    Picture,
    Quantity,
    Skipped,
    against,
    bands_of,
)
from bayescale.check.predictive.replicates import Replicates
from bayescale.data.curves.names import RUN_NAMES, plain, step_column

GRID = 33  # points along a drawn trend
LEAST_SPAN = float(np.log10(1.5))  # decades that an input must cover
NAMES = {"N": "parameters N", "D": "training tokens D", "C": "compute C (FLOP)"}
LEAST_ROWS, LEAST_RUNS = 3, 3  # checkpoints that make a run, and runs that make a check


def inputs_of(seen: Replicates) -> list[str]:
    """Inputs against which residuals can be drawn: N, D, C, then others of the law."""
    own = seen.model.law.number_columns
    known = [name for name in ("N", "D", "C") if name in seen.runs.table]
    return known + [name for name in own if name not in known]


@dataclass(frozen=True)
class Line:
    """Residuals along one input.

    Parameters
    ----------
    name, label : str
        The input, and the label of its axis.
    logged : bool
        Whether x is log10 of it.
    x : array, shape (row,)
    shown : array, shape (row,)
        Residuals as they are, median over draws.
    observed, replicated : array, shape (draw, row)
        Robust residuals.
    weights : array, shape (row,)
    pairs : (array, array) of int
        Positions of neighbours along x.
    """

    name: str
    label: str
    logged: bool
    x: np.ndarray
    shown: np.ndarray
    observed: np.ndarray
    replicated: np.ndarray
    weights: np.ndarray
    pairs: tuple[np.ndarray, np.ndarray]


def trend(seen: Replicates, name: str) -> Checked | Skipped:
    """Slope, curvature and likeness of neighbours of robust residuals against one input.

    T is a coefficient of weighted least squares of residuals, clipped at 2.5 scales of the noise,
    on 1, x and x^2 with x = log10 of the input (x itself where it isn't positive); the weights
    are inverse variances. The slope is that of the straight line, the curvature twice the
    coefficient of x^2. The third T is the correlation of each residual with the next one along
    x, which sees waves and steps that a parabola can't.
    """
    check = f"trend_{name}"
    if name not in seen.runs.table:
        return Skipped(check, f"the runs have no {name}")
    raw = seen.runs.column(name)
    if raw.dtype.kind not in "fiub" or raw.ndim != 1:
        return Skipped(check, f"{name} is not a column of single numbers")
    logged = bool((raw > 0).all())
    x = np.log10(raw.astype(float)) if logged else raw.astype(float)
    if np.ptp(x) == 0:
        return Skipped(check, f"all runs have the same {name}")
    if logged and np.ptp(x) < LEAST_SPAN:
        return Skipped(check, f"{name} differs by less than a factor 1.5 between runs")
    others = [seen.runs.column(n).astype(float) for n in inputs_of(seen) if n != name]
    order = np.lexsort((*others, x))  # among equals: along the other inputs
    observed, replicated = seen.robust()
    line = Line(
        name=name,
        label=NAMES.get(name, name),
        logged=logged,
        x=x,
        shown=np.median(seen.observed, axis=0),
        observed=observed,
        replicated=replicated,
        weights=seen.weights(),
        pairs=(order[:-1], order[1:]),
    )
    return _checked(seen, line)


def step(seen: Replicates) -> Checked | Skipped:
    """The same along training, within runs: residuals minus the mean of their run."""
    check = "trend_step"
    runs, table = seen.model.noise.runs or _run_column(seen), seen.runs.table
    column = step_column(table.columns)
    column = "D" if column is None and "D" in table else column
    if runs is None or column is None:
        lacking = "training runs with several checkpoints" if runs is None else "steps or tokens"
        return Skipped(check, f"no column names {lacking}")
    raw = np.asarray(table[column], dtype=float)
    _, index = np.unique(table[runs].astype(str).to_numpy(), return_inverse=True)
    keep = np.flatnonzero((np.bincount(index)[index] >= LEAST_ROWS) & (raw > 0))
    index = index[keep]
    if len(np.unique(index)) < LEAST_RUNS:
        return Skipped(check, f"fewer than three runs by '{runs}' have three checkpoints")
    x = _centred(np.log10(raw[keep])[None], index)[0]
    if np.ptp(x) < LEAST_SPAN:
        return Skipped(check, f"{column} hardly differs within runs")
    observed, replicated = (_centred(v[:, keep], index) for v in seen.robust())
    order = np.lexsort((x, index))
    same = index[order[:-1]] == index[order[1:]]
    line = Line(
        name="step",
        label=f"{column} over the run's mean",
        logged=True,
        x=x,
        shown=np.median(_centred(seen.observed[:, keep], index), axis=0),
        observed=observed,
        replicated=replicated,
        weights=seen.weights()[keep],
        pairs=(order[:-1][same], order[1:][same]),
    )
    return replace(_checked(seen, line), note=f"within runs by '{runs}', along {column}")


def _run_column(seen: Replicates) -> str | None:
    """A column of the table that names runs of several rows each."""
    found = (str(c) for c in seen.runs.table.columns if plain(c) in RUN_NAMES)
    return next((c for c in found if seen.runs.table[c].duplicated().any()), None)


def _centred(values: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Values minus the mean of their run, along the last axis."""
    totals = np.stack([np.bincount(index, v) for v in values])
    return values - (totals / np.maximum(np.bincount(index), 1))[:, index]


def _checked(seen: Replicates, line: Line) -> Checked:
    """The quantities of one line and its picture."""
    levels = len(np.unique(np.round(line.x / np.ptp(line.x), 3)))
    centre = float(np.average(line.x, weights=line.weights))
    degrees = (1, 2) if levels > 2 else (1,)
    parts = [projection(line.x - centre, line.weights, degree) for degree in degrees]
    quantities = _coefficients(seen, line, parts)
    if not seen.prior:
        likeness = (_likeness(line, line.observed), _likeness(line, line.replicated))
        remedy = advice.neighbours(seen.model, line.name)
        quantities.append(against("neighbours", "correlation", likeness, seen.effective, remedy))
    grid = np.linspace(line.x.min(), line.x.max(), GRID)
    basis = np.vander(grid - centre, len(parts) + 1, increasing=True)
    drawn = [seen.factor * (v @ parts[-1].T @ basis.T) for v in (line.observed, line.replicated)]
    data = {
        "x": 10**line.x if line.logged else line.x,
        "y": seen.factor * line.shown,
        "grid": 10**grid if line.logged else grid,
        "trend": np.median(drawn[0], axis=0),
    }
    side = f"{seen.unit} from the median" if seen.prior else f"residual ({seen.unit})"
    shown = line.name if line.logged else ""
    picture = Picture("trend", line.label, side, data | bands_of(drawn[1]), log=shown)
    title = f"{'Response' if seen.prior else 'Residuals'} against {line.name}"
    return Checked(f"trend_{line.name}", title, tuple(quantities), picture)


def _coefficients(seen: Replicates, line: Line, parts: list[np.ndarray]) -> list[Quantity]:
    """Slope of a straight line, and curvature of a parabola."""
    per = f"{seen.unit} per decade" if line.logged else f"{seen.unit} per unit"
    remedy = advice.trend(seen.model, line.name)
    told = advice.prior(f"the change with {line.name}") if seen.prior else remedy
    listed = []
    for nth, part in enumerate(parts):
        factor = seen.factor * (nth + 1)
        values = (factor * (line.observed @ part[-1]), factor * (line.replicated @ part[-1]))
        name, unit = ("slope", per) if nth == 0 else ("curvature", f"{per}²")
        listed.append(against(name, unit, values, seen.effective, told))
    return listed


def _likeness(line: Line, values: np.ndarray) -> np.ndarray:
    """Correlation of neighbours' residuals in each draw."""
    scaled = values * np.sqrt(line.weights)
    scaled = scaled - scaled.mean(axis=1, keepdims=True)
    one, other = line.pairs
    total = np.maximum((scaled**2).mean(axis=1), 1e-300)
    return (scaled[:, one] * scaled[:, other]).mean(axis=1) / total


def projection(x: np.ndarray, weights: np.ndarray, degree: int) -> np.ndarray:
    """Matrix from values at x to coefficients of 1, x, ... by weighted least squares."""
    root = np.sqrt(weights / weights.mean())
    basis = np.vander(x, degree + 1, increasing=True)
    return np.linalg.pinv(basis * root[:, None]) * root
