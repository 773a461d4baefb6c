"""Budgets at which one backbone overtakes another."""

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from bayescale.answers.points import say_reach
from bayescale.answers.selection.contenders import Contenders
from bayescale.answers.selection.price import Price
from bayescale.tables import intervals, quantity

SCANNED = 65  # points at which a curved pair is looked at before its crossing is refined


@dataclass(frozen=True)
class Crossover:
    """Where two backbones are equally good.

    Parameters
    ----------
    first, second : str
        Backbones.
    C : array, shape (draw,)
        FLOP; NaN in draws in which they don't cross within the range.
    within : (float, float)
        The range of budgets, FLOP.
    overtakes : float
        Probability, given that they cross, that ``second`` is the better one above.
    tokens : (float, float)
        What each is trained on at the median crossing; NaN where none crosses.
    factor : float
        Of these the one farthest from the data, over the data's nearest end; 1 inside.
    """

    first: str
    second: str
    C: np.ndarray = field(repr=False)
    within: tuple[float, float]
    overtakes: float
    tokens: tuple[float, float]
    factor: float

    @property
    def probability(self) -> float:
        """P(they cross within the range)."""
        return float(np.isfinite(self.C).mean())

    def to_dict(self) -> dict[str, Any]:
        """A JSON record; the interval is of the draws that cross."""
        crossing = self.C[np.isfinite(self.C)]
        record: dict[str, Any] = {"first": self.first, "second": self.second}
        record |= {"p_exists": self.probability, "within": list(self.within)}
        record["C"] = intervals(crossing) if len(crossing) else None
        record["p_second_above"] = self.overtakes if len(crossing) else None
        return record | {"D": list(self.tokens), "factor": self.factor}

    def describe(self) -> str:
        """One line."""
        share = f"P = {self.probability:.2f}"
        pair = f"{self.first} and {self.second}"
        if self.probability == 0:
            low, high = (quantity(c) for c in self.within)
            return f"{pair} don't cross between {low} and {high} FLOP in any draw"
        above, p = self.second, self.overtakes
        if p < 0.5:
            above, p = self.first, 1 - p
        q = intervals(self.C[np.isfinite(self.C)])
        middle, low, high = (quantity(q[k]) for k in ("median", "q05", "q95"))
        sure = "" if p > 0.995 else f" in {p:.0%} of these"
        line = f"{pair} cross ({share}) at {middle} FLOP ({low} to {high}); above, {above}{sure}"
        far = say_reach({"D": self.factor})
        return line + (f"; beyond the data ({far})" if far else "")


def crossovers(
    runners: Contenders,
    price: Price,
    leaders: list[int],
    within: tuple[float, float],
    data: tuple[float, float],
) -> tuple[Crossover, ...]:
    """Crossovers of every pair of the leading backbones.

    Parameters
    ----------
    runners : Contenders
    price : Price
    leaders : list of int
        Positions of the backbones.
    within : (float, float)
        Budgets, FLOP.
    data : (float, float)
        Range of tokens in the data.
    """
    found = []
    for one, other in combinations(leaders, 2):
        if runners.straight and not price.inference_tokens:
            C, above = closed_form(runners, price, one, other)
        else:
            C, above = by_roots(runners, price, one, other, within)
        inside = (within[0] <= C) & (within[1] >= C)
        share = float(above[inside].mean()) if inside.any() else float("nan")
        C = np.where(inside, C, np.nan)
        tokens, factor = _where(price, [one, other], C, data)
        names = runners.names
        found.append(Crossover(names[one], names[other], C, within, share, tokens, factor))
    return tuple(found)


def _where(
    price: Price, pair: list[int], C: np.ndarray, data: tuple[float, float]
) -> tuple[tuple[float, float], float]:
    """Tokens of a pair at its median crossing, and how far they are from the data."""
    if not np.isfinite(C).any():
        return (float("nan"), float("nan")), 1.0
    first, second = price.tokens(np.nanmedian(C, keepdims=True))[0, pair]
    factors = [d / np.clip(d, *data) for d in (first, second)]
    farthest = max(factors, key=lambda f: abs(np.log(f)))
    return (float(first), float(second)), float(farthest)


