"""The model that is cheapest over its life: trained to a loss, then served."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.allocation import check_law
from bayescale.answers.beyond import beyond_warning
from bayescale.answers.budgets import budget_notes, price_of
from bayescale.answers.law_draws import LawDraws
from bayescale.answers.points import reach, read_values, say_reach
from bayescale.answers.serving.choice import ServedChoice, best_served
from bayescale.answers.serving.isoloss import cheapest
from bayescale.answers.serving.price import Served
from bayescale.answers.serving.result import InferenceOptimum
from bayescale.answers.surface import best_size, compute_for_loss, surface
from bayescale.answers.wander import MovedSurface, compute_range, moved
from bayescale.errors import DataError, FitError
from bayescale.tables import quantity

if TYPE_CHECKING:
    from bayescale.data.cost import CostModel
    from bayescale.fitted import Fit


def inference_optimum(
    fit: "Fit",
    *,
    inference_tokens: Any,
    C: Any = None,
    loss: Any = None,
    flops_per_token: float = 2.0,
    assurance: float = 0.5,
    cost: "CostModel | None" = None,
    seed: int = 0,
    **group: Any,
) -> InferenceOptimum:
    r"""Find the size and tokens that reach a loss with the least FLOP of training and serving.

    For each draw :math:`C(N, D) + f N D_{inf}` is minimised along the curve L(N, D) = L. For
    Chinchilla and C = 6 N D the minimum solves
    :math:`\alpha A N^{-\alpha} / (\beta B D^{-\beta}) = 1 + D_{inf}/(3 D)` (arXiv:2401.00448,
    section 2); the numerical minimum equals that root and serves every law of N and D.

    Parameters
    ----------
    fit : Fit
        A fit of a law with inputs N and D.
    inference_tokens : number, str or several
        D_inf, tokens that the model reads and writes over its life ("1T"); 0 gives the training
        optimum.
    C : number, str or several, optional
        Budgets in FLOP: the loss asked for is that of the compute-optimal run of this budget, each
        draw's own.
    loss : number or several, optional
        Or the loss asked for, in the response's unit; C or loss is given.
    flops_per_token : float
        f, FLOP per parameter and served token. More than 2 where served FLOP are dearer: less of
        the hardware's speed is reached, or the price differs.
    assurance : float
        For the single choice that is recommended: share of draws whose optimum costs at most
        its total. With .9 the loss is reached with about this probability.
    cost : CostModel, optional
        Of training; default: the cost model of the data.
    seed : int
        Seed of the draws for groups that are not in the data.
    **group
        For pooled fits, the group by its column (``corpus="c4"``).

    Returns
    -------
    InferenceOptimum
        Draws that don't reach the loss are counted, not hidden: ``unreachable``.

    Raises
    ------
    DataError
        A budget, loss or number of tokens isn't a positive number.
    FitError
        The law has no N and D, or both or neither of C and loss are given.
    """
    check_law(fit)
    price, laws = price_of(fit.extent, cost), surface(fit, group, seed)
    served = _tokens(inference_tokens)
    _check(flops_per_token, assurance)
    targets, starts = _starts(fit, laws, price, C, loss)
    known = compute_range(fit.extent)
    there = [moved(laws, price, start["C"], start["N"], known) for start in starts]
    starts = [_moved_start(x, price, start) for x, start in zip(there, starts, strict=True)]
    lives = [Served(price, float(x), float(flops_per_token)) for x in served]
    found = [
        [_draws(x, life, start) for life in lives] for x, start in zip(there, starts, strict=True)
    ]
    draws = {
        name: np.stack([np.stack([f[name] for f in row], axis=1) for row in found], axis=1)
        for name in found[0][0]
    }
    choices = tuple(
        best_served(there[k], life, found[k][j], starts[k]["loss"], assurance)
        for k in range(len(starts))
        for j, life in enumerate(lives)
    )
    named = "C" if loss is None else "loss"
    return InferenceOptimum(
        target=targets,
        kind=named,
        inference_tokens=served,
        draws=draws,
        recommended=choices,
        title=fit.title,
        unit=fit.law.response_unit,
        cost=f"{price.describe()}, and {flops_per_token:g} N for each served token",
        converged=fit.converged,
        warnings=fit.warnings + _notes(fit, named, targets, draws, choices),
    )


def _check(flops_per_token: float, assurance: float) -> None:
    if not (np.isfinite(flops_per_token) and flops_per_token > 0):
        raise DataError(f"flops_per_token is {flops_per_token!r}; expected a number above 0.")
    if not 0 < assurance < 1:
        raise DataError(f"assurance is {assurance!r}; expected a probability between 0 and 1.")


def _tokens(given: Any) -> np.ndarray:
    """Served tokens: positive quantities, or 0."""
    listed = [given] if isinstance(given, str | int | float) else list(np.atleast_1d(given))
    return np.array([0.0 if _zero(v) else read_values("inference_tokens", v)[0] for v in listed])


def _zero(value: Any) -> bool:
    try:
        return float(value) == 0
    except ValueError:
        return False


def _starts(
    fit: "Fit", laws: LawDraws, price: "CostModel", C: Any, loss: Any
) -> tuple[np.ndarray, list[dict[str, np.ndarray]]]:
    """What is asked for, and for each the least training that reaches it: N, D, loss by draw."""
    if (C is None) == (loss is None):
        raise FitError(
            "say which loss the model shall reach, by C=… (that of the compute-optimal run of this "
            "budget) or by loss=…, not both."
        )
    if C is not None:
        budgets = read_values("C", C)
        return budgets, [_frontier(laws, price, np.full(laws.size, c)) for c in budgets]
    losses = np.array([_loss(fit, v) for v in np.atleast_1d(np.asarray(loss, dtype=object))])
    near = fit.extent.span("C").median
    starts = []
    for value in losses:
        wanted = np.full(laws.size, value)
        needed = compute_for_loss(laws, price, wanted, near)
        needed = np.where(np.isfinite(needed), needed, np.nan)
        starts.append(_frontier(laws, price, needed) | {"loss": wanted})
    return losses, starts


def _loss(fit: "Fit", value: Any) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = np.nan
    if not (np.isfinite(found) and found > 0):
        unit = f" in {fit.law.response_unit}" if fit.law.response_unit else ""
        raise DataError(f"loss = {value!r}; expected a number above zero{unit}.")
    return found


def _frontier(laws: LawDraws, price: "CostModel", budget: np.ndarray) -> dict[str, np.ndarray]:
    """The compute-optimal run of each draw's own budget; NaN where there is none."""
    size, tokens = np.full(laws.size, np.nan), np.full(laws.size, np.nan)
    loss, ok = np.full(laws.size, np.nan), np.isfinite(budget)
    if ok.any():
        size[ok], loss[ok] = best_size(laws, price, budget[ok], np.flatnonzero(ok))
        there = np.isfinite(size)
        tokens[there] = price.tokens(size[there], budget[there])
    return {"N": size, "D": tokens, "loss": loss, "C": np.where(ok, budget, 1.0)}


