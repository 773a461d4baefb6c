"""All losses of one model under a budget, as functions of its size and of what it is trained on."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.objectives import Objectives
from bayescale.answers.wander import Wander, efolds_beyond
from bayescale.drift import COMPUTE
from bayescale.scatter import SCALES

if TYPE_CHECKING:
    from bayescale.data.cost import CostModel

STEP = 1e-4  # of ln N and ln r in central differences: the slopes' error is 1e-8 of them
BLOCK = 200_000  # elements evaluated at a time


@dataclass(frozen=True)
class Budgets:
    """What is given out.

    Parameters
    ----------
    values : array, shape (budget,)
        FLOP, or tokens of all sources.
    resource : {"C", "D"}
        Which of the two.
    cost : CostModel
        How size and tokens are paid.
    n_params : float, optional
        The size, where it is not to be chosen.
    """

    values: np.ndarray
    resource: str
    cost: "CostModel"
    n_params: float | None = None

    @property
    def free_size(self) -> bool:
        """Whether the size is to be chosen."""
        return self.resource == "C" and self.n_params is None

    def tokens(self, log_n: Any, budget: Any) -> np.ndarray:
        """Tokens of all sources together that a budget buys at a size."""
        shape = np.broadcast_shapes(np.shape(log_n), np.shape(budget))
        if self.resource == "D":
            return np.broadcast_to(budget, shape)
        size = np.exp(log_n) if self.n_params is None else np.broadcast_to(self.n_params, shape)
        return self.cost.tokens(size, budget)


@dataclass(frozen=True)
class Plane:
    """Losses under a budget, for all posterior draws.

    Parameters
    ----------
    objectives : Objectives
    budgets : Budgets
    unique : array, shape (repeated,)
        Unique tokens that there are of each source that the law lets repeat; infinite: enough.
    """

    objectives: Objectives
    budgets: Budgets
    unique: np.ndarray

    @property
    def size(self) -> int:
        """Number of draws."""
        return self.objectives.size

    @property
    def sized(self) -> bool:
        """Whether the size is known or chosen."""
        return self.budgets.free_size or self.budgets.n_params is not None

    @property
    def fixed_place(self) -> bool:
        """Whether the drift is the same for all choices of a budget."""
        drift = self.objectives.view.drift
        along = drift is None or drift.along == COMPUTE
        return not self.budgets.free_size or (along and self.budgets.cost.kind == "six_nd")

    def drift(self, budget: float) -> np.ndarray | None:
        """How far each loss has drifted at a budget, shape (draw, objective), where it is fixed."""
        if not self.objectives.paths:
            return None
        # any size will do, where it is free
        log_n = np.asarray(0.0 if self.budgets.free_size else np.log(self.budgets.n_params or 1.0))
        total = self.budgets.tokens(log_n, budget)
        count = len(self.objectives.sources)
        D = np.broadcast_to(total[..., None] / count, (count,))
        return self.objectives.drift(np.arange(self.size), np.exp(log_n), D)

    def moved(self, losses: np.ndarray, by: np.ndarray | None) -> tuple[np.ndarray, Any]:
        """Losses with a drift, shape (..., objective), and what their slopes grow by."""
        if by is None:
            return losses, 1.0
        at = SCALES[self.objectives.view.on]
        there = self.objectives.view.moved(losses, by)
        return there, at.slope(losses) / at.slope(there)

    @cached_property
    def wander(self) -> Wander:
        """Errors of the best size and mixture: shapes (draw, budget), (draw, budget, source)."""
        of, budgets = self.objectives, self.budgets
        if budgets.free_size:
            seen = of.fit.extent.compute(budgets.cost)
            far = efolds_beyond(budgets.values, (seen.low, seen.high))
        else:
            size = budgets.n_params or 1.0
            tokens = budgets.tokens(np.log(size), budgets.values)
            far = of.efolds_beyond(size * tokens if of.reads_size else tokens)
        per = of.wander
        size, shares = per.size[:, None] * far, per.shares[:, None] * far[:, None]
        return Wander(size * budgets.free_size, shares)

    def losses(self, draw: Any, log_n: Any, shares: Any, budget: Any) -> np.ndarray:
        """Losses at sizes and compositions, broadcast together, drift included.

        Parameters
        ----------
        draw : integer array
        log_n : array
            ln of the parameters.
        shares : array, shape (..., source)
            Of all tokens.
        budget : array
            FLOP or tokens.

        Returns
        -------
        array, shape (..., objective)
        """
        D = self.budgets.tokens(log_n, budget)[..., None] * shares
        return self.objectives.losses(draw, np.exp(log_n), D, self._unique(D))

    def judged(self, draw: Any, log_n: Any, shares: Any, k: int) -> np.ndarray:
        """As `losses` at the k-th budget, with each draw's best choice where it wanders to."""
        of, by = self.objectives, self.wander
        D = self.budgets.tokens(log_n, self.budgets.values[k])[..., None] * shares
        if not by:
            return of.losses(draw, np.exp(log_n), D, self._unique(D))
        log_n = log_n - by.size[draw, k]
        turned = shares * np.exp(-by.shares[draw, k])
        turned = turned / turned.sum(-1, keepdims=True)
        there = self.budgets.tokens(log_n, self.budgets.values[k])[..., None] * turned
        U = self._unique(D)
        if U is not None:  # as many epochs
            U = U * (there / D)[..., of.places]
        return of.losses(draw, np.exp(log_n), there, U)

    def _unique(self, D: np.ndarray) -> np.ndarray | None:
        places = self.objectives.places
        return np.minimum(D[..., places], self.unique) if len(places) else None

    def slopes(self, draw: Any, log_n: Any, log_r: Any, budget: Any) -> tuple[Any, Any]:
        """Derivatives of the losses in ln N and in ln r at a fixed budget, for two sources.

        Central differences; shape (..., objective) each.
        """

        def at(dx: float, dr: float) -> np.ndarray:
            return self.losses(draw, log_n + dx, two_shares(log_r + dr), budget)

        by_ratio = (at(0, STEP) - at(0, -STEP)) / (2 * STEP)
        if not self.budgets.free_size:
            return np.zeros_like(by_ratio), by_ratio
        return (at(STEP, 0) - at(-STEP, 0)) / (2 * STEP), by_ratio


def two_shares(log_r: Any) -> np.ndarray:
    """Shares of two sources from ln of the second's tokens over the first's."""
    second = 1 / (1 + np.exp(-np.asarray(log_r, dtype=float)))
    return np.stack([1 - second, second], axis=-1)
