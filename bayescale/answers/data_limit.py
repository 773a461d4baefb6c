"""Compute-optimal size and tokens where unique data run out: how far to repeat them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.budgets import budget_notes, missing_note, price_of
from bayescale.answers.limited import Limited
from bayescale.answers.optimum import optimum
from bayescale.answers.points import reach, read_values, say_reach
from bayescale.answers.regret import Choice, best_choice
from bayescale.answers.surface import best_size, surface
from bayescale.answers.wander import compute_range, moved
from bayescale.errors import FitError
from bayescale.tables import Shown, Table, frame, intervals, quantity, with_spread

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayescale.data.cost import CostModel
    from bayescale.fitted import Fit

INPUTS = {"N", "D", "U"}
QUANTITIES = ("N_opt", "D_opt", "epochs", "loss", "loss_fresh", "excess")
APART, SAME = (0.6, 1.7), 1e-9  # sizes so far apart that give the same loss: there is no optimum
ADVISED = 4  # epochs that arXiv:2305.16264 found nearly as good as fresh data


@dataclass(frozen=True)
class LimitedAllocation(Shown):
    """Posterior of the optimum at some budgets, where unique tokens are limited.

    Parameters
    ----------
    C : array, shape (budget,)
        FLOP.
    unique_tokens : array, shape (limit,)
    draws : mapping
        ``N_opt``, ``D_opt`` (tokens seen), ``epochs`` (D/U, at least 1), ``loss``; ``loss_fresh``,
        that of the optimum with fresh tokens at the same budget, and ``excess``, the loss above
        it. Each of shape (draw, budget, limit); NaN where a draw has no optimum.
    recommended : tuple of Choice
        For each budget and limit (the latter faster) the single size with the least expected
        loss, and its regret.
    title, unit, cost : str
    converged : bool
    warnings : tuple of str
    """

    C: np.ndarray
    unique_tokens: np.ndarray
    draws: Mapping[str, np.ndarray]
    recommended: tuple[Choice, ...]
    title: str
    unit: str
    cost: str
    converged: bool
    warnings: tuple[str, ...]

    def records(self) -> list[dict[str, Any]]:
        """A nested record for each budget and limit."""
        listed = []
        for k, c in enumerate(self.C):
            for j, unique in enumerate(self.unique_tokens):
                record: dict[str, Any] = {"C": float(c), "unique_tokens": float(unique)}
                for name in QUANTITIES:
                    values = self.draws[name][:, k, j]
                    record[name] = intervals(values[np.isfinite(values)])
                epochs = self.draws["epochs"][:, k, j]
                epochs = epochs[np.isfinite(epochs)]
                record["probability_repeated"] = float((epochs > 1 + 1e-9).mean())
                record["probability_above_4_epochs"] = float((epochs > ADVISED).mean())
                choice = self.recommended[k * len(self.unique_tokens) + j]
                more = {"epochs": max(choice.D / float(unique), 1.0)}
                listed.append(record | {"recommended": choice.to_dict() | more})
        return listed

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {
            "unit": self.unit,
            "cost": self.cost,
            "converged": self.converged,
            "warnings": list(self.warnings),
            "allocations": self.records(),
        }

    def to_frame(self) -> "pd.DataFrame":
        """A tidy table: one row for each budget, limit and quantity."""
        return frame(
            [
                {"C": r["C"], "unique_tokens": r["unique_tokens"], "quantity": name, **r[name]}
                for r in self.records()
                for name in QUANTITIES
            ]
        )

    @property
    def dataset(self) -> "xr.Dataset":
        """Draws with named dims (draw, budget, limit)."""
        import xarray as xr

        dims = ("draw", "budget", "limit")
        axes = {"budget": self.C, "limit": self.unique_tokens}
        return xr.Dataset({k: (dims, v) for k, v in self.draws.items()}, axes)

    def table(self) -> Table:
        """The answer as a table."""
        rows, notes = [], []
        for record, choice in zip(self.records(), self.recommended, strict=True):
            cells = [quantity(record["C"]), quantity(record["unique_tokens"])]
            for name in ("N_opt", "epochs", "loss", "excess"):
                cells += _cells(name, record[name])
            rows.append([*cells, f"{record['probability_above_4_epochs']:.0%}"])
            notes.append(
                f"at C = {cells[0]}, U = {cells[1]}: {choice.describe(self.unit)}, "
                f"{record['recommended']['epochs']:.3g} epochs"
            )
        columns = ["C", "U", "N_opt", "90%", "epochs", "90%", "L*", "90%", "excess", "90%"]
        head = [
            f"90% credible intervals; L* and excess (over fresh data at the same budget) in "
            f"{self.unit}; {self.cost}"
        ]
        columns.append(f"P(> {ADVISED} epochs)")
        return Table(columns, rows, self.title, self.warnings, head + notes)


def _cells(name: str, q: Mapping[str, float]) -> list[str]:
    sd = (q["q95"] - q["q05"]) / 3.3
    if name in ("loss", "excess"):
        middle, low, high = (with_spread(q[x], sd) for x in ("median", "q05", "q95"))
    else:
        middle, low, high = (quantity(q[x]) for x in ("median", "q05", "q95"))
    return [middle, f"{low} to {high}"]


def allocate_limited(
    fit: "Fit",
    C: Any,
    unique_tokens: Any,
    *,
    cost: "CostModel | None" = None,
    seed: int = 0,
    **group: Any,
) -> LimitedAllocation:
    """Find the compute-optimal size and epochs for budgets, with limited unique tokens.

    For each posterior draw L(N, D, min(U, D)) is minimised over N with D bought by the rest of
    the budget (arXiv:2305.16264, section 3): tokens beyond U are repeated.

    Parameters
    ----------
    fit : Fit
        A fit of a law of N, D and U, such as ``repetition``.
    C : number, str or several
        Budgets in FLOP.
    unique_tokens : number, str or several
        Unique tokens that there are ("25B").
    cost : CostModel, optional
        Default: the cost model of the data.
    seed : int
        Seed of the draws for groups that are not in the data.
    **group
        For pooled fits, the group by its column.

    Returns
    -------
    LimitedAllocation

    Raises
    ------
    DataError
        A budget or limit isn't a positive number.
    FitError
        The law has no N, D and U, or no draw has an optimum.
    """
    check_limited(fit)
    budgets, limits = read_values("C", C), read_values("unique_tokens", unique_tokens)
    price, laws = price_of(fit.extent, cost), surface(fit, group, seed)
    known = compute_range(fit.extent)
    fresh = optimum(Limited(laws, np.inf), price, budgets, known)
    sizes = fresh["N_opt"].T
    there = [moved(laws, price, c, n, known) for c, n in zip(budgets, sizes, strict=True)]
    each, choices = [], []
    for unique in limits:
        parts = [Limited(x, float(unique)) for x in there]
        found = _optimum(parts, price, budgets)
        found["epochs"] = np.maximum(found["D_opt"] / unique, 1.0)
        found |= {
            "loss_fresh": fresh["loss"],
            "excess": np.maximum(found["loss"] - fresh["loss"], 0),
        }
        each.append(found)
        pairs = enumerate(budgets)
        choices.append([best_choice(parts[k], price, float(c), found, k) for k, c in pairs])
    draws = {name: np.stack([f[name] for f in each], axis=2) for name in QUANTITIES}
    missing = np.isnan(draws["N_opt"]).mean(axis=0)
    return LimitedAllocation(
        C=budgets,
        unique_tokens=limits,
        draws=draws,
        recommended=tuple(row[k] for k in range(len(budgets)) for row in choices),
        title=fit.title,
        unit=fit.law.response_unit,
        cost=price.describe(),
        converged=fit.converged,
        warnings=fit.warnings
        + missing_note(missing)
        + budget_notes(fit.extent, budgets, fit.model.drift is not None)
        + _outside(fit, limits, draws["epochs"]),
    )


def check_limited(fit: "Fit") -> None:
    """Raise unless the fit's law is one of size, tokens and unique tokens."""
    names = {i.name for i in fit.law.inputs}
    if names != INPUTS or any(i.dims for i in fit.law.inputs):
        raise FitError(
            f"law '{fit.law.name}' reads {', '.join(sorted(fit.law.columns))}; an optimum under "
            "limited unique tokens needs a law of N, D and U: fit repetition."
        )


