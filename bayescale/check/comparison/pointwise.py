"""Log density of rows, and of groups of rows, under each posterior draw."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.check.comparison.offsets import integrated
from bayescale.check.comparison.units import ROW, Units
from bayescale.errors import FitError
from bayescale.inference.batch import make_batch, take_rows
from bayescale.inference.rows import at_rows

if TYPE_CHECKING:
    from bayescale.fitted import Fit
    from bayescale.inference.model import Model

ELEMENTS = 50_000_000  # draws x rows kept at most: draws are thinned beyond
CHUNK = 2_000_000  # draws x rows evaluated at once
FEW = 1000  # draws where each needs an integral


def log_likelihood(fit: "Fit", units: Units, name: str) -> np.ndarray:
    """Joint log density of the rows of each unit under each draw.

    Given the law's and the noise's shared parameters, the rows of a run with an offset of its own
    are independent of all others once the offset is integrated out; that density is what
    importance weights need.

    Returns
    -------
    array, shape (chain, draw, unit)
        Draws may be thinned.

    Raises
    ------
    FitError
        A draw or a density is not finite; named by fit and row.
    """
    chains, draws = next(iter(fit.stats.values())).shape
    private = private_runs(fit, units)
    most = ELEMENTS // max(1, len(fit.runs) * chains)
    if private.any():
        most = min(most, FEW // chains)
    step = max(1, -(-draws // max(1, most)))
    sites = {
        k: v.reshape(chains, draws, *v.shape[1:])[:, ::step].reshape(-1, *v.shape[1:])
        for k, v in fit.sites.items()
    }
    _check_draws(sites, name)
    batch = make_batch(fit.model, fit.runs, fit.layout)
    size = len(next(iter(sites.values())))
    found = np.zeros((size, len(units)))
    for part in _chunks(units, private, size):
        rows = np.flatnonzero(np.isin(units.index, part))
        piece = take_rows(batch, rows)
        mean, params = at_rows(fit.model, piece, sites)
        place = np.searchsorted(part, units.index[rows])
        found[:, part] = joint(fit.model, piece, mean, params, place, private[rows])
    _check_density(found, units, name)
    return found.reshape(chains, -1, len(units))


def private_runs(fit: "Fit", units: Units) -> np.ndarray:
    """Which rows are of a run with an offset that no row outside their unit shares.

    Shape (row,); all False without offsets, or where single rows are left out: what is asked then
    is the next checkpoint of a run that is known.
    """
    column = fit.model.noise.runs
    if column is None or not fit.model.noise.offsets or units.by == ROW:
        return np.zeros(len(fit.runs), dtype=bool)
    run = fit.runs.column(column).astype(str)
    homes = {r: len(np.unique(units.index[run == r])) for r in np.unique(run)}
    return np.array([homes[r] == 1 for r in run])


def joint(
    model: "Model",
    batch: Mapping[str, Any],
    mean: np.ndarray,
    params: Mapping[str, Any],
    unit: np.ndarray,
    private: np.ndarray,
) -> np.ndarray:
    """Joint log density by unit, offsets of private runs integrated out.

    Parameters
    ----------
    batch, mean, params
        Rows as `make_batch` and `at_rows` give them.
    unit : integer array, shape (row,)
    private : boolean array, shape (row,)

    Returns
    -------
    array, shape (draw, unit)
    """
    noise, y = model.noise, batch["response"]
    values = {p.name: np.asarray(params[p.name]) for p in noise.params()}
    found = np.zeros((len(mean), int(unit.max()) + 1))
    if not private.all():
        rows = np.flatnonzero(~private)
        own = {k: _of_rows(v, rows) for k, v in values.items()}
        columns = take_rows(batch["noise"], rows)
        density = noise.log_density(y[rows], mean[:, rows], own, columns)
        for k in np.unique(unit[rows]):
            found[:, k] += density[:, unit[rows] == k].sum(axis=1)
    if private.any():
        runs = batch["index"][str(noise.runs)]
        for run in np.unique(runs[private]):
            rows = np.flatnonzero(private & (runs == run))
            own = {k: _of_rows(v, rows) for k, v in values.items()}
            columns = take_rows(batch["noise"], rows)
            found[:, unit[rows[0]]] += integrated(noise, y[rows], mean[:, rows], own, columns)
    return found


def _of_rows(value: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return value if value.shape[1] == 1 else value[:, rows]


def _chunks(units: Units, private: np.ndarray, draws: int) -> list[np.ndarray]:
    """Units whose rows fit into memory together."""
    sizes = np.bincount(units.index, minlength=len(units))
    most = max(1, CHUNK // max(1, draws))
    place = (np.cumsum(sizes) - sizes) // most
    return [np.flatnonzero(place == k) for k in np.unique(place)]


def _check_draws(sites: Mapping[str, np.ndarray], name: str) -> None:
    for site, values in sites.items():
        bad = ~np.isfinite(values)
        if bad.any():
            raise FitError(
                f"{name}: {int(bad.sum())} of {bad.size} draws of '{site}' are not finite; fit "
                "again (another seed, tighter priors) before comparing it."
            )


def _check_density(found: np.ndarray, units: Units, name: str) -> None:
    bad = ~np.isfinite(found)
    if bad.any():
        unit = int(np.argmax(bad.any(axis=0)))
        share = float(bad[:, unit].mean())
        raise FitError(
            f"{name}: the log likelihood of {units.by} {units.names[unit]} is not finite in "
            f"{share:.0%} of the draws; look at that row, and at the law's values there."
        )
