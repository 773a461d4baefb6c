"""Compute-optimal allocation: the best N and D for a budget, and what another choice costs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.budgets import budget_notes, missing_note, price_of
from bayescale.answers.points import read_values
from bayescale.answers.regret import Choice, best_choice, judge_choices
from bayescale.answers.surface import LawDraws, Surface, best_size, surface
from bayescale.errors import FitError
from bayescale.tables import Shown, Table, frame, intervals, quantity, with_spread

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayescale.data.cost import CostModel
    from bayescale.data.runs import Runs
    from bayescale.fitted import Fit

STEP = 0.25  # e-folds of compute either side, for local exponents
EXPONENTS = ("a", "b", "gamma")  # that a law may report itself
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
        (draw, budget). NaN where a draw has no optimum.
    exponents : mapping
        Exponents that the law reports itself (a, b, gamma), draws of shape (draw,).
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
            record["outside"] = {"inside_data": factor <= 1 + 1e-9, "factor": {"C": factor}}
            record["draws_without_optimum"] = float(self.no_optimum[k])
            budgets.append(record)
        return {
            "unit": self.unit,
            "cost": self.cost,
            "converged": self.converged,
            "warnings": list(self.warnings),
            "exponents": {name: intervals(v) for name, v in self.exponents.items()},
            "allocations": budgets,
        }

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
        for name, v in self.exponents.items():
            sd = float(np.std(v))
            q = intervals(v)
            low, high = with_spread(q["q05"], sd), with_spread(q["q95"], sd)
            notes.append(f"{name} = {with_spread(q['median'], sd)} ({low} to {high})")
        notes += [f"at C = {quantity(x.C)}: {x.describe(self.unit)}" for x in self.recommended]
        notes += [f"at C = {quantity(x.C)}: {x.describe(self.unit)}" for x in self.choices]
        columns = ["C", "N_opt", "90%", "D_opt", "90%", "D/N", "90%", "L*", "90%"]
        return Table(columns, rows, self.title, self.warnings, notes)


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
    minimum equals them to 1e-6 and serves every law and cost model.

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
        title=f"{fit.law.name} fitted to {len(fit.runs)} runs: {fit.gate.headline()}",
        unit=fit.law.response_unit,
        converged=fit.converged,
        warnings=fit.warnings,
        exponents={n: v for n, v in exponents.items() if v is not None},
    )
    return allocate_on(laws, fit.runs, about, C, N, cost)


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
    runs: "Runs",
    about: About,
    C: Any,
    N: Any = None,
    cost: "CostModel | None" = None,
) -> Allocation:
    """Find the compute-optimal size and tokens of any laws of N and D; see `allocate`."""
    budgets = read_values("C", C)
    price = price_of(runs, cost)
    draws = optimum(laws, price, budgets, _compute_range(runs))
    missing = np.isnan(draws["N_opt"]).mean(axis=0)
    if (missing == 1).any():
        bad = quantity(float(budgets[np.argmax(missing)]))
        raise FitError(
            f"no posterior draw has an optimum at C = {bad} FLOP: more parameters (or more "
            "tokens) always win within range. Check the fit's exponents (print the fit)."
        )
    sizes = read_values("N", N) if N is not None else np.array([])
    reach = budgets / runs.column("C").max() if "C" in runs.table else np.ones_like(budgets)
    return Allocation(
        C=budgets,
        draws=draws,
        exponents=about.exponents,
        recommended=tuple(best_choice(laws, price, c, draws, k) for k, c in enumerate(budgets)),
        choices=tuple(judge_choices(laws, price, budgets, sizes, draws)),
        reach=reach,
        no_optimum=missing,
        title=about.title,
        unit=about.unit,
        cost=price.describe(),
        converged=about.converged,
        warnings=about.warnings
        + missing_note(missing)
        + budget_notes(runs, budgets, drifting=bool(np.any(laws.wander))),
    )


def optimum(
    laws: LawDraws,
    cost: "CostModel",
    budgets: np.ndarray,
    known: tuple[float, float] | None = None,
) -> dict[str, np.ndarray]:
    """Optimum of every draw at every budget, with local exponents by central differences.

    Of laws with drift ln N_opt wanders beyond the compute that is ``known``, (smallest, largest)
    in FLOP: a drift along compute is the same for all splits of a budget and moves no optimum.
    """
    each = np.arange(laws.size)[:, None]
    wander = np.reshape(laws.wander, (-1, 1))

    def best(compute: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        size, loss = best_size(laws, cost, compute[None, :], each)
        return size * np.exp(wander * _beyond(compute, known)), loss

    size, loss = best(budgets)
    up, down = (np.log(best(budgets * np.exp(s))[0]) for s in (STEP, -STEP))
    tokens = cost.tokens(size, np.broadcast_to(budgets, size.shape))
    more = cost.tokens(np.exp(up), np.broadcast_to(budgets * np.exp(STEP), size.shape))
    less = cost.tokens(np.exp(down), np.broadcast_to(budgets * np.exp(-STEP), size.shape))
    return {
        "N_opt": size,
        "D_opt": tokens,
        "tokens_per_param": tokens / size,
        "loss": loss,
        "a": (up - down) / (2 * STEP),
        "b": np.log(more / less) / (2 * STEP),
    }


def _compute_range(runs: "Runs") -> tuple[float, float] | None:
    if "C" not in runs.table:
        return None
    every = np.asarray(runs.column("C"), dtype=float)
    return float(every.min()), float(every.max())


def _beyond(compute: np.ndarray, known: tuple[float, float] | None) -> np.ndarray:
    """How far budgets lie outside the data, e-folds, shape (budget,); below them negative."""
    if known is None:
        return np.zeros_like(compute)
    low, high = np.log(known)
    x = np.log(compute)
    return np.maximum(x - high, 0.0) + np.minimum(x - low, 0.0)


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
