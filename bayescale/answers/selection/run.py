"""`select`: which backbone is best on a budget."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.backbones import LIKELY, harmed
from bayescale.answers.points import reach, read_values, say_reach
from bayescale.answers.selection.contenders import Contenders, gather
from bayescale.answers.selection.contest import Contest, Standing, summarised
from bayescale.answers.selection.crossing import Crossover, crossovers
from bayescale.answers.selection.entries import Entries, enter
from bayescale.answers.selection.price import Price
from bayescale.answers.selection.result import Selection
from bayescale.data.quantity import parse_quantity
from bayescale.errors import DataError, FitError
from bayescale.tables import intervals, quantity

if TYPE_CHECKING:
    from bayescale.fitted import Fit

LEADERS = 4  # backbones of whose pairs crossovers are worked out
WIDER = 10.0  # factor beyond the budgets asked about in which crossovers are looked for
GRID = 33  # budgets at which leaders are looked for
FEW = 500  # draws that say who leads


def select(
    fit: "Fit",
    C: Any = None,
    *,
    table: Any = None,
    backbones: Sequence[str] | str | None = None,
    params: Any = None,
    vision_params: Any = 0.0,
    inference_tokens: Any = 0.0,
    within: tuple[Any, Any] | None = None,
    leaders: int = LEADERS,
    offsets: bool = True,
    model: str = "model",
    family: str | None = None,
    seed: int = 0,
    **covariates: float,
) -> Selection:
    r"""Choose the backbone to train on a compute budget, by the capability law.

    A backbone m of N_m parameters gets

    .. math:: D_m = \frac{C - 2 (N_m + N_v) D_{inf}}{6 (N_m + N_v)}

    tokens of multimodal data; for each posterior draw the law says what it reaches with them
    (arXiv:2608.00013, eq. 6 to 8), and the draws say how probably it is the best, and what
    choosing it costs on average (expected regret).

    Parameters
    ----------
    fit : Fit
        Of a capability law, of accuracy or of loss.
    C : number, str or several, optional
        Budgets in FLOP. Left out for a law without tokens.
    table : DataFrame or path, optional
        New backbones with their benchmark scores, projected on the fit's components; may have
        columns N, family and covariates. Without it the fit's own backbones compete.
    backbones : sequence of str, optional
        Those that compete; default: all.
    params : mapping or str, optional
        Model -> parameters, or the column that holds them; default: column N. Active ones for
        mixtures of experts.
    vision_params : number or str
        Parameters of the vision tower, trained along.
    inference_tokens : number or str
        Tokens to be served that the budget pays for too.
    within : (number, number), optional
        Budgets between which crossovers are looked for; default: a factor of ten beyond C.
    leaders : int
        Crossovers are worked out for each pair of so many leading backbones.
    offsets : bool
        Whether what is a model's own beside the law counts: as its runs say for backbones of the
        fit, drawn for new ones. Without, the laws' means compete.
    model : str
        Column of the table that names the models.
    family : str, optional
        Family of all backbones; default: their own, a new one where the fit doesn't know it.
    seed : int
        Seed of offsets and families that the fit hasn't seen.
    **covariates
        Values of the law's covariates for all; default: the model's own, else the runs' mean.

    Returns
    -------
    Selection

    Raises
    ------
    FitError
        No capability law; C missing, or given for a law without tokens.
    DataError
        Sizes missing, an unknown model, a model without scores, a value that isn't positive, or
        a budget that pays for no backbone.
    """
    entries, about = enter(fit, table, backbones, model, family, covariates)
    reads = any(i.name == "D" for i in fit.law.inputs)
    larger = fit.law.response != "loss"
    budgets = _budgets(fit, C, reads, vision_params, inference_tokens)
    sizes = about.sizes(params, entries.names) if reads else np.full(len(entries.names), np.nan)
    price = Price(
        sizes,
        _amount("vision_params", vision_params),
        _amount("inference_tokens", inference_tokens),
    )
    runners = gather(fit, entries, offsets, seed, larger)
    tokens = price.tokens(budgets) if reads else np.zeros((1, len(sizes)))
    _check_affordable(budgets, tokens, price, entries)
    contest = Contest(runners.reach(tokens), larger)
    span = _within(budgets, within) if reads else None
    found = _crossovers(fit, runners, price, span, leaders) if span else ()
    factors = _factors(fit, tokens) if reads else np.ones_like(tokens)
    regret, p_best = contest.regret(), contest.probability()
    places = _standings(entries, price, tokens, contest, regret, p_best, runners, factors)
    draws = {fit.law.response: contest.values, "regret": regret}
    draws |= {"B_hat": runners.rate} if runners.rate is not None else {}
    return Selection(
        C=budgets,
        models=entries.names,
        price=price,
        draws=draws,
        p_best=p_best,
        standings=places,
        crossovers=found,
        contenders=runners,
        response=fit.law.response,
        unit=fit.law.response_unit,
        title=fit.title,
        larger=larger,
        within=span,
        converged=fit.converged,
        warnings=(*fit.warnings, *_warnings(entries, places, factors, budgets, runners)),
        notes=(*entries.notes, *_told(fit, offsets, tokens, budgets, entries)),
    )


def _budgets(fit: "Fit", C: Any, reads: bool, vision: Any, inference: Any) -> np.ndarray:
    if reads and C is None:
        raise FitError(f"law '{fit.law.name}' reads tokens: give a budget, such as C='1e21'.")
    if not reads and (C is not None or vision or inference):
        raise FitError(
            f"this fit of '{fit.law.name}' has no data term, so that compute changes nothing: "
            "leave out C and what it pays for, or fit runs with tokens (column D)."
        )
    return read_values("C", C) if reads else np.array([np.nan])


def _amount(name: str, value: Any) -> float:
    """A number that may be 0, as a person writes it."""
    try:
        if float(value) == 0:
            return 0.0
    except (TypeError, ValueError):
        pass
    try:
        return parse_quantity(value, {"vision_params": "N", "inference_tokens": "D"}[name])
    except DataError as problem:
        raise DataError(f"{name}: {problem}") from None


def _check_affordable(
    budgets: np.ndarray, tokens: np.ndarray, price: Price, entries: Entries
) -> None:
    broke = np.isnan(tokens).all(axis=1)
    if broke.any():
        c = quantity(float(budgets[np.argmax(broke)]))
        cheapest = int(np.argmin(price.fixed + price.per_token))
        least = quantity(float((price.fixed + price.per_token)[cheapest]))
        raise DataError(
            f"C = {c} FLOP trains no backbone on a single token ({price.describe()}); the "
            f"cheapest, {entries.names[cheapest]}, takes {least} FLOP."
        )


def _within(budgets: np.ndarray, within: tuple[Any, Any] | None) -> tuple[float, float]:
    """The range of budgets that crossovers and pictures span."""
    if within is None:
        return float(budgets.min() / WIDER), float(budgets.max() * WIDER)
    ends = read_values("C", list(within))
    if len(ends) != 2 or ends[0] >= ends[1]:
        listed = ", ".join(quantity(float(v)) for v in ends)
        raise DataError(f"within is ({listed}); expected two budgets, the lower one first.")
    return float(ends[0]), float(ends[1])


def _crossovers(
    fit: "Fit", runners: Contenders, price: Price, within: tuple[float, float], leaders: int
) -> tuple[Crossover, ...]:
    """Crossovers of the pairs of those that most probably are the best somewhere in the range."""
    tokens = fit.extent.span("D")
    if leaders < 0:
        raise DataError(f"leaders is {leaders}; expected 0 or more backbones.")
    step = -(-runners.size // FEW)
    reached = runners.reach(price.tokens(np.geomspace(*within, GRID)), step)
    chance = np.nan_to_num(Contest(reached, runners.larger).probability()).max(axis=0)
    first = [int(k) for k in np.argsort(-chance, kind="stable")[:leaders] if chance[k] > 0]
    return crossovers(runners, price, first, within, (tokens.low, tokens.high))


def _factors(fit: "Fit", tokens: np.ndarray) -> np.ndarray:
    return reach(fit, {"D": tokens}).get("D", np.ones_like(tokens))


def _standings(
    entries: Entries,
    price: Price,
    tokens: np.ndarray,
    contest: Contest,
    regret: np.ndarray,
    p_best: np.ndarray,
    runners: Contenders,
    factors: np.ndarray,
) -> tuple[tuple[Standing, ...], ...]:
    """For each budget the backbones that it pays for, by expected regret."""
    ranks, reads, found = contest.ranks(), runners.reads_tokens, []
    for b in range(tokens.shape[0]):
        paid = np.flatnonzero(np.isfinite(tokens[b]))
        expected = regret[:, b, paid].mean(axis=0)
        listed = []
        for nth, m in enumerate(paid[np.argsort(expected, kind="stable")], 1):
            rate = None
            if runners.rate is not None:
                own = runners.rate[:, m]
                rate = intervals(own) | {"below_zero": float((own < 0).mean())}
            listed.append(
                Standing(
                    model=entries.names[m],
                    n_params=float(price.n_params[m]),
                    tokens=float(tokens[b, m]) if reads else float("nan"),
                    response=summarised(contest.values[:, b, m]),
                    p_best=float(p_best[b, m]),
                    regret=summarised(regret[:, b, m]),
                    rank=nth,
                    rank_interval=intervals(ranks[:, b, m]),
                    factor=float(factors[b, m]),
                    rate=rate,
                )
            )
        found.append(tuple(listed))
    return tuple(found)


def _warnings(
    entries: Entries,
    places: tuple[tuple[Standing, ...], ...],
    factors: np.ndarray,
    budgets: np.ndarray,
    runners: Contenders,
) -> list[str]:
    """Trajectories that fall, and leaders whose tokens lie beyond the data."""
    said = []
    if runners.rate is not None:
        below = (runners.rate < 0).mean(axis=0)
        bad = [n for n, p in zip(entries.names, below, strict=True) if p >= LIKELY]
        said += [harmed(bad)] if bad else []
    for c, listed in zip(budgets, places, strict=True):
        serious = [s for s in listed if s.p_best >= LIKELY or s.rank == 1]
        far = [f"{s.model} ({say_reach({'D': s.factor})})" for s in serious if s.factor != 1]
        if far:
            said.append(
                f"at C = {quantity(float(c))} FLOP the tokens lie beyond the data for "
                f"{', '.join(far)}: there the law is taken as exact"
            )
    return said


def _told(
    fit: "Fit", offsets: bool, tokens: np.ndarray, budgets: np.ndarray, entries: Entries
) -> list[str]:
    """What counts as a model's own, and who can't be paid for."""
    said = []
    if fit.model.noise.offsets:
        own = "drawn, since the fit hasn't seen them" if entries.new else "as its runs say"
        said.append(
            f"each backbone with its own offset beside the law, {own}"
            if offsets
            else "the law's means compete, without the backbones' own offsets"
        )
    else:
        said.append(
            "the law's means compete: what is a backbone's own beside the law isn't in this fit "
            "(noise with runs='model' learns it), so the probabilities are too sure"
        )
    for c, row in zip(budgets, tokens, strict=True):
        if np.isnan(row).any():
            broke = [n for n, d in zip(entries.names, row, strict=True) if np.isnan(d)]
            said.append(f"C = {quantity(float(c))} doesn't pay for {', '.join(broke)}")
    return said
