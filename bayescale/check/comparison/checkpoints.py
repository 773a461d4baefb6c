"""Whether the rows of a table are checkpoints of a few runs, whose errors go together.

A column that names the run says so. Without one, rows are told apart by what harms leave-one-out:
errors that neighbours along a training curve share.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data.curves.names import RUN_NAMES, plain
from bayescale.inference.batch import make_batch
from bayescale.inference.rows import at_rows
from bayescale.scatter import SCALES

if TYPE_CHECKING:
    import pandas as pd

    from bayescale.data.runs import Runs
    from bayescale.fitted import Fit

# neighbours correlated by 1/2 are worth a third as many rows, by 1/3 half as many:
# (1 - r)/(1 + r) of an AR(1) series
REFUSED, TOLD = 1 / 2, 1 / 3
SURE = 3.0  # standard errors from none
MIN_CURVE = 5  # distinct D of a curve
MIN_ROWS = 30  # with fewer rows, removing a cubic surface leaves nothing to see
DEGREE = 3


def run_column(runs: "Runs") -> str | None:
    """The column that names the run, where several rows are of one run; else None.

    A header such as ``run_id``, under which several rows have one name, one N, and different D.
    """
    for name in runs.table.columns:
        if plain(name) in RUN_NAMES and _names_curves(runs.table, str(name)):
            return str(name)
    return None


def _names_curves(table: "pd.DataFrame", column: str) -> bool:
    """Whether most rows share a run with others, each run having one N and many D."""
    groups: Any = table.groupby(table[column].astype(str), sort=False)
    shared = groups[column].transform("size") > 1
    if shared.mean() <= 0.5:
        return False
    if "N" in table and (groups["N"].nunique() > 1).any():
        return False
    return "D" not in table or bool((groups["D"].nunique() > 1).any())


@dataclass(frozen=True)
class Correlated:
    """Errors of neighbouring rows along the likely training curves of a table go together.

    Parameters
    ----------
    r : float
        Lag-1 autocorrelation.
    curves : int
        Number of likely runs.
    rows : int
        Median number of rows of each.
    along : str
        D or C.
    """

    r: float
    curves: int
    rows: int
    along: str

    @property
    def checkpoints(self) -> bool:
        """Whether it is so much that the rows must be checkpoints."""
        return self.r >= REFUSED

    def __str__(self) -> str:
        runs = f"{self.curves} training runs" if self.curves > 1 else "one training run"
        each = f"about {self.rows} rows each" if self.curves > 1 else f"{self.rows} rows"
        return (
            f"checkpoints of {runs} ({each}; along {self.along} the errors "
            f"of neighbours are correlated by {self.r:.2f})"
        )


def correlated(fit: "Fit") -> Correlated | None:
    """Whether a fit's errors go together along training curves.

    Rows of one N (and of one recipe, as far as other columns tell) are ordered by D, and the
    lag-1 autocorrelation of their residuals is taken within each N, twice: as they are, which is
    what harms leave-one-out, and without the cubic surface in ln N and ln D that fits them best.
    A law that bends wrongly for all runs alike has correlated residuals too, but loses them to
    the surface; what each training run has to itself stays. The smaller of the two counts. On
    public sweeps it is at most .4 for separate trainings, whatever their design, and .5 to .95
    for checkpoints along whole training curves.

    Returns
    -------
    Correlated or None
        None below a correlation of 1/3 or of 3 standard errors, and where no curve can be seen.
    """
    along = next((c for c in ("D", "C") if c in fit.runs.table), None)
    if along is None or len(fit.runs) < MIN_ROWS:
        return None
    order = fit.runs.column(along).astype(float)
    curves = [c for c in _curves(fit.runs, order) if len(np.unique(order[c])) >= MIN_CURVE]
    if sum(map(len, curves)) < len(fit.runs) / 2:
        return None
    r = correlation(fit, order, curves)
    pairs = sum(len(c) - 1 for c in curves)
    if r < TOLD or r * np.sqrt(pairs) < SURE:
        return None
    return Correlated(r, len(curves), int(np.median([len(c) for c in curves])), along)


def correlation(fit: "Fit", order: np.ndarray, curves: list[np.ndarray]) -> float:
    """Lag-1 autocorrelation along curves: of residuals, or without what all runs share."""
    residual = residuals(fit)
    rest = _without_surface(fit, residual, order)
    return min(autocorrelation(residual, curves), autocorrelation(rest, curves))


def _curves(runs: "Runs", order: np.ndarray) -> list[np.ndarray]:
    """Positions of the rows of each likely run, by increasing D.

    Where the rows of one recipe hold a D twice they are of several runs: those are then cut
    where D falls in the order of the file.
    """
    found = []
    for rows in _recipes(runs):
        parts = [rows]
        if len(np.unique(order[rows])) < len(rows):
            parts = np.split(rows, np.flatnonzero(np.diff(order[rows]) <= 0) + 1)
        found += [part[np.argsort(order[part], kind="stable")] for part in parts]
    return found


def _recipes(runs: "Runs") -> list[np.ndarray]:
    """Rows of one N and one value of every column that tells recipes, not rows, apart."""
    import pandas as pd

    table: Any = runs.table
    keys = pd.Series("", index=table.index)
    used = {"D", "C", "loss"}
    for column in ["N", *(c for c in table.columns if c != "N")]:
        if column in used or column not in table:
            continue
        finer = keys + "|" + table[column].astype(str)
        if column == "N" or finer.nunique() <= len(table) / MIN_CURVE:
            keys = finer
    return [np.asarray(rows) for rows in keys.groupby(keys, sort=False).indices.values()]


def _without_surface(fit: "Fit", residual: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Residuals without the cubic surface in ln N and ln D that all runs share."""
    from scipy.optimize import least_squares

    axes = [np.log(order)]
    if "N" in fit.runs.table and len(np.unique(fit.runs.column("N"))) > 1:
        axes.append(np.log(fit.runs.column("N").astype(float)))
    x = np.stack([(a - a.mean()) / (a.std() or 1.0) for a in axes])
    powers = [p for p in np.ndindex(*(DEGREE + 1,) * len(x)) if sum(p) <= DEGREE]
    surface = np.stack([np.prod(x.T ** np.array(p), axis=1) for p in powers], axis=1)
    scale = float(np.median(np.abs(residual - np.median(residual)))) * 1.4826 or 1.0
    found: Any = least_squares(
        lambda b: (surface @ b - residual) / scale,
        np.zeros(len(powers)),
        loss="soft_l1",  # failed runs must not bend the surface
    )
    return residual - surface @ found.x


def residuals(fit: "Fit", draws: int = 200) -> np.ndarray:
    """Observed against the posterior median of the law's mean, shape (run,).

    Differences of logarithms where the noise is on the log, else of the response.
    """
    sites = fit.sites
    step = max(1, len(next(iter(sites.values()))) // draws)
    batch = make_batch(fit.model, fit.runs, fit.layout)
    mean = np.median(at_rows(fit.model, batch, {k: v[::step] for k, v in sites.items()})[0], axis=0)
    y = batch["response"]
    at = SCALES[fit.model.noise.on]
    return at.forward(y) - at.forward(mean)


def autocorrelation(values: np.ndarray, curves: list[np.ndarray]) -> float:
    """Pooled lag-1 autocorrelation within curves, around 0; far residuals are drawn in."""
    limit = 3 * 1.4826 * float(np.median(np.abs(values)))
    values = np.clip(values, -limit, limit)
    across = sum(float(np.sum(values[c[1:]] * values[c[:-1]])) for c in curves)
    power = sum(float(np.mean(values[c] ** 2)) * (len(c) - 1) for c in curves)
    return across / power if power > 0 else 0.0
