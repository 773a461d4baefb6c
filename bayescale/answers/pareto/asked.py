"""What a user asks of a frontier, read and checked: budgets, compositions, weights, targets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.objectives import Objectives
from bayescale.answers.pareto.plane import Budgets
from bayescale.answers.points import read_values
from bayescale.answers.prediction import beyond_warning
from bayescale.data.quantity import parse_number, parse_quantity
from bayescale.errors import DataError, FitError, nearest
from bayescale.tables import quantity

if TYPE_CHECKING:
    from bayescale.data.cost import CostModel

POINTS = 50  # compositions of two sources
MARKS = 5  # of them in the table, where the data have more than FEW
FEW = 6
SAME_SIZE = 1.02  # sizes within this factor are one
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


def check_trade(view: Objectives) -> None:
    """Raise unless there are losses to weigh and sources to trade."""
    names, sources = list(view.names), list(view.sources)
    if len(names) < 2:
        raise FitError(
            f"this fit has one objective ({names[0]}); a frontier lies between two or more. Fit "
            "the losses of several together."
        )
    if len(sources) < 2:
        raise FitError(
            f"this fit has one source ({sources[0]}), so there is nothing to trade; a frontier "
            "needs runs on two or more."
        )


def read_budgets(
    view: Objectives, C: Any, D: Any, N: Any, cost: "CostModel | None", law: str
) -> Budgets:
    """What is given out: compute, or tokens where the size isn't to be chosen."""
    runs = view.fit.runs
    price = cost or runs.cost
    if (C is None) == (D is None):
        raise FitError("say what is given out: C=… (compute in FLOP) or D=… (tokens), one of them.")
    size = None if N is None else float(read_values("N", N)[0])
    if size is None and not view.reads_size:
        size = _only_size(view)
    if D is not None:
        if view.reads_size and size is None:
            raise FitError(
                f"law '{law}' has a size term: with tokens D alone the largest model always wins; "
                "give C, or D with N=…."
            )
        return Budgets(read_values("D", D), "D", price, size)
    if price.kind == "active":
        raise FitError(
            "this fit's compute counts active parameters, which a new size doesn't fix: pass "
            "cost=six_nd(6 * share) with the share of parameters that are active."
        )
    if size is None and not view.reads_size:
        raise FitError(
            f"law '{law}' has no size term, so compute doesn't say how many tokens it buys: give "
            "D=… (tokens), or C with N=…."
        )
    return Budgets(read_values("C", C), "C", price, size)


def _only_size(view: Objectives) -> float | None:
    """The size of all runs, where they have one."""
    if "N" not in view.fit.runs.table:
        return None
    sizes = view.fit.runs.column("N").astype(float)
    return float(np.median(sizes)) if sizes.max() <= SAME_SIZE * sizes.min() else None


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


def seen_shares(view: Objectives) -> np.ndarray:
    """Shares of all sources in the data, a row for each run with tokens, shape (row, source)."""
    tokens = np.stack([view.fit.runs.column(f"D_{s}") for s in view.sources], axis=1).astype(float)
    return tokens / tokens.sum(1, keepdims=True)


def _of_two(view: Objectives, r: Any, shares: Any, kind: str) -> Compositions:
    """A grid of ratios (even in their logarithm) or of the second source's share."""
    second = seen_shares(view)[:, 1]
    mixed = second[(second > 0) & (second < 1)]
    if r is not None or shares is not None:
        kind, given = ("r", r) if r is not None else ("share", shares)
        values, marks = _read_grid(kind, given)
    elif mixed.size == 0:
        raise FitError(
            f"no run of the data has tokens of both {' and '.join(view.sources)}: say which "
            "mixtures to look at, r=… or shares=…."
        )
    else:
        there = mixed / (1 - mixed) if kind == "r" else mixed
        marks = _marks(there)
        values = _spread(kind, float(there.min()), float(there.max()), POINTS)
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