def _moved_start(
    laws: LawDraws, price: "CostModel", start: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """The training optimum of laws whose optima are moved: as low a loss at the same compute."""
    if not isinstance(laws, MovedSurface):
        return start
    size = start["N"] * np.exp(laws.by)
    return start | {"N": size, "D": price.tokens(size, start["C"])}


def _draws(laws: LawDraws, life: Served, start: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Quantities of every draw for one loss and one number of served tokens."""
    N, D = cheapest(laws, life, start)
    training, serving = life.training.flops(N, D), life.serving(N)
    usual = life.flops(start["N"], start["D"])
    return {
        "N": N,
        "D": D,
        "tokens_per_param": D / N,
        "training": training,
        "total": training + serving,
        "saving": np.maximum(1 - (training + serving) / usual, 0.0),
        "overtraining": (D / N) / (start["D"] / start["N"]),
        "N_training_optimal": start["N"],
        "D_training_optimal": start["D"],
        "loss": np.where(np.isfinite(N), start["loss"], np.nan),
    }


def _notes(
    fit: "Fit",
    kind: str,
    targets: np.ndarray,
    draws: Mapping[str, np.ndarray],
    choices: tuple[ServedChoice | None, ...],
) -> tuple[str, ...]:
    """What must be said of losses out of reach, and of what lies outside the data."""
    drifting = fit.model.drift is not None
    notes = list(budget_notes(fit.extent, targets, drifting)) if kind == "C" else []
    missing = np.isnan(draws["N"]).mean(axis=0).max(axis=1)
    for value, share in zip(targets, missing, strict=True):
        if share > 0:
            what = f"loss {value:g}" if kind == "loss" else f"the loss of C = {quantity(value)}"
            notes.append(
                f"P({what} is out of reach) = {share:.1%}: in these draws it lies below the "
                "irreducible loss or beyond any compute; intervals are of the rest."
            )
    for name in ("N", "D"):
        seen = [getattr(c, name) for c in choices if c is not None]
        far = reach(fit, {name: np.array(seen)}).get(name, np.ones(1)) if seen else np.ones(1)
        worst = float(far[np.argmax(np.abs(np.log(np.maximum(far, 1e-300))))])
        if say_reach({name: worst}):
            notes.append(f"{say_reach({name: worst})} the data in what is recommended.")
    if len(notes) and kind == "loss" and any("above" in n for n in notes):
        notes.append(beyond_warning(drifting))
    return tuple(notes)
