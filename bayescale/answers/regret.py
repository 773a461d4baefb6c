"""What a choice of size costs, averaged over the posterior."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.law_draws import LawDraws
from bayescale.answers.surface import compute_for_loss
from bayescale.errors import FitError
from bayescale.tables import intervals, quantity

if TYPE_CHECKING:
    from bayescale.data.cost import CostModel

GRID = 241  # sizes compared for the best single choice


@dataclass(frozen=True)
class Choice:
    """One size at one budget.

    Parameters
    ----------
    C, N, D : float
    regret : array, shape (draw,)
        Loss above the draw's own optimum L*(C), at least 0.
    waste : array, shape (draw,)
        Compute spent over the least compute that reaches the same loss, at least 1.
    recommended : bool
        Whether this is the size with the least expected loss.
    """

    C: float
    N: float
    D: float
    regret: np.ndarray
    waste: np.ndarray
    recommended: bool = False

    @property
    def expected_regret(self) -> float:
        """Mean of the regret over the posterior."""
        return float(np.nanmean(self.regret))

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record."""
        record = {"C": self.C, "N": self.N, "D": self.D, "tokens_per_param": self.D / self.N}
        record |= {"expected_regret": self.expected_regret}
        finite = self.waste[np.isfinite(self.waste)]
        return record | {
            "regret": intervals(self.regret[np.isfinite(self.regret)]),
            "waste": intervals(finite) if len(finite) else None,
        }

    def describe(self, unit: str) -> str:
        """One line for people."""
        finite = self.waste[np.isfinite(self.waste)]
        waste = f", compute wasted {np.median(finite) - 1:.1%} (median)" if len(finite) else ""
        label = "best single choice" if self.recommended else "your choice"
        return (
            f"{label} N = {quantity(self.N)}, D = {quantity(self.D)}: expected regret "
            f"{self.expected_regret:.2g} {unit}{waste}"
        )


def best_choice(
    laws: LawDraws, cost: "CostModel", budget: float, best: Mapping[str, np.ndarray], k: int
) -> Choice:
    """The size with the least expected loss over the posterior at one budget.

    ``laws`` are those of this budget: moved by their wander there, like the optima in ``best``.
    """
    sizes = best["N_opt"][:, k]
    low, high = np.nanquantile(np.log(sizes), [0.005, 0.995])
    margin = 0.05 + 0.1 * (high - low)
    grid = np.exp(np.linspace(low - margin, high + margin, GRID))
    keep = np.linspace(0, laws.size - 1, min(laws.size, 2000)).astype(int)
    tokens = cost.tokens(grid, np.full(GRID, budget))
    with np.errstate(all="ignore"):
        expected = np.nanmean(laws.mean(keep[:, None], N=grid, D=tokens), axis=0)
    return judge_choice(laws, cost, budget, grid[np.argmin(expected)], best["loss"][:, k], True)


def judge_choice(
    laws: LawDraws,
    cost: "CostModel",
    budget: float,
    size: float,
    best_loss: np.ndarray,
    recommended: bool = False,
) -> Choice:
    """Regret and waste of one size at one budget, for every draw."""
    tokens = float(cost.tokens(np.array([size]), np.array([budget]))[0])
    loss = laws.mean(np.arange(laws.size), N=size, D=tokens)
    regret = np.maximum(loss - best_loss, 0.0)
    needed = compute_for_loss(laws, cost, loss, budget)
    waste = np.maximum(budget / needed, 1.0)
    return Choice(float(budget), float(size), tokens, regret, waste, recommended)


def judge_choices(
    laws: Sequence[LawDraws],
    cost: "CostModel",
    budgets: np.ndarray,
    sizes: np.ndarray,
    best: Mapping[str, np.ndarray],
) -> Iterator[Choice]:
    """Every asked size at every budget; ``laws`` are those of each budget.

    Raises
    ------
    FitError
        A size leaves less than one token at a budget.
    """
    for k, budget in enumerate(budgets):
        for size in sizes:
            if cost.tokens(np.array([size]), np.array([budget]))[0] < 1:
                raise FitError(
                    f"N = {quantity(size)} leaves less than one token at C = {quantity(budget)} "
                    "FLOP; ask about a smaller size or a larger budget."
                )
            yield judge_choice(laws[k], cost, budget, size, best["loss"][:, k])
