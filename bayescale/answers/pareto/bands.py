"""Credible bands around a frontier of two losses: a curve for each level of attainment."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.pareto import frontier
from bayescale.answers.pareto.plane import Plane
from bayescale.answers.pareto.sizes import two_by_two

if TYPE_CHECKING:
    from bayescale.answers.pareto.answer import Pareto

MOST = 400  # draws: the 5% quantile of more would move by less than a line's width
BEYOND = np.log(6.0)  # e-folds of the ratio by which frontiers are followed past their ends
STEPS = 90
FAR = 1e3  # SDs of the losses to which a frontier's ends are drawn out, upwards and rightwards


def band(answer: "Pareto", budget: int, levels: Any) -> np.ndarray:
    """Curves that a share of draws attains, along the frontier of two losses and sources.

    From the median losses of each point a line runs along the posterior SDs of both losses; each
    draw's frontier crosses it once, and what lies beyond the crossing is attainable. The level's
    quantile of the crossings is the curve. So that draws whose frontier lies to one side are
    crossed too, frontiers are followed past the ends of the compositions looked at.

    Parameters
    ----------
    answer : Pareto
    budget : int
        Position of the budget.
    levels : sequence of float
        Shares of draws: 0.05 for the lower end of 90%.

    Returns
    -------
    array, shape (level, point, 2)
        NaN where fewer draws than the level's share come so far.
    """
    some = np.unique(
        np.linspace(0, answer.plane.size - 1, min(answer.plane.size, MOST)).astype(int)
    )
    plane = _part(answer.plane, some, budget)
    ratio = np.log(answer.shares[:, 1] / answer.shares[:, 0])
    longer = np.linspace(ratio[0] - BEYOND, ratio[-1] + BEYOND, STEPS)
    losses = two_by_two(plane, longer)[1]
    kept = frontier.efficient(losses)[:, 0]
    here = answer.loss[some][:, budget]
    origins = np.nanmedian(here, axis=0)
    towards = np.nanstd(here[:, len(ratio) // 2], axis=0)
    found = [
        _crossings(curve[k], origins, towards) if k.any() else np.full(len(origins), np.inf)
        for curve, k in zip(losses[:, 0], kept, strict=True)
    ]
    steps = np.quantile(np.array(found), levels, axis=0, method="inverted_cdf")
    return np.where(np.isfinite(steps), steps, np.nan)[..., None] * towards + origins


def _part(plane: Plane, draws: np.ndarray, budget: int) -> Plane:
    """The losses of some draws at one budget."""
    values = plane.budgets.values[[budget]]
    picked = plane.objectives.take(draws)
    return replace(plane, objectives=picked, budgets=replace(plane.budgets, values=values))


def _crossings(curve: np.ndarray, origins: np.ndarray, towards: np.ndarray) -> np.ndarray:
    """How far along a direction from each origin a falling curve is crossed, shape (origin,)."""
    curve = curve[np.argsort(curve[:, 0])]
    first, last = curve[0] + [0.0, FAR * towards[1]], curve[-1] + [FAR * towards[0], 0.0]
    curve = np.concatenate([first[None], curve, last[None]])
    dx, dy = towards
    side = (curve[:, 0] - origins[:, :1]) * dy - (curve[:, 1] - origins[:, 1:]) * dx
    place = np.clip((side < 0).sum(1), 1, len(curve) - 1)  # it rises along the curve
    rows = np.arange(len(origins))
    before, after = side[rows, place - 1], side[rows, place]
    share = (-before / (after - before))[:, None]
    there = curve[place - 1] + share * (curve[place] - curve[place - 1])
    return ((there - origins) @ towards) / (towards @ towards)
