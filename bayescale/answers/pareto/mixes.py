"""Which mixtures a frontier runs over: ratios or shares of two sources, a lattice of more."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from bayescale.answers.objectives import Objectives
from bayescale.data.quantity import parse_number
from bayescale.errors import DataError, FitError

POINTS = 50  # compositions of two sources
MARKS = 5  # of them in the table, where the data have more than FEW
FEW = 6
LATTICE = 100  # mixtures of more sources


@dataclass(frozen=True)
class Compositions:
    """What the model may be trained on.

    Parameters
    ----------
    shares : array, shape (composition, source)
    values : array, shape (composition,)
        Of two sources the ratio or share; else the position.
    kind : {"r", "share", "mixture"}
        r: tokens of the second source over those of the first; share: of the second source.
    marks : tuple of int
        Compositions that tables name.
    """

    shares: np.ndarray
    values: np.ndarray
    kind: str
    marks: tuple[int, ...]

    @property
    def log_r(self) -> np.ndarray:
        """Ln of the second source's tokens over the first's."""
        return np.log(self.shares[:, 1]) - np.log(self.shares[:, 0])


def read_compositions(view: Objectives, r: Any, shares: Any, kind: str) -> Compositions:
    """Ratios of two sources, or shares of any number; by default those that the data span."""
    count = len(view.sources)
    if r is not None and shares is not None:
        raise FitError("give r=… (a ratio of two sources) or shares=…, not both.")
    if r is not None and count != 2:
        raise FitError(
            f"r is a ratio of two sources, and there are {count} ({', '.join(view.sources)}): "
            "give shares=…, a row for each mixture."
        )
    if count == 2 and (shares is None or np.ndim(shares) <= 1):
        return _of_two(view, r, shares, kind)
    return _of_many(view, shares)


def _of_two(view: Objectives, r: Any, shares: Any, kind: str) -> Compositions:
    """A grid of ratios (even in their logarithm) or of the second source's share."""
    mixed = view.fit.extent.spans.get(f"mixed:{view.sources[1]}")
    if r is not None or shares is not None:
        kind, given = ("r", r) if r is not None else ("share", shares)
        values, marks = _read_grid(kind, given)
    elif mixed is None:
        raise FitError(
            f"no run of the data has tokens of both {' and '.join(view.sources)}: say which "
            "mixtures to look at, r=… or shares=…."
        )
    else:
        low, high, seen = mixed.low, mixed.high, mixed
        if kind == "r":
            low, high = low / (1 - low), high / (1 - high)
            seen = view.fit.extent.span(f"ratio:{view.sources[1]}")
        levels = np.array([x for x in seen.levels if x > 0])
        marks = np.clip(levels, low, high) if len(levels) else _spread(kind, low, high, MARKS)
        values = _spread(kind, low, high, POINTS)
    values = np.unique(np.concatenate([values, marks]))
    values = values[np.append(True, np.diff(values) > 1e-9 * values[1:])]
    named = tuple(int(np.argmin(np.abs(values - m))) for m in marks)
    part = values / (1 + values) if kind == "r" else values
    return Compositions(np.stack([1 - part, part], 1), values, kind, tuple(dict.fromkeys(named)))


def _spread(kind: str, low: float, high: float, count: int) -> np.ndarray:
    """Ratios evenly in their logarithm, shares evenly."""
    return (np.geomspace if kind == "r" else np.linspace)(low, high, count)


def _read_grid(kind: str, given: Any) -> tuple[np.ndarray, np.ndarray]:
    """``"0.05:0.5"`` is a range, a few numbers are these."""
    if isinstance(given, str) and ":" in given:
        ends = [_fraction(kind, x) for x in given.split(":")]
        if len(ends) != 2 or not ends[0] < ends[1]:
            raise DataError(f"{kind} = {given!r}; expected a range such as 0.05:0.5.")
        return _spread(kind, ends[0], ends[1], POINTS), _spread(kind, ends[0], ends[1], MARKS)
    listed = given.split(",") if isinstance(given, str) else np.atleast_1d(given).ravel()
    values = np.unique([_fraction(kind, x) for x in listed])
    if len(values) > FEW:
        return values, values[np.unique(np.linspace(0, len(values) - 1, MARKS).round().astype(int))]
    return values, values


def _fraction(kind: str, value: Any) -> float:
    found = float(parse_number(value, kind))
    most = np.inf if kind == "r" else 1.0
    if not 0 < found < most:
        what = "above 0" if kind == "r" else "between 0 and 1"
        raise DataError(f"{kind} = {value}; expected a number {what}: both sources are trained on.")
    return found


def _of_many(view: Objectives, shares: Any) -> Compositions:
    count = len(view.sources)
    found = _lattice(view) if shares is None else _given_shares(view, shares)
    named = np.unique(np.linspace(0, len(found) - 1, min(MARKS, len(found))).round().astype(int))
    assert found.shape[1] == count
    kept = tuple(int(k) for k in named)
    return Compositions(found, np.arange(len(found), dtype=float), "mixture", kept)


def _given_shares(view: Objectives, shares: Any) -> np.ndarray:
    """Shares as given, a row a mixture, or a mapping of source to shares; rows sum to one."""
    if isinstance(shares, Mapping):
        if missing := [s for s in view.sources if s not in shares]:
            raise DataError(f"shares lack '{missing[0]}'; give one for {', '.join(view.sources)}.")
        shares = np.stack([np.atleast_1d(shares[s]) for s in view.sources], axis=-1)
    try:
        found = np.atleast_2d(np.asarray(shares, dtype=float))
    except (TypeError, ValueError):
        found = np.empty((0, 0))
    if found.shape[1] != len(view.sources) or not np.isfinite(found).all() or (found < 0).any():
        raise DataError(
            f"shares must be rows of {len(view.sources)} numbers of at least 0, one for each of "
            f"{', '.join(view.sources)}."
        )
    total = found.sum(1)
    if (np.abs(total - 1) > 1e-6).any():
        bad = int(np.argmax(np.abs(total - 1)))
        raise DataError(f"shares of mixture {bad + 1} sum to {total[bad]:.6g}; expected 1.")
    return found


def _lattice(view: Objectives) -> np.ndarray:
    """Mixtures evenly spread over the part of the simplex that the data's shares span."""
    spans, count = [view.fit.extent.span(f"share:{s}") for s in view.sources], len(view.sources)
    low = np.array([s.low for s in spans]) - 1e-9
    high = np.array([s.high for s in spans]) + 1e-9
    found = np.empty((0, count))
    for parts in range(count, 61):
        bars = np.array(list(combinations(range(1, parts), count - 1)), dtype=float)
        if len(bars) > 40_000:
            break
        edges = np.hstack([np.zeros((len(bars), 1)), bars, np.full((len(bars), 1), parts)])
        shares = np.diff(edges, axis=1) / parts
        inside = shares[((shares >= low) & (shares <= high)).all(1)]
        found = inside if len(inside) > len(found) else found
        if len(found) >= LATTICE:
            return found
    if len(found) == 0:
        raise FitError(
            "no even mixture of all sources lies within the shares of the data: give shares=…, a "
            "row for each mixture to look at."
        )
    return found
