"""The one size and composition that serves given weights best on average, and its regret."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.pareto.asked import read_weights
from bayescale.errors import FitError
from bayescale.tables import intervals, quantity

if TYPE_CHECKING:
    from bayescale.answers.pareto.answer import Pareto

JUDGED = 2000  # draws over which single choices are compared
WAYS = ("sum", "worst")


@dataclass(frozen=True)
class FrontierChoice:
    """What weights choose at one budget.

    Parameters
    ----------
    budget : float
        FLOP or tokens.
    weights : mapping
        Loss -> weight; they sum to one.
    by : {"sum", "worst"}
        What is least: the weighted sum, or the largest of weight x (loss above its least).
    composition : array, shape (draw, source)
        Shares that each draw would choose; beyond the runs with their wander.
    n_params : array, shape (draw,)
        Sizes that each draw would choose.
    shares : array, shape (source,)
        The single best mixture in expectation.
    N, D : float
        Its size, and tokens of all sources.
    loss : array, shape (draw, objective)
        Losses of the single choice.
    regret : array, shape (draw,)
        Weighted loss above the draw's own best, at least 0.
    at_end : bool
        Whether it is the first or last composition looked at: others may be better.
    """

    budget: float
    weights: Mapping[str, float]
    by: str
    composition: np.ndarray
    n_params: np.ndarray
    shares: np.ndarray
    N: float
    D: float
    loss: np.ndarray
    regret: np.ndarray
    at_end: bool = False

    @property
    def expected_regret(self) -> float:
        """Mean of the regret over the posterior."""
        return float(self.regret.mean())

    def to_dict(self, sources: tuple[str, ...]) -> dict[str, Any]:
        """A JSON-ready record."""
        names = tuple(self.weights)
        return {
            "weights": dict(self.weights),
            "by": self.by,
            "N": self.N if np.isfinite(self.N) else None,
            "D": {s: float(self.D * x) for s, x in zip(sources, self.shares, strict=True)},
            "shares": dict(zip(sources, self.shares.tolist(), strict=True)),
            "loss": {n: intervals(self.loss[:, k]) for k, n in enumerate(names)},
            "expected_regret": self.expected_regret,
            "regret": intervals(self.regret),
            "at_end": self.at_end,
            "each_draw_would_choose": {
                "shares": {s: intervals(self.composition[:, k]) for k, s in enumerate(sources)},
                "N": intervals(self.n_params) if np.isfinite(self.n_params).all() else None,
            },
        }

    def describe(self, sources: tuple[str, ...], unit: str) -> str:
        """One line for people."""
        weights = ", ".join(f"{k} {v:.2g}" for k, v in self.weights.items())
        size = f"N = {quantity(self.N)}, " if np.isfinite(self.N) else ""
        tokens = ", ".join(
            f"D_{s} = {quantity(float(self.D * x))}"
            for s, x in zip(sources, self.shares, strict=True)
        )
        end = "; it is the last mixture looked at: others may be better" if self.at_end else ""
        return (
            f"weights {weights} ({self.by}): best single choice {size}{tokens}; expected regret "
            f"{self.expected_regret:.2g} {unit}{end}"
        )


def choose(answer: "Pareto", weights: Mapping[str, Any], by: str = "sum") -> list[FrontierChoice]:
    """Choices at every budget; see `Pareto.choose`."""
    if by not in WAYS:
        raise FitError(f"by is {by!r}; expected 'sum' or 'worst'.")
    shares = read_weights(answer.objectives, weights)
    return [_one(answer, k, shares, by) for k in range(len(answer.budgets))]


def _one(answer: "Pareto", k: int, weights: np.ndarray, by: str) -> FrontierChoice:
    losses, plane = answer.loss[:, k], answer.plane
    least = np.nanmin(losses, axis=1)  # each draw's least of each loss, shape (draw, objective)

    def score(found: np.ndarray, best: np.ndarray) -> np.ndarray:
        if by == "sum":
            return found @ weights
        return (weights * (found - best)).max(-1)

    scores = score(losses, least[:, None])
    place, best = _lowest(np.where(np.isfinite(scores), scores, np.inf))
    every, budget = np.arange(plane.size), float(answer.budgets[k])
    some = np.unique(np.linspace(0, plane.size - 1, min(plane.size, JUDGED)).astype(int))

    def expected(log_n: Any, shares: np.ndarray) -> np.ndarray:
        """Mean score of choices over some draws, shape (choice,)."""
        found = plane.judged(some[:, None], log_n, shares, k)
        return score(found, least[some][:, None]).mean(0)

    sizes = np.log(answer.n_params[:, k])
    middle = np.nanmedian(sizes, axis=0)
    turned = bool(np.any(plane.wander.shares[:, k])) and answer.kind != "mixture"
    there = np.isfinite(middle)
    candidates = np.flatnonzero(there) if turned else np.unique(place)
    means = expected(middle[candidates], answer.shares[candidates])
    chosen = candidates[int(np.argmin(means))]
    shares, log_n = answer.shares[chosen], float(middle[chosen])
    if plane.budgets.free_size:
        log_n = _refined(lambda x: float(expected(np.array([x]), shares[None])[0]), log_n)
    judged = score(plane.judged(every, log_n, shares, k), least)
    tokens = float(plane.budgets.tokens(np.asarray(log_n), np.asarray(budget)))
    return FrontierChoice(
        budget=budget,
        weights=dict(zip(answer.objectives, weights.tolist(), strict=True)),
        by=by,
        composition=_wandered(answer.shares[place], plane.wander.shares[:, k]),
        n_params=np.exp(sizes[every, place]),
        shares=shares,
        N=float(np.exp(log_n)) if plane.sized else float("nan"),
        D=tokens,
        loss=plane.losses(every, log_n, shares, budget),
        regret=np.maximum(judged - best, 0.0),
        at_end=answer.kind != "mixture" and chosen in (0, len(answer.shares) - 1),
    )


def _wandered(shares: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Each draw's best mixture where it wanders to, shape (draw, source)."""
    if not by.any():
        return shares
    there = shares * np.exp(by)
    return there / there.sum(-1, keepdims=True)


def _lowest(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Position and value of each draw's least score, shape (draw,)."""
    place = np.argmin(scores, axis=1)
    return place, scores[np.arange(len(scores)), place]


def _refined(function: Any, start: float) -> float:
    """The size of least expected score near a first one."""
    from scipy.optimize import minimize_scalar

    found: Any = minimize_scalar(
        function, bounds=(start - 1.0, start + 1.0), method="bounded", options={"xatol": 1e-3}
    )
    return float(found.x) if found.fun <= function(start) else start
