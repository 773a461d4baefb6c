"""Compute multiplier: how much compute a recipe's runs save against another's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.allocation import check_law
from bayescale.answers.budgets import budget_notes, price_of
from bayescale.answers.law_draws import LawDraws
from bayescale.answers.points import read_values
from bayescale.answers.surface import best_size, compute_for_loss, surface
from bayescale.errors import FitError, nearest
from bayescale.tables import Shown, Table, frame, intervals, quantity

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayescale.data.cost import CostModel
    from bayescale.fitted import Fit


@dataclass(frozen=True)
class Multiplier(Shown):
    """Posterior of compute multipliers at some budgets.

    Parameters
    ----------
    C : array, shape (budget,)
        Budgets of the recipes in question, FLOP.
    recipes : tuple of str
        Recipes in question: groups of a pooled fit, or names of fits.
    reference : str
        What they are compared with.
    draws : array, shape (draw, recipe, budget)
        Compute that the reference needs for the same loss, over C; infinite where the reference
        never gets there.
    converged : bool
        Whether all fits passed their gates.
    warnings : tuple of str
    notes : tuple of str
        How draws were paired.
    """

    C: np.ndarray
    recipes: tuple[str, ...]
    reference: str
    draws: np.ndarray
    converged: bool
    warnings: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> np.ndarray:
        """Probability that a recipe saves most, shape (recipe or reference, budget).

        The reference, whose multiplier is 1, comes last.
        """
        one = np.ones((len(self.draws), 1, len(self.C)))
        every = np.concatenate([self.draws, one], axis=1)
        first = np.argmax(np.where(np.isnan(every), 0.0, every), axis=1)  # NaN: next to none
        return np.stack([(first == k).mean(axis=0) for k in range(every.shape[1])])

    def records(self) -> list[dict[str, Any]]:
        """A record for each recipe and budget; ``unreachable``: no compute is enough."""
        listed = []
        for j, name in enumerate(self.recipes):
            for k, c in enumerate(self.C):
                draws = self.draws[:, j, k]
                finite = draws[np.isfinite(draws)]
                listed.append(
                    {
                        "recipe": name,
                        "C": float(c),
                        "multiplier": intervals(finite) if len(finite) else None,
                        "probability_above_1": float((draws > 1).mean()),
                        "probability_best": float(self.best[j, k]),
                        "unreachable": float(np.isinf(draws).mean()),
                    }
                )
        return listed

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {
            "reference": self.reference,
            "converged": self.converged,
            "warnings": list(self.warnings),
            "multipliers": self.records(),
        }

    def to_frame(self) -> "pd.DataFrame":
        """A tidy table: one row for each recipe and budget."""
        rows = []
        for record in self.records():
            q = record.pop("multiplier") or {}
            rows.append({**record, **q})
        return frame(rows)

    @property
    def dataset(self) -> "xr.Dataset":
        """Draws with named dims (draw, recipe, budget)."""
        import xarray as xr

        axes = {"recipe": list(self.recipes), "budget": self.C}
        return xr.Dataset({"multiplier": (("draw", "recipe", "budget"), self.draws)}, axes)

    def table(self) -> Table:
        """The answer as a table."""
        rows = []
        for record in self.records():
            q = record["multiplier"]
            middle = f"{q['median']:.3g}x" if q else "–"
            interval = f"{q['q05']:.3g}x to {q['q95']:.3g}x" if q else "–"
            shares = ("probability_above_1", "probability_best", "unreachable")
            sure = [f"{record[k]:.0%}" for k in shares]
            rows.append([record["recipe"], quantity(record["C"]), middle, interval, *sure])
        columns = ["", "C", "multiplier", "90%", "P(> 1)", "P(best)", "P(out of reach)"]
        notes = [
            f"compute that {self.reference} needs for the same compute-optimal loss, over C",
            *self.notes,
        ]
        title = f"Compute multiplier against {self.reference}"
        return Table(columns, rows, title, self.warnings, notes)


def compute_multiplier(
    fit: "Fit | Mapping[str, Fit]",
    reference: "Fit | str",
    C: Any,
    *,
    by: str | None = None,
    groups: Sequence[str] | str | None = None,
    cost: "CostModel | None" = None,
    seed: int = 0,
    **group: Any,
) -> Multiplier:
    """How many times more compute the reference needs for the same loss.

    Both are taken compute-optimal: C_ref(L*(C)) / C, where L*(C) is the frontier of the recipe
    in question (for Chinchilla C_ref(L) = 6 (K/(L - E))^(1/gamma)).

    Parameters
    ----------
    fit : Fit or mapping of str to Fit
        Of laws of N and D, of losses on the same evaluation data: a fit, several by name, or one
        pooled fit whose groups are compared.
    reference : Fit or str
        Another fit; or a group of the pooled fit, such as ``"dclm"``.
    C : number, str or several
        Budgets in FLOP.
    by : str, optional
        For groups: the column that names them; default: the pooled fit's only one.
    groups : str or several, optional
        The groups in question; default: all but the reference.
    cost : CostModel, optional
        Of all recipes; default: that of each fit's data.
    seed : int
        Seed of the pairing of draws between fits, which are independent. Groups of one fit are
        paired draw by draw: what they share cancels.
    **group
        For pooled fits, groups by other columns.

    Returns
    -------
    Multiplier

    Raises
    ------
    FitError
        A law without N and D, different responses, or an unknown group.
    """
    budgets = read_values("C", C)
    if isinstance(reference, str):
        return _of_groups(fit, reference, budgets, by, groups, cost, seed, group)
    if by is not None or groups is not None:
        raise FitError(
            "by and groups compare groups of one pooled fit: give the reference as a group's name."
        )
    fits = dict(fit) if isinstance(fit, Mapping) else {"fit": fit}
    for each in (*fits.values(), reference):
        check_law(each)
        if each.law.response != reference.law.response:
            raise FitError(
                f"the fits explain '{each.law.response}' and '{reference.law.response}'; a "
                "multiplier compares compute at the same loss."
            )
    theirs = surface(reference, group, seed)
    price = price_of(reference.extent, cost)
    size = min(theirs.size, *(len(f.draws(f.law.params[0].name)) for f in fits.values()))
    columns = []
    for k, one in enumerate(fits.values()):
        ours = surface(one, group, seed)
        order = np.random.default_rng([seed, 29, *([k] if k else [])]).permutation(ours.size)[:size]
        columns.append(_against(ours, price_of(one.extent, cost), order, theirs, price, budgets))
    every = (*fits.values(), reference)
    said = [w for f in every for w in f.warnings] + [
        w for f in fits.values() for w in budget_notes(f.extent, budgets, f.model.drift is not None)
    ]
    return Multiplier(
        C=budgets,
        recipes=tuple(fits),
        reference="the reference",
        draws=np.stack(columns, axis=1),
        converged=all(f.converged for f in every),
        warnings=tuple(dict.fromkeys(said)),
        notes=("draws of different fits are independent and paired at random",),
    )


def _of_groups(
    fit: Any,
    reference: str,
    budgets: np.ndarray,
    by: str | None,
    groups: Sequence[str] | str | None,
    cost: "CostModel | None",
    seed: int,
    others: Mapping[str, Any],
) -> Multiplier:
    """Groups of one pooled fit against one of them, draw by draw."""
    if isinstance(fit, Mapping):
        raise FitError(f"the reference '{reference}' is a group: give one pooled fit, not several.")
    check_law(fit)
    column = _grouping(fit, by)
    known = [str(v) for v in fit.layout.labels[column]]
    asked = [groups] if isinstance(groups, str) else groups
    chosen = [g for g in known if g != reference] if asked is None else [str(g) for g in asked]
    for name in (reference, *chosen):
        if name not in known:
            raise FitError(
                f"{column} '{name}' is not in the fit; known: {', '.join(known[:20])}."
                + nearest(name, known)
            )
    if not chosen or reference in chosen:
        raise FitError(f"compare {column} '{reference}' with other groups: {', '.join(known)}.")
    price = price_of(fit.extent, cost)
    theirs = surface(fit, {**others, column: reference}, seed)
    order = np.arange(theirs.size)
    columns = [
        _against(surface(fit, {**others, column: g}, seed), price, order, theirs, price, budgets)
        for g in chosen
    ]
    said = budget_notes(fit.extent, budgets, fit.model.drift is not None)
    return Multiplier(
        C=budgets,
        recipes=tuple(chosen),
        reference=reference,
        draws=np.stack(columns, axis=1),
        converged=fit.converged,
        warnings=tuple(dict.fromkeys(fit.warnings + said)),
        notes=("groups of one posterior, paired draw by draw: what they share cancels",),
    )


def _grouping(fit: "Fit", by: str | None) -> str:
    """The column whose groups are compared."""
    columns = [c for c in fit.model.cell_columns if c in fit.layout.labels]
    if by is None and len(columns) == 1:
        return columns[0]
    if by in columns:
        return str(by)
    if not columns:
        raise FitError(
            "this fit has no groups: fit with pooling={'E': partial('corpus'), …} (shell: --pool "
            "E=partial:corpus), or give another fit as the reference."
        )
    what = f"groups aren't by '{by}'" if by else "say by which column the groups are"
    raise FitError(
        f"{what}: by='{columns[0]}' of {', '.join(columns)}.{nearest(by or '', columns)}"
    )


def _against(
    ours: LawDraws,
    our_price: "CostModel",
    order: np.ndarray,
    theirs: LawDraws,
    their_price: "CostModel",
    budgets: np.ndarray,
) -> np.ndarray:
    """The multiplier of draws ``order`` of ours against the first draws of theirs, by budget."""
    columns = []
    for budget in budgets:
        loss = best_size(ours, our_price, np.full(len(order), budget), order)[1]
        target = np.resize(loss, theirs.size)
        needed = compute_for_loss(theirs, their_price, target, float(budget))
        columns.append(needed[: len(order)] / budget)
    return np.stack(columns, axis=1)