def _marks(seen: np.ndarray) -> np.ndarray:
    """The data's own compositions where they are few, else some of their range."""
    distinct = np.unique([float(f"{x:.3g}") for x in seen])
    if len(distinct) <= FEW:
        return np.clip(distinct, seen.min(), seen.max())
    return np.quantile(seen, np.linspace(0, 1, MARKS))


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
    seen, count = seen_shares(view), len(view.sources)
    low, high = seen.min(0) - 1e-9, seen.max(0) + 1e-9
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


def read_weights(names: Sequence[str], weights: Mapping[str, Any]) -> np.ndarray:
    """Weights of all losses, which are divided by their sum.

    Raises
    ------
    DataError
        A weight is missing, not of a loss, or not above 0.
    """
    found = np.array([_weight(k, v) for k, v in _all_named("weight", names, weights).items()])
    return found / found.sum()


def _weight(name: str, value: Any) -> float:
    found = float(parse_number(value, f"weight of {name}"))
    if not (found > 0 and np.isfinite(found)):
        raise DataError(
            f"the weight of '{name}' is {value}; expected a number above 0: a loss without weight "
            "is given up altogether, which no choice on the frontier does."
        )
    return found


def read_targets(names: Sequence[str], targets: Mapping[str, Any]) -> np.ndarray:
    """Losses to reach, one for each objective."""
    named = _all_named("target", names, targets)
    return np.array([float(parse_number(v, f"target of {k}")) for k, v in named.items()])


def _all_named(kind: str, names: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    for name in given:
        if name not in names:
            raise DataError(
                f"there is no loss '{name}' to give a {kind}; losses are {', '.join(names)}."
                + nearest(str(name), list(names))
            )
    if missing := [n for n in names if n not in given]:
        raise DataError(f"give a {kind} for each loss: '{missing[0]}' has none.")
    return {n: given[n] for n in names}


def read_unique(view: Objectives, U: Mapping[str, Any] | None) -> np.ndarray:
    """Unique tokens of each source that may be repeated; infinite where nothing is said."""
    for name in U or {}:
        if name not in view.repeated:
            known = f"sources with repetition are {', '.join(view.repeated)}"
            raise FitError(
                f"the law says nothing about repeating '{name}': "
                + (known if view.repeated else "it has no repetition")
                + "; leave it out of U, or fit a mixture with repetition."
            )
    limits = {k: parse_quantity(v, f"U of {k}") for k, v in (U or {}).items()}
    return np.array([limits.get(s, np.inf) for s in view.repeated])


def outside(view: Objectives, mixes: Compositions, budgets: Budgets) -> tuple[str, ...]:
    """What must be said of budgets and compositions that no run has."""
    runs, said = view.fit.runs, []
    D = sum(runs.column(f"D_{s}").astype(float) for s in view.sources)
    used = D
    if budgets.resource == "C":
        known = "N" in runs.table
        sizes = runs.column("N").astype(float) if known else float(budgets.n_params or np.nan)
        used = budgets.cost.flops(sizes, D)
    low, high = float(np.min(used)), float(np.max(used))
    name = budgets.resource
    for value in budgets.values:
        if value > high * (1 + 1e-9):
            said.append(f"{name} = {quantity(value)} is {value / high:.3g}x the largest run's.")
        if value < low * (1 - 1e-9):
            said.append(
                f"{name} = {quantity(value)} is below the smallest run's {quantity(low)}: the law "
                "may not hold there."
            )
    if budgets.values.max() > high * (1 + 1e-9):
        said.append(beyond_warning())
    seen = seen_shares(view)
    for k, source in enumerate(view.sources[1:] if len(view.sources) == 2 else view.sources):
        column = k + (len(view.sources) == 2)
        there = seen[:, column][seen[:, column] > 0]
        asked = mixes.shares[:, column]
        if asked.min() < there.min() - 1e-9 or asked.max() > there.max() + 1e-9:
            said.append(
                f"Shares of '{source}' from {asked.min():.3g} to {asked.max():.3g} go beyond the "
                f"{there.min():.3g} to {there.max():.3g} of the data."
            )
    return tuple(said)
