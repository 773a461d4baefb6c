"""Exact leave-one-out: the fit made again without some rows, for those that need it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.check.at_runs import expected_at
from bayescale.check.comparison.pointwise import joint, private_runs
from bayescale.check.comparison.psis import log_mean_exp
from bayescale.check.comparison.units import ROW, Units
from bayescale.errors import FitError

if TYPE_CHECKING:
    from bayescale.fitted import Fit

FRESH = 8  # new groups drawn for each posterior draw


@dataclass(frozen=True)
class Refit:
    """What a refit without a unit says of it.

    Parameters
    ----------
    unit : int
    elpd : float
        Joint log predictive density of its rows, nats.
    converged : bool
        Whether the refit passed its gate.
    """

    unit: int
    elpd: float
    converged: bool


def exact(
    fit: "Fit",
    units: Units,
    wanted: Sequence[int],
    name: str,
    *,
    workers: int | None = None,
    executor: Any = None,
    progress: bool | None = None,
) -> list[Refit]:
    """Fit again without each wanted unit, and take the density of what was left out.

    Raises
    ------
    FitError
        A refit can't be made, or says nothing of the unit left out; named.
    """
    from bayescale.many.job import stream_fits
    from bayescale.many.result import Failure

    if not wanted:
        return []
    kept = {
        str(u): fit.runs.select(units.index != u, f"all but {units.by} {units.names[u]}")
        for u in wanted
    }
    chains = int(fit.record.get("settings", {}).get("chains", 4))
    found = []
    for key, outcome in stream_fits(
        fit.law,
        kept,
        noise=fit.model.noise,
        pooling=fit.model.pooling,
        seed=fit.seed,
        chains=chains,
        draws=-(-1000 // chains),
        target_accept=float(fit.record.get("settings", {}).get("target_accept", 0.8)),
        workers=workers,
        executor=executor,
        progress=progress,
    ):
        unit = int(key)
        if isinstance(outcome, Failure):
            raise FitError(f"{name} without {units.by} {units.names[unit]}: {outcome.error}")
        found.append(Refit(unit, _density(fit, outcome, units, unit), outcome.converged))
    return sorted(found, key=lambda r: r.unit)


def _density(fit: "Fit", refit: "Fit", units: Units, unit: int) -> float:
    """Joint log predictive density of a unit under the fit made without it."""
    left = fit.runs.select(units.index == unit, f"only {units.by} {units.names[unit]}")
    rng = np.random.default_rng([fit.seed, unit, 43])
    private = private_runs(fit, units)[units.index == unit]
    repeats = FRESH if new_groups(fit, units, unit) else 1
    densities = []
    for _ in range(repeats):
        batch, mean, params = expected_at(refit, left, rng)
        place = np.zeros(len(left), dtype=int)
        densities.append(joint(refit.model, batch, mean, params, place, private)[:, 0])
    value = float(log_mean_exp(np.concatenate(densities)))
    if not np.isfinite(value):
        raise FitError(
            f"the refit without {units.by} {units.names[unit]} gives it no finite density."
        )
    return value


def new_groups(fit: "Fit", units: Units, unit: int) -> list[str]:
    """Pooled parameters of the law that leaving a unit out leaves without data of its group.

    Raises
    ------
    FitError
        Such a parameter is independent by group, so that nothing can be said of a new one.
    """
    mine, found = units.index == unit, []
    for p in fit.model.params:
        pool = fit.model.pool(p)
        if pool is None or p.name == "run_offset":
            continue
        names = fit.runs.column(pool.column).astype(str)
        alone = set(names[mine]) - set(names[~mine])
        if not alone:
            continue
        if pool.kind == "independent":
            raise FitError(
                f"{p.name} is independent by '{pool.column}', and leaving out {units.by} "
                f"{units.names[unit]} leaves no row of {pool.column} '{min(alone)}' to learn it "
                f"from: fit with partial('{pool.column}') instead, or leave out other groups."
            )
        found.append(p.name)
    return found


def cannot_weigh(fit: "Fit", units: Units) -> list[int]:
    """Units of several rows with a pooled group of their own: importance weights don't serve."""
    pools = [pool for p in fit.model.law.params if (pool := fit.model.pool(p))]
    pooled = bool(pools) or any(fit.model.pooling.get(p.name) for p in fit.model.noise.params())
    if not pooled:
        return []
    found = [u for u in range(len(units)) if new_groups(fit, units, u)]
    return [] if units.by == ROW else found
