"""Approaches side by side: exponents, the optimum at budgets, and where they disagree."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.approach import Approach
from bayescale.tables import Shown, Table, frame, intervals, quantity, with_spread

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

DISAGREE = 0.1  # two-sided probability below which approaches disagree
QUANTITIES = ("N_opt", "D_opt")


@dataclass(frozen=True)
class Difference:
    """Two approaches compared in one quantity.

    Parameters
    ----------
    first, second, quantity : str
        ``a``, ``b`` or ``N_opt``.
    C : float or None
        Budget in FLOP, for N_opt.
    probability : float
        P(first > second), the posteriors taken as independent.
    """

    first: str
    second: str
    quantity: str
    C: float | None
    probability: float

    @property
    def two_sided(self) -> float:
        """2 min(P, 1 - P): how probable a difference either way is by chance."""
        return 2 * min(self.probability, 1 - self.probability)

    @property
    def disagree(self) -> bool:
        """Whether that is below .1."""
        return self.two_sided < DISAGREE

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON."""
        return {
            "first": self.first,
            "second": self.second,
            "quantity": self.quantity,
            "C": self.C,
            "probability_first_larger": self.probability,
            "two_sided": self.two_sided,
            "disagree": self.disagree,
        }

    def describe(self) -> str:
        """One line for people."""
        at = "" if self.C is None else f" at C = {quantity(self.C)}"
        verdict = "they disagree" if self.disagree else "no disagreement"
        return (
            f"P({self.quantity} of {self.first} > {self.second}{at}) = {self.probability:.3f}: "
            f"{verdict}"
        )


@dataclass(frozen=True)
class Approaches(Shown):
    """Up to three approaches to the compute-optimal size, in one table.

    Parameters
    ----------
    answers : mapping
        Name -> `Approach`: ``parametric``, ``isoflop``, ``envelope``.
    C : array, shape (budget,)
        FLOP.
    refused : mapping
        Name -> why there is none from these runs.
    source : str
    """

    answers: Mapping[str, Approach]
    C: np.ndarray
    refused: Mapping[str, str] = field(default_factory=dict)
    source: str = ""

    @property
    def converged(self) -> bool:
        """Whether the fits behind all of them passed their gates."""
        return all(a.converged for a in self.answers.values())

    @property
    def warnings(self) -> tuple[str, ...]:
        """What each approach must say, and why one is missing."""
        said = [f"{name}: {w}" for name, a in self.answers.items() for w in a.warnings]
        return (*(f"no {name}: {why}" for name, why in self.refused.items()), *said)

    @cached_property
    def optima(self) -> dict[str, dict[str, np.ndarray]]:
        """N_opt and D_opt of each approach at the budgets, draws of shape (draw, budget)."""
        return {
            name: {"N_opt": a.n_opt(self.C), "D_opt": a.d_opt(self.C)}
            for name, a in self.answers.items()
        }

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """Every pair in a and b, and in N_opt at every budget.

        The posteriors count as independent. They come from the same runs, so that chance moves
        them alike: differences are, if anything, surer than told.
        """
        found = []
        for first, second in combinations(self.answers, 2):
            one, other = self.answers[first], self.answers[second]
            for x in ("a", "b"):
                p = larger(one.exponents[x], other.exponents[x])
                found.append(Difference(first, second, x, None, p))
            for k, c in enumerate(self.C):
                sizes = (self.optima[n]["N_opt"][:, k] for n in (first, second))
                found.append(Difference(first, second, "N_opt", float(c), larger(*sizes)))
        return tuple(found)

    def records(self) -> list[dict[str, Any]]:
        """A record for each approach: exponents, and the optimum at each budget."""
        listed = []
        for name, answer in self.answers.items():
            budgets = [
                {"C": float(c)} | {q: _told(self.optima[name][q][:, k]) for q in QUANTITIES}
                for k, c in enumerate(self.C)
            ]
            exponents = {x: intervals(answer.exponents[x]) for x in ("a", "b")}
            listed.append(
                {"approach": name, "exponents": exponents, "converged": answer.converged}
                | {"budgets": budgets, "warnings": list(answer.warnings)}
            )
        return listed

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {
            "source": self.source,
            "converged": self.converged,
            "warnings": list(self.warnings),
            "approaches": self.records(),
            "refused": dict(self.refused),
            "differences": [d.to_dict() for d in self.differences],
            "disagreement_below": DISAGREE,
        }

    def to_frame(self) -> "pd.DataFrame":
        """A tidy table: one row for each approach, quantity and budget."""
        rows = []
        for record in self.records():
            own = {"approach": record["approach"]}
            for x, q in record["exponents"].items():
                rows.append(own | {"quantity": x, "C": np.nan} | q)
            for budget in record["budgets"]:
                for x in QUANTITIES:
                    rows.append(own | {"quantity": x, "C": budget["C"]} | (budget[x] or {}))
        return frame(rows)

    @property
    def dataset(self) -> "xr.Dataset":
        """Quantiles with named dims (approach, budget, quantile); draws differ in number."""
        import xarray as xr

        levels = [0.025, 0.05, 0.5, 0.95, 0.975]
        names = list(self.answers)
        arrays: dict[str, Any] = {}
        for x in ("a", "b"):
            rows = [np.quantile(a.exponents[x], levels) for a in self.answers.values()]
            arrays[x] = (("approach", "quantile"), np.stack(rows))
        for x in QUANTITIES:
            rows = [np.nanquantile(self.optima[n][x], levels, axis=0).T for n in names]
            arrays[x] = (("approach", "budget", "quantile"), np.stack(rows))
        return xr.Dataset(arrays, {"approach": names, "budget": self.C, "quantile": levels})

    def table(self) -> Table:
        """The answer as a table."""
        rows = []
        for k, c in enumerate(self.C):
            for name, answer in self.answers.items():
                cells = [name]
                for x in ("a", "b"):
                    cells += _cells(answer.exponents[x], True) if k == 0 else ["", ""]
                cells += [quantity(float(c))] if len(self.C) > 1 else []
                for x in QUANTITIES:
                    cells += _cells(self.optima[name][x][:, k], False)
                rows.append(cells)
        notes = ["90% credible intervals"]
        notes += [d.describe() for d in self.differences if d.quantity != "b"]
        if self.differences:
            notes.append(
                f"disagreement: 2 min(P, 1 - P) < {DISAGREE:g}, the posteriors taken as independent"
            )
        at = ["C"] if len(self.C) > 1 else []
        columns = ["", "a", "90%", "b", "90%", *at, "N_opt", "90%", "D_opt", "90%"]
        title = "Compute-optimal size by approach"
        title += "" if at else f" at C = {quantity(float(self.C[0]))}"
        title += f": {self.source}" if self.source else ""
        return Table(columns, rows, title, self.warnings, notes)


def larger(one: np.ndarray, other: np.ndarray) -> float:
    """P(one > other) of independent draws; ties count half."""
    one, other = one[np.isfinite(one)], np.sort(other[np.isfinite(other)])
    below = np.searchsorted(other, one, "left") + np.searchsorted(other, one, "right")
    return float(below.mean() / (2 * len(other)))


def _told(draws: np.ndarray) -> dict[str, float] | None:
    finite = draws[np.isfinite(draws)]
    return intervals(finite) if len(finite) else None


def _cells(draws: np.ndarray, fine: bool) -> list[str]:
    q = _told(draws)
    if q is None:
        return ["–", "–"]
    sd = float(np.nanstd(draws))
    middle, low, high = (
        with_spread(q[k], sd) if fine else quantity(q[k]) for k in ("median", "q05", "q95")
    )
    return [middle, f"{low} to {high}"]