def closed_form(
    runners: Contenders, price: Price, one: int, other: int
) -> tuple[np.ndarray, np.ndarray]:
    r"""Crossing of two straight courses, and whether the second one is better above it.

    With :math:`\eta_m = \eta_{m,0} + \hat B_m \ln(D_m/D_0)` and :math:`D_m = C/k_m`,

    .. math:: \ln C = \ln D_0 + \frac{\eta_{2,0} - \eta_{1,0} + \hat B_1 \ln k_1
              - \hat B_2 \ln k_2}{\hat B_1 - \hat B_2}

    (arXiv:2608.00013, eq. 7 and 8 solved for equal accuracy; the unit of D drops out).

    Returns
    -------
    C, above : array, shape (draw,)
        Infinite, 0 or NaN where the rates are equal.
    """
    level, rate, log_k = runners.level, runners.rate, np.log(price.per_token)
    assert level is not None
    assert rate is not None
    top = (
        level[:, other] - level[:, one] + rate[:, one] * log_k[one] - rate[:, other] * log_k[other]
    )
    with np.errstate(all="ignore"):
        C = np.exp(runners.log_centre + top / (rate[:, one] - rate[:, other]))
    return C, rate[:, other] > rate[:, one]


def by_roots(
    runners: Contenders, price: Price, one: int, other: int, within: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray]:
    """The largest budget in the range at which two courses cross, by root finding.

    With serving paid from the budget, or a loss that is no line in ln D, there may be two
    crossings; above the largest the order stays.
    """
    from scipy.optimize.elementwise import find_root

    pair, draws = [one, other], np.arange(runners.size)
    dear = pair[int(np.argmax((price.fixed + price.per_token)[pair]))]
    xs = _scanned(price, dear, within)
    if xs is None:
        return np.full(len(draws), np.nan), np.zeros(len(draws), dtype=bool)

    def lead(log_d: np.ndarray, draw: np.ndarray) -> np.ndarray:
        """How much better the second one is where the dearer one gets so many tokens."""
        flat = np.exp(np.ravel(log_d))
        tokens = price.tokens(price.budget(flat)[:, dear])
        tokens[:, dear] = flat
        reached = runners.at(np.ravel(draw).astype(int), pair, tokens[:, pair])
        gap = (reached[:, 1] - reached[:, 0]) * (1 if runners.larger else -1)
        return gap.reshape(np.shape(log_d))

    scan = np.stack([lead(np.full(len(draws), x), draws) for x in xs], axis=1)
    change = np.sign(scan[:, 1:]) * np.sign(scan[:, :-1]) < 0  # NaN (not affordable) is no change
    some = change.any(axis=1)
    last = change.shape[1] - 1 - np.argmax(change[:, ::-1], axis=1)
    C = np.full(len(draws), np.nan)
    if some.any():
        ends = (xs[last[some]], xs[last[some] + 1])
        found: Any = find_root(
            lead, ends, args=(draws[some].astype(float),), tolerances={"xrtol": 1e-13}
        )
        C[some] = price.budget(np.exp(found.x))[:, dear]
    above = scan[draws, np.minimum(last + 1, SCANNED - 1)] > 0
    return C, above


def _scanned(price: Price, dear: int, within: tuple[float, float]) -> np.ndarray | None:
    """Log tokens to look at, of the backbone whose serving costs more; None: never paid for.

    Just above what serving takes, its tokens rise from one to billions while the budget hardly
    changes: a grid even in budgets would step over crossings there.
    """
    low, high = price.tokens(np.array(within))[:, dear]
    if np.isnan(high):
        return None
    return np.linspace(0.0 if np.isnan(low) else np.log(low), np.log(high), SCANNED)
