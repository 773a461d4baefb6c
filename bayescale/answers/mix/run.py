"""The best mixture of sources under a budget, for every posterior draw."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.beyond import beyond_warning, shares_note
from bayescale.answers.marginal import most_epochs
from bayescale.answers.mix.choice import (
    MixtureChoice,
    best_single,
    best_tried,
    judge,
    tried_mixtures,
)
from bayescale.answers.mix.limits import read_limits
from bayescale.answers.mix.problem import Problem, read_problem
from bayescale.answers.mix.program import Solution, solve
from bayescale.answers.mix.region import Region, check_finite, make_region
from bayescale.answers.mix.result import Mixture
from bayescale.answers.objectives import objectives_of
from bayescale.data.cost import six_nd
from bayescale.errors import FitError
from bayescale.tables import quantity

if TYPE_CHECKING:
    from bayescale.data.cost import CostModel
    from bayescale.fitted import Fit

DRAWS = 1000
FAR = 1e-6  # nats: starts that end further apart found different optima
OFF = 1e-6  # what may be left of the slopes of an optimum, nats


def mix(
    fit: "Fit",
    *,
    C: Any = None,
    D: Any = None,
    N: Any = None,
    unique: Mapping[str, Any] | None = None,
    limits: Mapping[str, Any] | None = None,
    objective: str | None = None,
    weights: Mapping[str, Any] | None = None,
    targets: Sequence[str] | str | None = None,
    consider: Mapping[str, Any] | None = None,
    draws: int | None = DRAWS,
    cost: "CostModel | None" = None,
    seed: int = 0,
    **group: Any,
) -> Mixture:
    r"""Find the best mixture: sampled tokens of each source, and the size where it is free.

    For each posterior draw minimise

    .. math:: \sum_m w_m (L_m - E_m), \quad \sum_m w_m L_m \quad\text{or}\quad
        \max_m w_m (L_m - E_m)

    over the tokens :math:`D_k` of all sources with :math:`\sum_k D_k = D`, or with N free
    :math:`6 N \sum_k D_k = C`, from several starts. Where the law has repetition, a source's tokens
    may exceed its unique ones and count less then; elsewhere they may not. With drift each loss is
    moved by its own at this compute, E with it, and beyond the runs each draw's best size and
    shares err as `bayescale.answers.wander` says.

    Parameters
    ----------
    fit : Fit
        Of a mixture or decoupled law.
    C, D, N : number or str, optional
        FLOP, sampled tokens, parameters: two of them, or C alone, which leaves N free. A law
        without N takes D.
    unique : mapping, optional
        Source -> unique tokens there are (``{"vision": "5B"}``).
    limits : mapping, optional
        Source -> (lowest, highest) share of all tokens.
    objective : {"mean", "weighted", "worst"}, optional
        Mean of L - E (default), weighted mean of L (default with weights), or the largest
        L - E, weighted where weights are given.
    weights : mapping, optional
        Target -> weight; 1 where not given, 0 leaves a target out.
    targets : sequence of str, optional
        Those that count; default: all.
    consider : mapping, optional
        Source -> share: your own mixture, whose regret is told.
    draws : int, optional
        Posterior draws to take, evenly spaced; None for all.
    cost : CostModel, optional
        Default: that of the data.
    seed : int
        Seed of the draws for groups that are not in the data.
    **group
        For pooled fits, the group by its column.

    Returns
    -------
    Mixture

    Raises
    ------
    DataError
        A number isn't a positive one.
    FitError
        The law has one loss a run, a name is unknown, the limits leave no mixture, or the budget
        is said twice or not at all.
    """
    found = objectives_of(fit, group, seed)
    problem = read_problem(
        found, cost or fit.extent.cost, C=C, D=D, N=N, unique=unique, limits=limits,
        objective=objective, weights=weights, targets=targets,
    )  # fmt: skip
    region = make_region(problem)
    check_finite(problem, region.centre * region.total, region.total)
    kept = _kept(found.size, draws)
    solution = solve(region, kept)
    best = best_single(region, kept, solution)
    tried = best_tried(region, kept, solution, best.D)
    own = () if consider is None else (_considered(region, kept, solution, consider, best.D),)
    return Mixture(
        sources=found.sources,
        targets=found.names,
        draws=_draws(problem, kept, solution),
        recommended=best,
        tried=tried,
        choices=own,
        seen=tried_mixtures(region),
        aim=problem.aim(),
        budget=problem.budget(),
        of_draws=found.size,
        title=fit.title,
        unit=fit.law.response_unit,
        converged=fit.converged,
        warnings=fit.warnings + _warnings(region, solution, best),
        notes=_notes(problem, solution, found.size, tried is None),
    )


def _kept(size: int, draws: int | None) -> np.ndarray:
    if draws is not None and (isinstance(draws, bool) or not isinstance(draws, int) or draws < 1):
        raise FitError(f"draws is {draws!r}; expected a whole number of at least 1, or None.")
    count = size if draws is None else min(size, draws)
    return np.unique(np.linspace(0, size - 1, count).astype(int))


def _draws(problem: Problem, kept: np.ndarray, found: Solution) -> dict[str, np.ndarray]:
    of, tokens = problem.objectives, found.shares * found.total[:, None]
    unique = np.where(np.isfinite(problem.caps), problem.caps, np.nan)
    unique[of.places] = np.where(np.isfinite(problem.unique), problem.unique, np.nan)
    size = problem.size(found.total)
    return {
        "share": found.shares,
        "tokens": tokens,
        "epochs": tokens / unique,
        "loss": problem.losses(kept, size, tokens),
        "D": found.total,
        "N": np.broadcast_to(np.nan if size is None else size, found.total.shape).astype(float),
        "value": found.value,
    }


def _considered(
    region: Region, kept: np.ndarray, found: Solution, mixture: Mapping[str, Any], total: float
) -> MixtureChoice:
    """The user's own mixture at the budget, with the recommended size where N is free."""
    of = region.problem.objectives
    shares, _, _, _ = read_limits(of, {k: (v, v) for k, v in mixture.items()}, None)
    if abs(shares.sum() - 1) > 1e-3:
        raise FitError(f"the shares to consider sum to {shares.sum():.4g}, not to 1.")
    shares = shares / shares.sum()
    check_finite(region.problem, shares * total, total)
    return judge(region, kept, found, shares, total, "asked")


