"""Single mixtures under the posterior: the best in expectation, the best tried, their regret."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayescale.answers.mix.limits import NARROW
from bayescale.answers.mix.program import Solution
from bayescale.answers.mix.region import Region
from bayescale.tables import intervals, quantity

DRAWS = 400  # over which an expectation is minimised
SIZES = np.linspace(-1.5, 1.5, 31)  # log tokens about the recommended, for a tried mixture
STEP = 1e-5
LEAST = 1e-9  # share that a search by slopes leaves every source


@dataclass(frozen=True)
class MixtureChoice:
    """One mixture at the budget, judged by every draw.

    Parameters
    ----------
    what : str
        ``recommended``, ``tried`` or ``asked``.
    shares, tokens : mapping
        By source.
    N : float or None
    D : float
        All sampled tokens.
    value : array, shape (draw,)
        What is minimised.
    regret : array, shape (draw,)
        That over each draw's own optimum, at least 0.
    """

    what: str
    shares: dict[str, float]
    tokens: dict[str, float]
    N: float | None
    D: float
    value: np.ndarray
    regret: np.ndarray

    @property
    def expected_regret(self) -> float:
        """Mean of the regret over the posterior."""
        return float(self.regret.mean())

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record."""
        return {
            "shares": self.shares,
            "tokens": self.tokens,
            "N": self.N,
            "D": self.D,
            "value": intervals(self.value),
            "expected_regret": self.expected_regret,
            "regret": intervals(self.regret),
        }

    def describe(self, unit: str) -> str:
        """One line for people."""
        size = "" if self.N is None else f" with N = {quantity(self.N)}"
        if self.what == "asked":
            parts = [f"{k} {v:.3g}" for k, v in self.shares.items() if v > 0]
            what = f"your mixture ({', '.join(parts)})"
        else:
            what = {"recommended": "best single mixture", "tried": "best tried"}[self.what]
        return (
            f"{what}{size}: expected regret {self.expected_regret:.2g} {unit}, "
            f"{np.quantile(self.regret, 0.95):.2g} at the 95th percentile"
        )


def judge(
    region: Region, draws: np.ndarray, found: Solution, shares: np.ndarray, total: float, what: str
) -> MixtureChoice:
    """Value and regret of one mixture for every draw."""
    p = region.problem
    tokens = shares * total
    value = p.value(draws, p.size(total), tokens)
    sources, size = p.objectives.sources, p.size(total)
    return MixtureChoice(
        what=what,
        shares=dict(zip(sources, shares.tolist(), strict=True)),
        tokens=dict(zip(sources, tokens.tolist(), strict=True)),
        N=None if size is None else float(size),
        D=float(total),
        value=value,
        regret=np.maximum(value - found.value, 0.0),
    )


def best_single(region: Region, draws: np.ndarray, found: Solution) -> MixtureChoice:
    """The mixture of the least expected value over the posterior.

    SciPy's SLSQP on the mean over draws, from the mean of the draws' optima and from the best of
    them.
    """
    few = draws[np.unique(np.linspace(0, len(draws) - 1, min(len(draws), DRAWS)).astype(int))]

    def expected(x: np.ndarray) -> np.ndarray:
        shares, total = region.points(np.atleast_2d(x))
        p = region.problem
        values = p.value(few[:, None], p.size(total), shares * total[:, None])
        return np.where(np.isfinite(values), values, np.inf).mean(axis=0)

    starts = _starts(region, found, expected)
    ends = [_descend(region, expected, x) for x in starts] if region.unknowns else []
    listed = np.array([*starts, *ends])
    best = listed[int(np.argmin(expected(listed)))]
    shares, total = region.points(best)
    return judge(region, draws, found, shares, float(total), "recommended")


def _starts(
    region: Region, found: Solution, expected: Callable[[np.ndarray], np.ndarray]
) -> list[np.ndarray]:
    """Unknowns at the mean of the draws' optima, and at the best of some of them."""
    some = np.unique(np.linspace(0, len(found.total) - 1, 60).astype(int))
    shares = np.concatenate([found.shares.mean(axis=0)[None], found.shares[some]])
    x = region.coordinates(shares)
    if region.problem.free:
        log = np.log(found.total / region.total)
        x[:, -1] = np.concatenate([[log.mean()], log[some]])
    return [x[0], x[1 + int(np.argmin(expected(x[1:])))]]


def _descend(
    region: Region, expected: Callable[[np.ndarray], np.ndarray], x: np.ndarray
) -> np.ndarray:
    """SLSQP from one start; the start again where that ends outside."""
    from scipy.optimize import minimize

    def slope(x: np.ndarray) -> np.ndarray:
        moves = STEP * np.eye(len(x))
        values = expected(np.concatenate([x + moves, x - moves]))
        return (values[: len(x)] - values[len(x) :]) / (2 * STEP)

    found = minimize(
        lambda x: float(expected(x)[0]),
        x,
        jac=slope,
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda x: inside(region, x)},
        options={"maxiter": 100, "ftol": 1e-10},
    )
    good = np.isfinite(found.x).all() and inside(region, found.x).min() > -1e-6
    return found.x if good else x


def inside(region: Region, x: np.ndarray) -> np.ndarray:
    """How far unknowns are inside every bound."""
    count = region.basis.shape[1]
    rows = [region.slopes @ x[:count] + region.room - LEAST]
    if region.problem.free:
        low, high = region.tokens_range
        rows.append(np.array([x[count] - low, high - x[count]]))
        shares, total = region.centre + region.basis @ x[:count], region.total * np.exp(x[count])
        caps = region.problem.caps
        capped = np.isfinite(caps)
        rows.append(1 - (shares * total)[capped] / caps[capped])
    return np.concatenate(rows)


def tried_mixtures(region: Region) -> np.ndarray:
    """Distinct mixtures of the data, shape (mixture, source), in shares; of a shipped fit none."""
    fit, sources = region.problem.objectives.fit, region.problem.objectives.sources
    if not fit.has_runs:
        return np.empty((0, len(sources)))
    tokens = np.stack([fit.runs.column(f"D_{s}").astype(float) for s in sources], axis=1)
    shares = tokens / tokens.sum(axis=1, keepdims=True)
    _, first = np.unique(shares.round(4), axis=0, return_index=True)
    return shares[np.sort(first)]


def best_tried(
    region: Region, draws: np.ndarray, found: Solution, total: float
) -> MixtureChoice | None:
    """The best in expectation of the data's mixtures, at this budget; None if none is allowed."""
    p, shares = region.problem, tried_mixtures(region)
    totals = total * np.exp(SIZES) if p.free else np.array([total])
    most = min(len(draws), DRAWS // 4 if p.free else DRAWS)  # every size of every mixture is tried
    few = draws[np.unique(np.linspace(0, len(draws) - 1, most).astype(int))]
    best, place = np.inf, None
    for mixture in shares:
        tokens = mixture * totals[:, None]
        allowed = _allowed(region, mixture) & (tokens <= p.caps * (1 + 1e-9)).all(axis=1)
        if not allowed.any():
            continue
        values = p.value(few[:, None], p.size(totals), tokens).mean(axis=0)
        values = np.where(allowed & np.isfinite(values), values, np.inf)
        k = int(np.argmin(values))
        if values[k] < best:
            best, place = values[k], (mixture, float(totals[k]))
    return None if place is None else judge(region, draws, found, *place, "tried")


def _allowed(region: Region, mixture: np.ndarray) -> bool:
    p = region.problem
    return bool(((mixture >= p.low - NARROW) & (mixture <= p.high + NARROW)).all())
