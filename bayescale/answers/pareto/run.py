"""``pareto``: the frontier between several losses of one model under a budget."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.objectives import Objectives, objectives_of
from bayescale.answers.pareto import asked, frontier, sizes
from bayescale.answers.pareto.answer import Pareto
from bayescale.answers.pareto.mixes import Compositions, read_compositions
from bayescale.answers.pareto.plane import Budgets, Plane, two_shares
from bayescale.errors import FitError

if TYPE_CHECKING:
    from bayescale.data.cost import CostModel
    from bayescale.fitted import Fit

STRIDE = 0.25  # e-folds of compute either side, for exponents
WORST = 0.9  # quantile over draws of the default reference


def pareto(
    fit: "Fit",
    C: Any = None,
    *,
    D: Any = None,
    N: Any = None,
    r: Any = None,
    shares: Any = None,
    U: Mapping[str, Any] | None = None,
    weights: Mapping[str, Any] | None = None,
    reference: Mapping[str, Any] | None = None,
    cost: "CostModel | None" = None,
    seed: int = 0,
    **group: Any,
) -> Pareto:
    r"""Find the Pareto frontier between the losses of one model, for every posterior draw.

    Under a budget C = 6 N (D_1 + D_2) all sizes and all ratios r = D_2/D_1 may be chosen. With
    T and S the derivatives of a loss in ln N and ln r at fixed C, a choice is on the frontier
    where :math:`T_1 S_2 = T_2 S_1` and :math:`S_1 S_2 < 0`; the weights that it implies are
    :math:`w/(1 - w) = -S_2/S_1`. For the decoupled law the derivatives are exact, and its text and
    multimodal objectives then have the condition
    :math:`(v_m h_t - g)(u_t - v_t) + v_t h_m (u_m - v_m) = 0` (u, v: slopes of size and data
    terms; h: shares; g: slope of the multimodal loss in ln r). For others they are central
    differences; with more than two losses or sources, mixtures on a lattice are combined with
    sizes between the losses' own best ones. Points that another one betters are marked.

    With drift each loss is moved by its own at the budget's compute, which changes the weights that
    a point implies; beyond the runs sizes on the frontier wander, and so do the shares that weights
    choose (`bayescale.answers.wander`).

    Parameters
    ----------
    fit : Fit
        A fit whose losses are told apart by a label: decoupled, mixture.
    C : number, str or several, optional
        Budgets in FLOP.
    D : number, str or several, optional
        Budgets in tokens of all sources, where the size is fixed or the law has none.
    N : number or str, optional
        Fixed size in place of the best one. Of a law without a size term the size of its runs,
        which says how many tokens C buys; default: theirs, where they have one.
    r : number, several or "low:high", optional
        Tokens of the second source over those of the first. Default: 50 from the least to the
        most in the data.
    shares : several, "low:high" or rows, optional
        The second source's share in place of r; of more than two sources a row of shares for each
        mixture. Default there: about 100 even mixtures in the range of the data.
    U : mapping, optional
        Unique tokens that there are of sources with repetition. Default: enough.
    weights : mapping, optional
        Loss -> weight: also tell what these choose, and the best single choice.
    reference : mapping, optional
        Loss -> the corner from which hypervolume is measured. Default: that loss of the frontiers
        at the first budget which nine in ten draws stay below.
    cost : CostModel, optional
        Default: the cost model of the data.
    seed : int
        Seed of the draws for groups that are not in the data.
    **group
        For pooled fits, the group by its column.

    Returns
    -------
    Pareto

    Raises
    ------
    DataError
        A budget, composition, weight or reference isn't what it should be.
    FitError
        The law has one loss, lacks what the question needs, or no draw has a frontier.
    """
    view = objectives_of(fit, group, seed)
    asked.check_trade(view)
    budgets = asked.read_budgets(view, C, D, N, cost, fit.law.name)
    mixes = read_compositions(view, r, shares, _kind(fit))
    plane = Plane(view, budgets, asked.read_unique(view, U))
    said = asked.outside(view, mixes, budgets)
    answer = _frontier(plane, mixes, reference, fit.warnings + said)
    if weights is None:
        return answer
    return replace(answer, choices=tuple(answer.choose(weights)))


def _kind(fit: "Fit") -> str:
    """How compositions are spoken of: as the decoupled law does, else by shares."""
    import json

    family, text = fit.law.recipe or ("", "{}")
    by_ratio = family == "decoupled" and json.loads(text)["composition"] == "ratio"
    return "r" if by_ratio else "share"


def _frontier(
    plane: Plane,
    mixes: Compositions,
    reference: Mapping[str, Any] | None,
    warnings: tuple[str, ...],
) -> Pareto:
    view, budgets = plane.objectives, plane.budgets
    paired = len(view.names) == 2 and len(view.sources) == 2
    weight = None
    if paired:
        log_n, losses, first = sizes.two_by_two(plane, mixes.log_r)
        first = np.where((first > 0) & (first < 1), first, np.nan)
        weight = np.stack([first, 1 - first], axis=-1)
    else:
        log_n, losses = sizes.many(plane, mixes.shares)
        mixes = _repeated(mixes, sizes.sizes_a_composition(plane))
    log_n = log_n + plane.wander.size[:, :, None]
    kept = frontier.efficient(losses)
    if weight is None:
        weight = np.full(losses.shape, np.nan)
    else:
        kept &= np.isfinite(weight[..., 0])
    _check_any(kept, plane)
    corner = _reference(view, losses, kept, reference)
    fit = view.fit
    return Pareto(
        objectives=view.names,
        sources=view.sources,
        budgets=budgets.values,
        resource=budgets.resource,
        shares=mixes.shares,
        values=mixes.values,
        kind=mixes.kind,
        marks=mixes.marks,
        n_params=np.exp(log_n) if plane.sized else np.full(log_n.shape, np.nan),
        loss=losses,
        weight=weight,
        efficient=kept,
        exponent=_exponents(plane, mixes, paired),
        knee=_knees(losses, kept, mixes),
        reference=corner,
        hypervolume=frontier.hypervolume(losses, kept, corner),
        choices=(),
        runs=_runs(view),
        title=fit.title,
        unit=fit.law.response_unit,
        cost=_cost(budgets),
        converged=fit.converged,
        warnings=warnings + _notes(kept),
        plane=plane,
    )


def _repeated(mixes: Compositions, count: int) -> Compositions:
    """Each mixture as often as it has sizes; the middle one of a mark is the mark."""
    marks = tuple(k * count + count // 2 for k in mixes.marks)
    shares, values = np.repeat(mixes.shares, count, axis=0), np.repeat(mixes.values, count)
    return Compositions(shares, values, mixes.kind, marks)


def _check_any(kept: np.ndarray, plane: Plane) -> None:
    none = ~kept.any((0, 2))
    if none.any():
        bad = plane.budgets.values[np.argmax(none)]
        raise FitError(
            f"no posterior draw has a frontier at {plane.budgets.resource} = {bad:.3g}: over all "
            "compositions looked at one is the best for every loss, or there is no best size in "
            "range. Look at others (r=…, shares=…), or print the fit."
        )


def _exponents(plane: Plane, mixes: Compositions, paired: bool) -> np.ndarray:
    """D ln N / d ln C at the marks by central differences, shape (draw, budget, mark)."""
    budgets = plane.budgets
    if not (paired and budgets.free_size):
        return np.full((plane.size, len(budgets.values), len(mixes.marks)), np.nan)
    ends = np.concatenate([budgets.values * np.exp(s * STRIDE) for s in (-1, 1)])
    moved = replace(plane, budgets=replace(budgets, values=ends))
    log_n = sizes.two_by_two(moved, mixes.log_r[list(mixes.marks)])[0]
    down, up = np.split(log_n + moved.wander.size[:, :, None], 2, axis=1)
    return (up - down) / (2 * STRIDE)


def _knees(losses: np.ndarray, kept: np.ndarray, mixes: Compositions) -> np.ndarray:
    """Shares at the knee, shape (draw, budget, source); between points where these are in line."""
    if mixes.kind != "mixture":
        return two_shares(frontier.knee(losses, kept, mixes.log_r))
    place = frontier.knee(losses, kept, np.arange(len(mixes.shares), dtype=float))
    there = np.isfinite(place)
    nearest = mixes.shares[np.where(there, place, 0).round().astype(int)]
    return np.where(there[..., None], nearest, np.nan)


def _reference(
    view: Objectives, losses: np.ndarray, kept: np.ndarray, given: Mapping[str, Any] | None
) -> np.ndarray:
    if given is not None:
        return asked.read_targets(view.names, given)
    worst = np.where(kept[:, 0, :, None], losses[:, 0], -np.inf).max(axis=1)
    return np.quantile(worst[np.isfinite(worst).all(-1)], WORST, axis=0)


def _runs(view: Objectives) -> np.ndarray:
    """Losses of runs that have all of them, shape (run, objective); of a shipped fit none."""
    fit = view.fit
    if not fit.has_runs:
        return np.empty((0, len(view.names)))
    table: Any = fit.runs.table
    tied = [c for c in fit.law.number_columns if c in table]
    rows = table[[*tied, view.label, fit.law.response]].copy()
    rows["again"] = rows.groupby([*tied, view.label], dropna=False).cumcount()
    wide = rows.pivot_table(
        index=[*tied, "again"], columns=view.label, values=fit.law.response, dropna=False
    )
    found = wide.reindex(columns=list(view.names)).to_numpy(dtype=float)
    return found[np.isfinite(found).all(1)]


def _cost(budgets: Budgets) -> str:
    fixed = "" if budgets.n_params is None else f"N = {budgets.n_params:.4g}"
    if budgets.resource == "D":
        return ", ".join(x for x in ("D: tokens of all sources", fixed) if x)
    return ", ".join(x for x in (budgets.cost.describe() + " of all sources", fixed) if x)


def _notes(kept: np.ndarray) -> tuple[str, ...]:
    bare = float((~kept.any(-1)).mean(0).max())
    if bare == 0:
        return ()
    return (f"{bare:.1%} of draws have no frontier: one composition is best for all losses.",)