def _warnings(region: Region, found: Solution, best: MixtureChoice) -> tuple[str, ...]:
    said = list(_outside(region, best))
    if (off := float((found.error > OFF).mean())) > 0:
        said.append(
            f"{off:.1%} of the draws have an optimum that isn't sharp to {OFF:g} nats: their "
            "surface is flat or has a kink there."
        )
    if (edge := float(found.edge.mean())) > 0:
        said.append(
            f"in {edge:.1%} of the draws the best size lies ten thousand times off the others' or "
            "beyond: they have no optimum within range."
        )
    return tuple(said)


def _outside(region: Region, best: MixtureChoice) -> list[str]:
    """What of the recommended mixture no run has: its budget, its shares."""
    problem, said = region.problem, []
    of = problem.objectives
    there, far = of.fit.extent, []
    if problem.C is not None and "compute" in there:
        budget, known = ("C", problem.C), there.compute(six_nd(problem.factor))
    else:
        budget, known = ("D", best.D), there.span("tokens")
    said += _compare(*budget, known.low, known.high, of.fit.model.drift is not None)
    for name in of.sources:
        low, high = there.span(f"share:{name}").low, there.span(f"share:{name}").high
        share = best.shares[name]
        if not low - 0.005 <= share <= high + 0.005:
            far.append(f"{share:.1%} of {name} ({low:.1%} to {high:.1%})")
    for name in of.repeated:
        epochs = best.tokens[name] / problem.unique[of.repeated.index(name)]
        if epochs > (most := most_epochs(there, name)) * 1.01:
            said.append(
                f"the best mixture has {epochs:.3g} epochs of {name}, and the runs up to "
                f"{most:.3g}: harm by heavy repetition is outside the law."
            )
    if far:
        said.append(f"the best mixture lies outside the runs' in {', '.join(far)}.")
    return said


def _compare(name: str, asked: float, least: float, most: float, drifting: bool) -> list[str]:
    if asked > most * (1 + 1e-9):
        return [
            f"{name} = {quantity(asked)} is {asked / most:.3g}x the largest run's. "
            + beyond_warning(drifting)
        ]
    if asked < least * (1 - 1e-9):
        return [
            f"{name} = {quantity(asked)} is below the smallest run's {quantity(least)}: the law "
            "is extrapolated downwards."
        ]
    return []


def _notes(problem: Problem, found: Solution, size: int, alone: bool) -> tuple[str, ...]:
    of, said = problem.objectives, []
    if len(found.total) < size:
        said.append(f"{len(found.total):,} of {size:,} draws (draws=None takes all)")
    if alone and of.fit.has_runs:
        said.append("none of the runs' mixtures lies within the limits")
    elif alone:
        said.append("a shipped fit doesn't hold the runs' mixtures, so none is compared with")
    if of.view.drift is not None and np.any(problem.wander.shares):
        said.append(shares_note(of.view.drift.shares))
    if off := [n for n, w in zip(of.names, problem.weights, strict=True) if w == 0]:
        said.append(f"not counted: {', '.join(off)}")
    stuck = [s for s, c in zip(of.sources, problem.caps, strict=True) if np.isfinite(c)]
    if stuck:
        said.append(f"the law has no repetition of {', '.join(stuck)}: unique tokens are a limit")
    if (several := float((found.apart > FAR).mean())) > 0.01:
        said.append(f"{several:.0%} of the draws have several local optima; the best is taken")
    return tuple(said)
