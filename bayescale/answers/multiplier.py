"""Compute multiplier: how much compute one fit's runs save against another's."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.points import read_values
from bayescale.answers.surface import best_size, compute_for_loss, surface
from bayescale.errors import FitError
from bayescale.tables import Shown, Table, intervals, quantity

if TYPE_CHECKING:
    from bayescale.fitted import Fit


@dataclass(frozen=True)
class Multiplier(Shown):
    """Posterior of the compute multiplier at some budgets.

    Parameters
    ----------
    C : array, shape (budget,)
        Budgets of the fit in question, FLOP.
    draws : array, shape (draw, budget)
        Compute that the reference needs for the same loss, over C; infinite where the reference
        never gets there.
    converged : bool
        Whether both fits passed their gates.
    warnings : tuple of str
    """

    C: np.ndarray
    draws: np.ndarray
    converged: bool
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON; ``unreachable`` is the probability that no compute is enough."""
        listed = []
        for k, c in enumerate(self.C):
            draws = self.draws[:, k]
            finite = draws[np.isfinite(draws)]
            listed.append(
                {
                    "C": float(c),
                    "multiplier": intervals(finite) if len(finite) else None,
                    "probability_above_1": float((draws > 1).mean()),
                    "unreachable": float(np.isinf(draws).mean()),
                }
            )
        return {
            "converged": self.converged,
            "warnings": list(self.warnings),
            "multipliers": listed,
        }

    def table(self) -> Table:
        """The answer as a table."""
        rows = []
        for record in self.to_dict()["multipliers"]:
            q = record["multiplier"]
            middle = f"{q['median']:.3g}x" if q else "–"
            interval = f"{q['q05']:.3g}x to {q['q95']:.3g}x" if q else "–"
            sure = [f"{record[k]:.0%}" for k in ("probability_above_1", "unreachable")]
            rows.append([quantity(record["C"]), middle, interval, *sure])
        columns = ["C", "multiplier", "90%", "P(> 1)", "P(out of reach)"]
        notes = ["compute that the reference needs for the same compute-optimal loss, over C"]
        return Table(columns, rows, "Compute multiplier", self.warnings, notes)


def compute_multiplier(fit: "Fit", reference: "Fit", C: Any, *, seed: int = 0) -> Multiplier:
    """How many times more compute the reference needs for the same loss.

    Both are taken compute-optimal: C_ref(L*(C)) / C, where L*(C) is the frontier of ``fit``
    (for Chinchilla C_ref(L) = 6 (K/(L - E))^(1/gamma)).

    Parameters
    ----------
    fit, reference : Fit
        Fits of laws of N and D, of losses on the same evaluation data.
    C : number, str or several
        Budgets in FLOP.
    seed : int
        Seed of the pairing of draws, which are independent between fits.

    Returns
    -------
    Multiplier

    Raises
    ------
    FitError
        A law without N and D, or different responses.
    """
    from bayescale.answers.allocation import check_law

    for each in (fit, reference):
        check_law(each)
    if fit.law.response != reference.law.response:
        raise FitError(
            f"the fits explain '{fit.law.response}' and '{reference.law.response}'; a multiplier "
            "compares compute at the same loss."
        )
    budgets = read_values("C", C)
    ours, theirs = surface(fit, seed=seed), surface(reference, seed=seed)
    size = min(ours.size, theirs.size)
    rng = np.random.default_rng([seed, 29])
    pairing = rng.permutation(ours.size)[:size]
    columns = []
    for budget in budgets:
        loss = best_size(ours, fit.runs.cost, np.full(size, budget), pairing)[1]
        target = np.resize(loss, theirs.size)
        needed = compute_for_loss(theirs, reference.runs.cost, target, float(budget))
        columns.append(needed[:size] / budget)
    return Multiplier(
        C=budgets,
        draws=np.stack(columns, axis=1),
        converged=fit.converged and reference.converged,
        warnings=tuple(dict.fromkeys(fit.warnings + reference.warnings)),
    )
