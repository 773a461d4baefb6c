"""Which mixtures are allowed: limits on shares, and unique tokens where none may be repeated."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayescale.answers.objectives import Objectives
from bayescale.answers.points import read_values
from bayescale.errors import FitError, nearest
from bayescale.tables import quantity

NARROW = 1e-9  # of share: a source whose limits are closer has a fixed share
Limits = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def read_limits(
    objectives: Objectives, limits: Mapping[str, Any] | None, unique: Mapping[str, Any] | None
) -> Limits:
    """Limits in the order of the sources.

    Returns
    -------
    low, high : array, shape (source,)
        Shares.
    caps : array, shape (source,)
        Most tokens: unique ones of sources that the law can't repeat.
    unique : array, shape (repeated,)
        Unique tokens of sources that it can.
    """
    sources = objectives.sources
    low, high = np.zeros(len(sources)), np.ones(len(sources))
    for name, ends in dict(limits or {}).items():
        at = _place(name, sources)
        low[at], high[at] = _ends(name, ends)
    tokens = np.full(len(sources), np.inf)
    for name, count in dict(unique or {}).items():
        tokens[_place(name, sources)] = read_values("D", count)[0]
    if low.sum() > 1 + NARROW:
        raise FitError(
            f"the limits leave no mixture: {_listed(sources, low, low > 0)} are asked for at "
            f"least, which is {low.sum():.3g} of all tokens."
        )
    if high.sum() < 1 - NARROW:
        raise FitError(
            f"the limits leave no mixture: {_listed(sources, high, high < 1)} are allowed at "
            f"most, which is {high.sum():.3g} of all tokens."
        )
    caps = np.where([s in objectives.repeated for s in sources], np.inf, tokens)
    return low, high, caps, tokens[objectives.places]


def at_total(low: np.ndarray, high: np.ndarray, caps: np.ndarray, total: float) -> tuple[
    np.ndarray, np.ndarray
]:  # fmt: skip
    """Shares allowed at a number of tokens, each end reached by some mixture."""
    high = np.minimum(high, caps / total)
    return (
        np.maximum(low, 1 - (high.sum() - high)),
        np.minimum(high, 1 - (low.sum() - low)),
    )


def most_tokens(low: np.ndarray, high: np.ndarray, caps: np.ndarray) -> float:
    """The largest number of tokens for which any mixture is allowed; infinite without caps."""
    if np.isinf(caps).all():
        return np.inf
    with np.errstate(divide="ignore", over="ignore"):
        ends = np.where(low > 0, caps / np.where(low > 0, low, 1.0), np.inf)
    top = float(ends.min())
    finite = np.isfinite(caps)
    if high[~finite].sum() >= 1 - NARROW:
        return top
    # the share left to uncapped sources is fixed, so capped ones bound the total: bisect in ln
    lo, hi = np.log(caps[finite].min()) - 5.0, np.log(caps[finite].sum()) + 30.0
    for _ in range(200):
        middle = 0.5 * (lo + hi)
        enough = np.minimum(high, caps / np.exp(middle)).sum() >= 1
        lo, hi = (middle, hi) if enough else (lo, middle)
    return float(min(top, np.exp(lo)))


def check_total(
    objectives: Objectives, low: np.ndarray, high: np.ndarray, caps: np.ndarray, total: float
) -> None:
    """Raise unless some mixture of so many tokens is allowed."""
    most = most_tokens(low, high, caps)
    if total <= most * (1 + 1e-9):
        return
    scarce = [s for s, c in zip(objectives.sources, caps, strict=True) if np.isfinite(c)]
    raise FitError(
        f"the limits leave no mixture of {quantity(total)} tokens: with the unique tokens of "
        f"{', '.join(scarce)}, which this law can't repeat, at most {quantity(most)} can be had. "
        "Take fewer tokens, or fit the law with repetition (mixture:repetition=yes)."
    )


def _place(name: Any, sources: tuple[str, ...]) -> int:
    if name not in sources:
        raise FitError(
            f"there is no source '{name}'; the law has {', '.join(sources)}."
            + nearest(str(name), list(sources))
        )
    return sources.index(name)


def _ends(name: str, ends: Any) -> tuple[float, float]:
    try:
        low, high = (float(x) for x in ends)
    except (TypeError, ValueError):
        low, high = np.nan, np.nan
    if not 0 <= low <= high <= 1:
        raise FitError(
            f"the limits of '{name}' are {ends!r}; expected two shares of all tokens, the lower "
            "first, from 0 to 1, such as (0.5, 0.9)."
        )
    return low, high


def _listed(sources: tuple[str, ...], shares: np.ndarray, which: np.ndarray) -> str:
    pairs = zip(sources, shares, which, strict=True)
    return ", ".join(f"{s} {x:.3g}" for s, x, said in pairs if said)
