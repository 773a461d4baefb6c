"""What a fit says of runs that it need not have seen: hold-outs, left-out groups, replicates."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.errors import FitError
from bayescale.inference.batch import Layout, make_batch
from bayescale.inference.rows import at_rows

FREE = ("run_offset", "drift_step")  # standard normal a priori, whatever the group

if TYPE_CHECKING:
    from bayescale.data.runs import Runs
    from bayescale.fitted import Fit


@dataclass(frozen=True)
class AtRuns:
    """Posterior of given runs.

    Parameters
    ----------
    observed : array, shape (run,)
        The response that was measured.
    mean : array, shape (draw, run)
        The law's mean.
    replicate : array, shape (draw, run)
        A run there, noise included.
    log_density : array, shape (draw, run)
        Log density of the observed response under each draw.
    """

    observed: np.ndarray
    mean: np.ndarray
    replicate: np.ndarray
    log_density: np.ndarray


def at_runs(fit: "Fit", runs: "Runs", seed: int = 0, draws: int | None = None) -> AtRuns:
    """Predict given runs, and say how likely what was measured is.

    Groups that the fit has not seen are drawn around the common values.

    Parameters
    ----------
    fit : Fit
    runs : Runs
        With the columns that the fit's model reads.
    seed : int
        Seed of noise and of new groups.
    draws : int, optional
        Use about this many evenly spread draws instead of all.

    Raises
    ------
    DataError
        A column is missing or holds what the law or noise can't take.
    FitError
        A new group where each group has parameters of its own.
    """
    rng = np.random.default_rng([fit.seed, seed, 29])
    batch, mean, params = expected_at(fit, runs, rng, draws)
    noise = fit.model.noise
    with np.errstate(over="ignore"):
        replicate = noise.draw(rng, mean, params, batch["noise"])
        density = noise.log_density(batch["response"], mean, params, batch["noise"])
    return AtRuns(batch["response"], mean, replicate, np.asarray(density))


def expected_at(
    fit: "Fit", runs: "Runs", rng: np.random.Generator, draws: int | None = None
) -> tuple[dict[str, Any], np.ndarray, dict[str, Any]]:
    """The law's mean and all parameters at given runs, new groups drawn.

    Parameters
    ----------
    fit : Fit
    runs : Runs
    rng : Generator
        For the parameters of new groups.
    draws : int, optional
        As for `at_runs`.

    Returns
    -------
    batch : dict
        Arrays of the runs, from `bayescale.inference.batch.make_batch`.
    mean : array, shape (draw, run)
    params : dict
        Parameter -> array, shape (draw, run or 1).
    """
    sites = dict(fit.sites)
    if fit.model.drift:
        sites["drift_step"] = fit.drift_steps
    if draws is not None:
        step = max(1, len(next(iter(sites.values()))) // draws)
        sites = {k: v[::step] for k, v in sites.items()}
    layout, sites = _with_new_groups(fit, runs, sites, rng)
    batch = make_batch(fit.model, runs, layout, beyond=True)
    with np.errstate(over="ignore"):
        mean, params = at_rows(fit.model, batch, sites)
    return batch, mean, params


def _with_new_groups(
    fit: "Fit", runs: "Runs", sites: dict[str, np.ndarray], rng: np.random.Generator
) -> tuple[Layout, dict[str, np.ndarray]]:
    """Labels and draws with the groups that only these runs have put behind the known ones."""
    model, labels = fit.model, dict(fit.layout.labels)
    runs.require(model.columns, by=f"this fit of law '{model.law.name}'")
    fresh: dict[str, list[Any]] = {}
    for column in model.columns:
        there = dict.fromkeys(str(v) for v in runs.table[column])
        fresh[column] = [name for name in there if name not in labels[column]]
        labels[column] = (*labels[column], *fresh[column])
    extended = dict(sites)
    for p in model.params:
        pool = model.pool(p)
        if pool is None or not fresh[pool.column]:
            continue
        if pool.kind == "independent" and p.name not in FREE:
            raise FitError(
                f"{p.name} of this fit is independent by '{pool.column}', so it says nothing of "
                f"the new {pool.column} '{fresh[pool.column][0]}'; fit with partial('"
                f"{pool.column}') to predict new groups."
            )
        # deviations of groups, like offsets of runs, are standard normal a priori
        name = p.site if pool.kind == "independent" else f"{p.site}_z"
        known = sites[name]
        shape = (len(known), len(fresh[pool.column]), *known.shape[2:])
        extended[name] = np.concatenate([known, rng.standard_normal(shape)], axis=1)
    return replace(fit.layout, labels=labels), extended
