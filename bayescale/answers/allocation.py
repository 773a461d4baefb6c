"""Compute-optimal allocation: the best N and D for a budget, and what another choice costs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.budgets import budget_notes, missing_note, price_of
from bayescale.answers.law_draws import LawDraws
from bayescale.answers.optimum import optimum
from bayescale.answers.points import read_values
from bayescale.answers.regret import Choice, best_choice, judge_choices
from bayescale.answers.surface import Surface, surface
from bayescale.answers.wander import compute_range, moved
from bayescale.errors import FitError
from bayescale.tables import Shown, Table, frame, intervals, quantity, with_spread

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayescale.data.cost import CostModel
    from bayescale.extent import Extent
    from bayescale.fitted import Fit

EXPONENTS = ("a", "b", "gamma")  # that a law may report itself
INSIDE, BEYOND = "inside the data", "beyond the data"
QUANTITIES = ("N_opt", "D_opt", "tokens_per_param", "loss", "a", "b")


@dataclass(frozen=True)
class Allocation(Shown):
    """Posterior of the optimum at some budgets.

    Parameters
    ----------
    C : array, shape (budget,)
        FLOP.
    draws : mapping
        ``N_opt``, ``D_opt``, ``tokens_per_param``, ``loss`` (L*), and the local allocation
        exponents ``a`` = d ln N_opt / d ln C and ``b`` = d ln D_opt / d ln C; each of shape
        (draw, budget). NaN where a draw has no optimum. With drift, beyond the data, the error of
        N_opt there is in them.
    exponents : mapping
        Inside the data: exponents that the law reports itself (a, b, gamma), else the local a and
        b at the centre of the data; draws of shape (draw,).
    recommended : tuple of Choice
        For each budget the single size with the least expected loss, and its regret.
    choices : tuple of Choice
        The sizes that the user asked about.
    reach : array, shape (budget,)
        Budget over the largest compute of the data (below 1: inside).
    no_optimum : array, shape (budget,)
        Share of draws without an optimum in range.
    title, unit, cost : str
    converged : bool
    warnings : tuple of str
    """

    C: np.ndarray
    draws: Mapping[str, np.ndarray]
    exponents: Mapping[str, np.ndarray]
    recommended: tuple[Choice, ...]
    choices: tuple[Choice, ...]
    reach: np.ndarray
    no_optimum: np.ndarray
    title: str
    unit: str
    cost: str
    converged: bool
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        budgets = []
        for k, c in enumerate(self.C):
            record: dict[str, Any] = {"C": float(c)}
            for name in QUANTITIES:
                record[name] = intervals(_finite(self.draws[name][:, k]))
            record["recommended"] = self.recommended[k].to_dict()
            record["choices"] = [x.to_dict() for x in self.choices if c == x.C]
            factor = float(max(1.0, self.reach[k]))
            record["exponents_hold"] = BEYOND if self._beyond(k) else INSIDE
            record["outside"] = {"inside_data": not self._beyond(k), "factor": {"C": factor}}
            record["draws_without_optimum"] = float(self.no_optimum[k])
            budgets.append(record)
        return {
            "unit": self.unit,
            "cost": self.cost,
            "converged": self.converged,
            "warnings": list(self.warnings),
            "exponents": {name: intervals(v) for name, v in self.exponents.items()},
            "exponents_hold": INSIDE,
            "allocations": budgets,
        }

    def _beyond(self, k: int) -> bool:
        """Whether a budget is larger than that of every run."""
        return bool(self.reach[k] > 1 + 1e-9)

    def to_frame(self) -> "pd.DataFrame":
        """A tidy table: one row for each budget and quantity."""
        return frame(
            [
                {"C": float(c), "quantity": name, **intervals(_finite(self.draws[name][:, k]))}
                for k, c in enumerate(self.C)
                for name in QUANTITIES
            ]
        )

    @property
    def dataset(self) -> "xr.Dataset":
        """Draws with named dims (draw, budget); budgets in FLOP."""
        import xarray as xr

        arrays = {k: (("draw", "budget"), v) for k, v in self.draws.items()}
        return xr.Dataset(arrays, {"budget": self.C})

    def table(self) -> Table:
        """The answer as a table."""
        rows = [_row(self, k) for k in range(len(self.C))]
        notes = [f"90% credible intervals; L* in {self.unit}; {self.cost}"]
        if self.exponents:
            notes.append(f"{INSIDE}: {_said(self.exponents)}")
        for k in filter(self._beyond, range(len(self.C))):
            local = {n: _finite(self.draws[n][:, k]) for n in ("a", "b")}
            notes.append(f"at C = {quantity(float(self.C[k]))}, {BEYOND}: {_said(local)}")
        notes += [f"at C = {quantity(x.C)}: {x.describe(self.unit)}" for x in self.recommended]
        notes += [f"at C = {quantity(x.C)}: {x.describe(self.unit)}" for x in self.choices]
        columns = ["C", "N_opt", "90%", "D_opt", "90%", "D/N", "90%", "L*", "90%"]
        return Table(columns, rows, self.title, self.warnings, notes)


def _said(exponents: Mapping[str, np.ndarray]) -> str:
    """Medians and 90% intervals of exponents."""
    told = []
    for name, draws in exponents.items():
        q, sd = intervals(draws), float(np.std(draws))
        middle, low, high = (with_spread(q[x], sd) for x in ("median", "q05", "q95"))
        told.append(f"{name} = {middle} ({low} to {high})")
    return ", ".join(told)


def _row(answer: Allocation, k: int) -> list[str]:
    cells = [quantity(float(answer.C[k]))]
    for name in QUANTITIES[:4]:
        draws = _finite(answer.draws[name][:, k])
        q, sd = intervals(draws), float(np.std(draws))
        if name == "loss":
            middle, low, high = (with_spread(q[x], sd) for x in ("median", "q05", "q95"))
        else:
            middle, low, high = (quantity(q[x]) for x in ("median", "q05", "q95"))
        cells += [middle, f"{low} to {high}"]
    return cells


def allocate(
    fit: "Fit",
    C: Any,
    *,
    N: Any = None,
    cost: "CostModel | None" = None,
    seed: int = 0,
    **group: Any,
) -> Allocation:
    """Find the compute-optimal size and tokens for budgets.

    For each posterior draw, L(N, D) is minimised over N with D bought by the rest of the budget.
    Closed forms exist (Chinchilla: N_opt = G (C/6)^a, arXiv:2203.15556 eq. 4); the numerical
    minimum equals them to 1e-6 and serves every law and cost model. Of laws with drift the optimum
    wanders beyond the runs, and regrets are counted from where it is (`bayescale.answers.wander`).

    Parameters
    ----------
    fit : Fit
        A fit of a law with inputs N and D.
    C : number, str or several
        Budgets in FLOP ("5.76e23").
    N : number, str or several, optional
        Sizes that you consider at these budgets: their expected regret and waste are told.
    cost : CostModel, optional
        Default: the cost model of the data.
    seed : int
        Seed of the draws for groups that are not in the data.
    **group
        For pooled fits, the group by its column (``corpus="c4"``).

    Returns
    -------
    Allocation

    Raises
    ------
    DataError
        A budget or size isn't a positive number or can't be in the stated unit.
    FitError
        The law has no N and D, or no draw has an optimum.
    """
    check_law(fit)
    laws = surface(fit, group, seed)
    exponents = {n: laws_exponent(fit, laws, n) for n in EXPONENTS}
    about = About(
        title=fit.title,
        unit=fit.law.response_unit,
        converged=fit.converged,
        warnings=fit.warnings,
        exponents={n: v for n, v in exponents.items() if v is not None},
    )
    return allocate_on(laws, fit.extent, about, C, N, cost)


@dataclass(frozen=True)
class About:
    """What an allocation says of the laws that it comes from: fields of `Allocation`."""

    title: str
    unit: str
    converged: bool
    warnings: tuple[str, ...]
    exponents: Mapping[str, np.ndarray]


def allocate_on(
    laws: LawDraws,
    seen: "Extent",
    about: About,
    C: Any,
    N: Any = None,
    cost: "CostModel | None" = None,
) -> Allocation:
    """Find the compute-optimal size and tokens of any laws of N and D; see `allocate`."""
    budgets = read_values("C", C)
    price = price_of(seen, cost)
    known = compute_range(seen)
    draws = optimum(laws, price, budgets, known)
    missing = np.isnan(draws["N_opt"]).mean(axis=0)
    if (missing == 1).any():
        bad = quantity(float(budgets[np.argmax(missing)]))
        raise FitError(
            f"no posterior draw has an optimum at C = {bad} FLOP: more parameters (or more "
            "tokens) always win within range. Check the fit's exponents (print the fit)."
        )
    sizes = read_values("N", N) if N is not None else np.array([])
    reach = np.ones_like(budgets) if known is None else budgets / known[1]
    there = [moved(laws, price, c, draws["N_opt"][:, k], known) for k, c in enumerate(budgets)]
    exponents = about.exponents
    if "a" not in exponents and "C" in seen:
        local = optimum(laws, price, np.array([seen.span("C").centre]))
        exponents = {n: _finite(local[n][:, 0]) for n in ("a", "b")} | dict(exponents)
    return Allocation(
        C=budgets,
        draws=draws,
        exponents=exponents,
        recommended=tuple(best_choice(there[k], price, c, draws, k) for k, c in enumerate(budgets)),
        choices=tuple(judge_choices(there, price, budgets, sizes, draws)),
        reach=reach,
        no_optimum=missing,
        title=about.title,
        unit=about.unit,
        cost=price.describe(),
        converged=about.converged,
        warnings=about.warnings
        + missing_note(missing)
        + budget_notes(seen, budgets, drifting=bool(np.any(laws.wander))),
    )


def laws_exponent(fit: "Fit", laws: Surface, name: str) -> np.ndarray | None:
    """Draws of an exponent that the law itself reports, for the surface's group."""
    from bayescale.law import call_with

    for d in fit.law.derived:
        if d.name == name:
            return np.asarray(call_with(d.function, {**fit.layout.refs, **laws.params}))
    return None


def check_law(fit: "Fit") -> None:
    """Raise unless the fit's law is one of N and D alone."""
    if not fit.law.of_n_and_d:
        raise FitError(
            f"law '{fit.law.name}' reads {', '.join(sorted(fit.law.columns))}; an allocation "
            "needs a law of N and D, such as chinchilla."
        )


def _finite(draws: np.ndarray) -> np.ndarray:
    return draws[np.isfinite(draws)]