def _optimum(
    laws: Sequence[Limited], price: "CostModel", budgets: np.ndarray
) -> dict[str, np.ndarray]:
    """N_opt, D_opt and loss of every draw at every budget, each with laws of its own."""
    pairs = zip(laws, budgets, strict=True)
    each = [_at_budget(one, price, float(budget)) for one, budget in pairs]
    return {name: np.stack([found[name] for found in each], axis=1) for name in each[0]}


def _at_budget(laws: Limited, price: "CostModel", budget: float) -> dict[str, np.ndarray]:
    each = np.arange(laws.size)
    size, loss = best_size(laws, price, np.full(laws.size, budget), each)
    other = [size * f for f in APART]
    with np.errstate(all="ignore"):
        near = [laws.mean(each, N=n, D=price.tokens(n, budget + 0 * n)) for n in other]
        flat = np.fmax(*(x - loss for x in near)) < SAME * loss
    size = np.where(flat, np.nan, size)
    if np.isnan(size).all():
        raise FitError(
            f"no posterior draw has an optimum at C = {quantity(budget)} FLOP with "
            f"{quantity(laws.unique)} unique tokens: so many epochs that neither size nor tokens "
            "change the loss any more. Ask about a smaller budget or more unique tokens."
        )
    tokens = price.tokens(size, np.full(laws.size, budget))
    return {"N_opt": size, "D_opt": tokens, "loss": loss}


def _outside(fit: "Fit", limits: np.ndarray, epochs: np.ndarray) -> tuple[str, ...]:
    """What must be said of unique tokens and epochs that no run has."""
    notes = []
    far = reach(fit, {"U": limits})["U"]
    if words := say_reach({"U": float(far[np.argmax(np.abs(np.log(far)))])}):
        notes.append(f"{words} the data.")
    most = fit.extent.span("epochs").high
    asked = float(np.nanmedian(epochs, axis=0).max())
    if asked > most * (1 + 1e-9):
        notes.append(
            f"Up to {asked:.3g} epochs at the optimum, {most:.3g} in the data: this law can't rise "
            "where repetition does harm."
        )
    return tuple(notes)
