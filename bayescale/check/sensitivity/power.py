"""``power_scaling``: whether priors or likelihood decide each quantity of a fit."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.points import read_values
from bayescale.check.sensitivity.likelihood import total_log_likelihood
from bayescale.check.sensitivity.quantities import (
    Quantity,
    Watch,
    check_finite,
    make_watch,
    statistics,
)
from bayescale.check.sensitivity.scaling import PowerScaling, Sensitivity
from bayescale.errors import FitError, nearest
from bayescale.tables import quantity, with_spread

if TYPE_CHECKING:
    from bayescale.fitted import Fit

THRESHOLD = 0.05
STEP = 0.01  # powers 0.99 and 1.01
MAX_K = 0.7
FINE, CONFLICT, STRONG = "fine", "possible prior-data conflict", "strong prior or weak likelihood"


def power_scaling(
    fit: "Fit",
    *,
    targets: Sequence[str] | str | None = None,
    C: Any = None,
    at: Mapping[str, Any] | None = None,
    threshold: float = THRESHOLD,
    seed: int = 0,
    **group: Any,
) -> PowerScaling:
    r"""Say for each quantity whether the prior, the likelihood or both decide it.

    Prior or likelihood is raised to a power :math:`\alpha` near 1 and the draws are reweighted
    (Pareto-smoothed); sensitivity is the change of the cumulative Jensen-Shannon distance between
    the reweighted and the plain posterior per doubling of the power (Kallioinen et al. 2024,
    arXiv:2107.14054, computed by ArviZ). Nothing is sampled.

    The log likelihood is summed over all runs under all draws, piece by piece. Of pooled fits the
    spread of groups (and of runs) around their common value counts as likelihood, not as prior.

    Parameters
    ----------
    fit : Fit
    targets : str or several, optional
        Parameters or derived quantities (``"E"``, ``"a"``, ``"E[c4]"``; of the noise too);
        default: all of the law.
    C : number, str or several, optional
        Budgets in FLOP, for L*(C) and N_opt(C).
    at : mapping, optional
        Inputs of a point at which the loss is wanted: ``{"N": "70B", "D": "1.4T"}``.
    threshold : float
        From which a sensitivity counts; 0.05 is the paper's.
    seed : int
        Seed of the draws for groups that are not in the data.
    **group
        For C and at of pooled fits, the group by its column (``corpus="c4"``).

    Returns
    -------
    PowerScaling

    Raises
    ------
    FitError
        An unknown target, draws that aren't finite, or an answer that this fit can't give.
    DataError
        A budget or input isn't a positive number.
    """
    if not 0 < threshold < 1:
        raise FitError(f"threshold is {threshold!r}; expected a number between 0 and 1.")
    check_finite(fit)
    asked = [*_targets(fit, targets), *_answers(fit, C, at, group, seed)]
    priors = log_priors(fit)
    likelihood = Scaled(total_log_likelihood(fit))
    together = Scaled(np.sum(list(priors.values()), axis=0))
    apart = {name: Scaled(values) for name, values in priors.items()}
    found = []
    for q in asked:
        by_prior = {name: weights.sensitivity(q) for name, weights in apart.items()}
        found.append(
            _judged(fit, q, together.sensitivity(q), likelihood.sensitivity(q), by_prior, threshold)
        )
    k = {"prior": together.pareto_k, "likelihood": likelihood.pareto_k}
    return PowerScaling(
        quantities=tuple(found),
        threshold=threshold,
        pareto_k=k,
        title=f"Power-scaling: {fit.law.name} fitted to {len(fit.runs)} runs",
        notes=_notes(threshold),
        converged=fit.converged,
        warnings=fit.warnings + _k_warnings(k),
    )


def log_priors(fit: "Fit") -> dict[str, np.ndarray]:
    """Log prior density of each sampled parameter, (chain, draw), summed over its groups.

    Deviations of groups from their common value are left out: their density belongs to the model
    of the data, and scaling it would scale the pooling.
    """
    found = {}
    for site in fit.packing.sites:
        if site.name.endswith("_z") or site.name == "run_offset":
            continue
        density = np.asarray(site.prior.log_density(fit.variables[site.name].values))
        found[site.name] = density.reshape(*density.shape[:2], -1).sum(axis=2)
    return found


class Scaled:
    """Importance weights that scale one log density by powers just below and above 1.

    Parameters
    ----------
    log_density : array, shape (chain, draw)
    """

    def __init__(self, log_density: np.ndarray) -> None:
        self.powers = (1 - STEP, 1 + STEP)
        self.weights: list[np.ndarray] | None = None
        self.pareto_k = float("nan")
        if np.ptp(log_density) == 0:  # a flat prior: no power of it changes anything
            return
        axis = (-2, -1)
        logs = [statistics().power_scale_lw(log_density, power, axis) for power in self.powers]
        self.weights = [np.exp(v - v.max()) for v in map(np.asarray, logs)]
        ks = [statistics().psislw((1 - power) * log_density, axis=axis)[1] for power in self.powers]
        self.pareto_k = float(max(ks))

    def sensitivity(self, q: Quantity) -> float:
        """Sensitivity of a quantity; of its finite draws."""
        good = np.isfinite(q.draws)
        if self.weights is None or np.ptp(q.draws[good]) == 0:
            return 0.0
        low, high = (w[good][None] / w[good].sum() for w in self.weights)
        return float(statistics().power_scale_sense(q.draws[good][None], low, high, *self.powers))


def _targets(fit: "Fit", targets: Sequence[str] | str | None) -> list[Quantity]:
    from bayescale.inference.posterior import scalars

    labels = {**fit.layout.labels, fit.layout.cell_dim: fit.layout.cells}
    listed = scalars(fit.variables, labels)
    kinds = {n: v.kind for n, v in fit.variables.items()}
    if targets is None:
        names = [n for n in listed if kinds[n.partition("[")[0]] in ("param", "derived")]
        return [Quantity(n, listed[n], n) for n in names]
    found: list[Quantity] = []
    for target in [targets] if isinstance(targets, str) else targets:
        names = [n for n in listed if target in (n, n.partition("[")[0])]
        if not names:
            raise FitError(
                f"this fit has no '{target}'; it has {', '.join(fit.variables)}."
                + nearest(str(target), list(listed))
            )
        found += [Quantity(n, listed[n], n) for n in names]
    return found


def _answers(
    fit: "Fit", C: Any, at: Mapping[str, Any] | None, group: Mapping[str, Any], seed: int
) -> list[Quantity]:
    """L*, N_opt and loss, where they are asked for."""
    found: list[Quantity] = []
    for budget in read_values("C", C) if C is not None else ():
        watch = make_watch(fit, float(budget), None, group, seed)
        for q in _asked(fit, watch):
            name = f"{q.name}({quantity(float(budget))})"
            found.append(Quantity(name, q.draws, f"{q.label}({quantity(float(budget))})"))
    if at:
        watch = make_watch(fit, None, at, group, seed)
        point = Watch(None, watch.at, watch.group, seed)
        where = ", ".join(f"{k} = {quantity(v)}" for k, v in watch.at.items())
        found += [Quantity(f"loss({where})", q.draws, f"loss({where})") for q in _asked(fit, point)]
    return found


def _asked(fit: "Fit", watch: Watch) -> list[Quantity]:
    return [q for q in watch.of(fit).values() if q.name in ("L_opt", "N_opt", "loss")]


def _judged(
    fit: "Fit",
    q: Quantity,
    prior: float,
    likelihood: float,
    by_prior: Mapping[str, float],
    threshold: float,
) -> Sensitivity:
    if prior < threshold:
        return Sensitivity(q.name, q.label, prior, likelihood, by_prior, FINE, "")
    where = _prior_and_posterior(fit, max(by_prior, key=lambda name: by_prior[name]))
    if likelihood >= threshold:
        advice = f"priors and runs both pull, most of all {where}; widen it unless you know better"
        return Sensitivity(q.name, q.label, prior, likelihood, by_prior, CONFLICT, advice)
    advice = f"these runs tell little, so priors decide, most of all {where}; say where it is from"
    advice += ", or add runs that tell"
    return Sensitivity(q.name, q.label, prior, likelihood, by_prior, STRONG, advice)


def _prior_and_posterior(fit: "Fit", name: str) -> str:
    """A sampled parameter's prior, and the posterior beside it."""
    prior = next(site.prior for site in fit.packing.sites if site.name == name)
    draws = fit.variables[name].values
    low, high = np.quantile(draws, [0.05, 0.95])
    sd = float(draws.std())
    ends = f"{with_spread(float(low), sd)} to {with_spread(float(high), sd)}"
    return f"{name} ~ {prior} (90% of its posterior: {ends})"


def _notes(threshold: float) -> tuple[str, ...]:
    return (
        "change of the posterior per doubling of the power of prior or likelihood; from "
        f"{threshold:g} on it counts (arXiv:2107.14054)",
    )


def _k_warnings(k: Mapping[str, float]) -> tuple[str, ...]:
    bad = [f"{name} {value:.2f}" for name, value in k.items() if value > MAX_K]
    if not bad:
        return ()
    return (
        f"Pareto k of the weights is above {MAX_K} ({', '.join(bad)}): sensitivities are rough.",
    )
