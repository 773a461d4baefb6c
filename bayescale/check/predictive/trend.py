"""Residuals against an input: whether the data slope or bend otherwise than the law."""

from typing import Any

import numpy as np

from bayescale.check.predictive.quantity import Checked, Picture, Skipped, against, bands_of
from bayescale.check.predictive.replicates import Replicates

GRID = 33  # points along a drawn trend
LEAST_SPAN = float(np.log10(1.5))  # decades that an input must cover
NAMES = {"N": "parameters N", "D": "training tokens D", "C": "compute C (FLOP)"}
STEPS = (
    "step",
    "steps",
    "train_step",
    "training_step",
    "current_steps",
    "global_step",
    "iteration",
)
LEAST_ROWS, LEAST_RUNS = 3, 3  # checkpoints that make a run, and runs that make a check

_ALLOCATION = "the law splits N and D wrongly: law 'coupled', or exponents that differ by group"
ADVICE = {
    "N": _ALLOCATION,
    "D": _ALLOCATION,
    "C": "law 'coupled' (its k bends the loss along compute), or noise that changes with C "
    "(varies_with='C'); extrapolations in C are off until this fits",
    "step": "checkpoints before the learning rate has decayed lie above the law: keep final "
    "checkpoints, or name the run column of the noise (runs=...)",
}


def inputs_of(seen: Replicates) -> list[str]:
    """Inputs against which residuals can be drawn: N, D, C, then others of the law."""
    own = [i.name for i in seen.model.law.inputs]
    known = [name for name in ("N", "D", "C") if name in seen.runs.table]
    return known + [name for name in own if name not in known]


def trend(seen: Replicates, name: str) -> Checked | Skipped:
    """Slope and curvature of robust residuals against the log of one input.

    T is a coefficient of weighted least squares of residuals, clipped at 2.5 scales of the noise,
    on 1, x and x^2 with x = log10 of the input (x itself where it isn't positive); the weights
    are inverse variances. The slope is that of the straight line, the curvature twice the
    coefficient of x^2.
    """
    check = f"trend_{name}"
    if name not in seen.runs.table:
        return Skipped(check, f"the runs have no {name}")
    raw = seen.runs.column(name)
    if raw.dtype.kind not in "fiub" or raw.ndim != 1:
        return Skipped(check, f"{name} is not a column of single numbers")
    logged = bool((raw > 0).all())
    x = np.log10(raw.astype(float)) if logged else raw.astype(float)
    span = np.ptp(x)
    if span == 0:
        return Skipped(check, f"all runs have the same {name}")
    if logged and span < LEAST_SPAN:
        return Skipped(check, f"{name} differs by less than a factor 1.5 between runs")
    levels = len(np.unique(np.round(x / span, 3)))
    per = f"{seen.unit} per decade" if logged else f"{seen.unit} per unit of {name}"
    observed, replicated = seen.robust()
    return _checked(seen, check, name, x, raw.astype(float), observed, replicated, per, levels)


def step(seen: Replicates) -> Checked | Skipped:
    """The same along training, within runs: residuals minus the mean of their run."""
    check = "trend_step"
    runs, table = seen.model.noise.runs or _run_column(seen), seen.runs.table
    column = next((c for c in table.columns if str(c).lower() in STEPS), None)
    if column is None and "D" in table:
        column = "D"
    if runs is None:
        return Skipped(check, "no column names training runs with several checkpoints")
    if column is None:
        return Skipped(check, "no column of training steps or tokens")
    raw = np.asarray(table[column], dtype=float)
    _, index = np.unique(table[runs].astype(str).to_numpy(), return_inverse=True)
    counts = np.bincount(index)
    keep = (counts[index] >= LEAST_ROWS) & (raw > 0)
    if len(np.unique(index[keep])) < LEAST_RUNS:
        return Skipped(check, f"fewer than three runs by '{runs}' have three checkpoints")
    within = _centred(np.log10(np.where(raw > 0, raw, 1.0))[None], index, keep)[0]
    if np.ptp(within[keep]) < LEAST_SPAN:
        return Skipped(check, f"{column} hardly differs within runs")
    observed, replicated = (_centred(v, index, keep) for v in seen.robust())
    x, picked = within[keep], slice(None)
    return _checked(
        seen,
        check,
        "step",
        x,
        10**x,
        observed[:, keep][:, picked],
        replicated[:, keep][:, picked],
        f"{seen.unit} per decade",
        len(np.unique(np.round(x, 3))),
        weights=seen.weights()[keep],
        label=f"{column} over the run's mean",
        note=f"within runs by '{runs}', along {column}",
    )


