"""The rank of each true value among the draws of its fit's posterior."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayescale.check.calibration.simulator import LOG_LIKELIHOOD, Simulator, log_likelihood
from bayescale.errors import FitError, nearest
from bayescale.inference.batch import make_layout
from bayescale.inference.packing import Packing
from bayescale.inference.posterior import scalars, variables
from bayescale.many.result import Failure

if TYPE_CHECKING:
    from bayescale.fitted import Fit


@dataclass(frozen=True)
class Ranked:
    """What one fit gave: a rank for each quantity, or why there is none.

    Parameters
    ----------
    nth : int
        Number of the data set.
    ranks : array of int, shape (quantity,), or None
    problems : tuple of str
        Checks of the gate that the fit did not pass.
    converged : bool
        Whether the sampler had no trouble; a fit that did not pass may only be NOT IDENTIFIED.
    error : str
        Why the data set could not be fitted.
    """

    nth: int
    ranks: np.ndarray | None
    problems: tuple[str, ...] = ()
    converged: bool = True
    error: str = ""


def ranked_names(simulator: Simulator, wanted: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """Quantities to rank, and those of the fit that the simulator has no true value for.

    Raises
    ------
    FitError
        A wanted quantity is unknown, or has no true value.
    """
    model, runs = simulator.model, simulator.data(0)
    layout = make_layout(model, runs)
    packing = Packing.of(model, layout.labels)
    sites = packing.sample_prior(np.random.default_rng(0), 1)
    labels = {**layout.labels, layout.cell_dim: layout.cells}
    fitted = [*scalars(variables(model, layout, packing, sites), labels, 1), LOG_LIKELIHOOD]
    true = simulator.truths(0, runs)
    known = [name for name in fitted if name in true]
    lacking = [name for name in fitted if name not in true]
    if wanted is None:
        return known, lacking
    for name in [wanted] if isinstance(wanted, str) else wanted:
        if not _named(name, known):
            raise FitError(
                f"quantity '{name}' can't be ranked; known: {', '.join(known)}."
                + nearest(name, known)
            )
    asked = [wanted] if isinstance(wanted, str) else list(wanted)
    return [n for n in known if any(n in _named(a, known) for a in asked)], []


def _named(name: str, known: Sequence[str]) -> list[str]:
    """The scalar of this name, or all groups of it."""
    return [k for k in known if name in (k, k.partition("[")[0])]


def rank_fits(
    simulator: Simulator,
    outcomes: Iterable[tuple[str, "Fit | Failure"]],
    names: Sequence[str],
    bins: int,
) -> Iterator[Ranked]:
    """Rank the truth of each fit as it comes; the fit itself is then let go.

    Parameters
    ----------
    simulator : Simulator
    outcomes : iterable of (key, Fit or Failure)
        Keys are the numbers of the data sets.
    names : sequence of str
    bins : int
        Possible ranks: one more than the posterior draws that are kept.
    """
    for key, outcome in outcomes:
        nth = int(key)
        if isinstance(outcome, Failure):
            yield Ranked(nth, None, error=outcome.error)
            continue
        problems = tuple(dict.fromkeys(p.check for p in outcome.gate.problems))
        sampled = not outcome.gate.headline().startswith("NOT CONVERGED")
        yield Ranked(nth, _ranks(simulator, nth, outcome, names, bins), problems, sampled)


def _ranks(
    simulator: Simulator, nth: int, fit: "Fit", names: Sequence[str], bins: int
) -> np.ndarray:
    true = simulator.truths(nth, fit.runs)
    kept = posterior(fit, bins - 1)
    rng = np.random.default_rng([simulator.seed, nth, 43])
    values = np.stack([kept[name] for name in names])
    # whatever isn't a number (an overflow) counts as the least: an order is all that ranks need
    values = np.where(np.isnan(values), -np.inf, values)
    at = np.nan_to_num([true[name] for name in names], nan=-np.inf, posinf=np.inf, neginf=-np.inf)
    less, ties = (values < at[:, None]).sum(axis=1), (values == at[:, None]).sum(axis=1)
    return less + rng.integers(0, ties + 1)


def posterior(fit: "Fit", draws: int) -> dict[str, np.ndarray]:
    """Evenly spread posterior draws of every scalar, and of the log likelihood: (draw,)."""
    labels = {**fit.layout.labels, fit.layout.cell_dim: fit.layout.cells}
    size = next(iter(fit.stats.values())).size
    pick = (np.arange(1, draws + 1) * size) // (draws + 1)
    found = {n: v.reshape(-1)[pick] for n, v in scalars(fit.variables, labels).items()}
    sites = {name: values[pick] for name, values in fit.sites.items()}
    found[LOG_LIKELIHOOD] = log_likelihood(fit.model, fit.layout, fit.runs, sites)
    return found