def _run_column(seen: Replicates) -> str | None:
    """A column of the table that names runs of several rows each."""
    names = ("run", "run_id", "run_name", "model_id")
    found = (str(c) for c in seen.runs.table.columns if str(c).lower() in names)
    return next((c for c in found if seen.runs.table[c].duplicated().any()), None)


def _centred(values: np.ndarray, index: np.ndarray, keep: np.ndarray) -> np.ndarray:
    """Values minus the mean of their run, along the last axis."""
    kept = np.where(keep, 1.0, 0.0)
    totals = np.stack([np.bincount(index, kept * v) for v in values])
    return values - (totals / np.maximum(np.bincount(index, kept), 1))[:, index]


def _checked(
    seen: Replicates,
    check: str,
    name: str,
    x: np.ndarray,
    raw: np.ndarray,
    observed: np.ndarray,
    replicated: np.ndarray,
    per: str,
    levels: int,
    *,
    weights: np.ndarray | None = None,
    label: str = "",
    note: str = "",
) -> Checked:
    weights = seen.weights() if weights is None else weights
    centre = float(np.average(x, weights=weights))
    parts = [projection(x - centre, weights, degree) for degree in ((1, 2) if levels > 2 else (1,))]
    factor, quantities = seen.factor, []
    for nth, part in enumerate(parts):
        pair = [factor * (nth + 1) * (v @ part[-1]) for v in (observed, replicated)]
        unit = per if nth == 0 else f"{per} squared" if "unit" in per else f"{per}²"
        what = ("slope", "curvature")[nth]
        advice = _prior_advice(name) if seen.prior else ADVICE.get(name, ADVICE["C"])
        quantities.append(against(what, unit, (pair[0], pair[1]), seen.effective, advice))
    grid = np.linspace(x.min(), x.max(), GRID)
    basis = np.vander(grid - centre, len(parts) + 1, increasing=True)
    drawn = [factor * (v @ parts[-1].T @ basis.T) for v in (observed, replicated)]
    logged = bool((raw > 0).all())
    data = {"x": raw, "y": factor * np.median(observed, axis=0), "grid": grid}
    data |= {"grid": 10**grid if logged else grid, "trend": np.median(drawn[0], axis=0)}
    side = f"residual ({seen.unit})" if not seen.prior else f"{seen.unit} from the median"
    text = label or NAMES.get(name, name)
    picture = Picture("trend", text, side, data | bands_of(drawn[1]), log=name if logged else "")
    title = f"Residuals against {name}" if not seen.prior else f"Response against {name}"
    return Checked(check, title, tuple(quantities), picture, note)


def projection(x: np.ndarray, weights: np.ndarray, degree: int) -> np.ndarray:
    """Matrix from values at x to coefficients of 1, x, ... by weighted least squares."""
    root = np.sqrt(weights / weights.mean())
    basis = np.vander(x, degree + 1, increasing=True)
    return np.linalg.pinv(basis * root[:, None]) * root


def _prior_advice(name: str) -> Any:
    return (
        f"the prior says too little change with {name}: widen the priors of the law",
        f"the prior says too much change with {name}: narrow the priors of the law",
    )
