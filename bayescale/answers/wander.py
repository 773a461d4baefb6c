r"""Optima wander: how far the best size, and the best shares, are from the law's beyond the runs.

A drift along compute is the same for all sizes and mixtures of a budget, so it moves no optimum;
yet optima miss the law's like losses do. So a draw's curve at a budget C is moved as a whole,

.. math:: L_w(N) = L(N / w), \qquad \ln w = \tau \, \rho(C) \, \xi, \quad \xi \sim N(0, 1),

with D bought by the rest of C, :math:`\rho` the e-folds of C beyond the runs, and :math:`\tau`
the drift's ``size``: on 28 IsoFLOP slices of larger runs than were fitted, 0.08 made 90% intervals
of N_opt hold 93%, where without it they held 50%. The least loss stays, where it is
reached moves by w, and the regret of a size is read off the moved curve. Logs of the shares of a
mixture are moved likewise, by an error for each source. The drift itself is held at what it is at
the budget: choices of one compute share it, and along its slope the least loss could even rise.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.law_draws import LawDraws
from bayescale.arrays import namespace

if TYPE_CHECKING:
    from bayescale.data.cost import CostModel
    from bayescale.extent import Extent
    from bayescale.fitted import Fit

Range = tuple[float, float]


@dataclass(frozen=True)
class MovedSurface:
    """Laws of N and D whose curve at every budget is moved along ln N, by a number a draw.

    Parameters
    ----------
    laws : LawDraws
    cost : CostModel
        What is the same for all sizes of a budget.
    by : array, shape (draw,)
        ln w.
    """

    laws: LawDraws
    cost: "CostModel"
    by: np.ndarray

    @property
    def size(self) -> int:
        """Number of draws."""
        return self.laws.size

    @property
    def wander(self) -> np.ndarray | float:
        """None is left: what there was is in ``by``."""
        return 0.0

    def mean(self, draw: Any, **inputs: Any) -> np.ndarray:
        """The mean where the moved optimum is, drift included."""
        return self.laws.mean(draw, **self._inputs(draw, inputs))

    def ranked(self, draw: Any, **inputs: Any) -> np.ndarray:
        """What choices at one compute are ranked by; see `LawDraws.ranked`."""
        return self.laws.ranked(draw, **self._inputs(draw, inputs))

    def held(self, N: np.ndarray, D: np.ndarray) -> "MovedSurface":
        """The laws with their drift held; see `LawDraws.held`."""
        return replace(self, laws=self.laws.held(N, D))

    def _inputs(self, draw: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Inputs at which the law is read; unique tokens keep the number of epochs."""
        N, D = (np.asarray(inputs[name], dtype=float) for name in ("N", "D"))
        size = N * np.exp(-self.by[draw])
        tokens = self.cost.tokens(size, self.cost.flops(N, D))
        found = {**inputs, "N": size, "D": tokens}
        if "U" in inputs:
            with np.errstate(all="ignore"):
                found["U"] = np.asarray(inputs["U"], dtype=float) * (tokens / D)
        return found


@dataclass(frozen=True)
class Wander:
    """Errors of a model's best size and mixture, for each draw.

    Parameters
    ----------
    size : array, shape (draw,)
        Of ln N: per e-fold of compute beyond the runs, or at one budget (`at`).
    shares : array, shape (draw, source)
        Of the log of each source's share, but for what keeps their sum at one.
    """

    size: np.ndarray
    shares: np.ndarray

    def at(self, efolds: Any, size: bool = True, shares: bool = True) -> "Wander":
        """The errors so many e-folds beyond the runs; of what isn't chosen there is none."""
        far = np.asarray(efolds, dtype=float)
        return Wander(self.size * far * size, self.shares * far * shares)

    def take(self, draws: Any) -> "Wander":
        """The errors of some draws."""
        return Wander(self.size[draws], self.shares[draws])

    def __bool__(self) -> bool:
        """Whether any optimum is moved."""
        return bool(np.any(self.size) or np.any(self.shares))

    def read_at(self, draw: Any, N: Any, D: Any, U: Any = None) -> tuple[Any, Any, Any]:
        """Inputs at which given draws' laws are read, so that their optima lie where moved."""
        return read_at(self.size[draw], self.shares[draw], N, D, U)


def read_at(size: Any, shares: Any, N: Any, D: Any, U: Any = None) -> tuple[Any, Any, Any]:
    """N, D and U with the optimum's errors taken off, at the same N D; for NumPy and JAX.

    Parameters
    ----------
    size, shares : array, shapes (...) and (..., source)
        As in `Wander`.
    N, D : array, shapes (...) and (..., source)
        N may be None.
    U : array, shape (..., source), optional
        Unique tokens by source: they keep the number of epochs.
    """
    xp = namespace(D, size)
    turned = D * xp.exp(-shares)
    factor = xp.exp(-shares) * (D.sum(-1) / turned.sum(-1) * xp.exp(size))[..., None]
    N = None if N is None else N * xp.exp(-size)
    return N, D * factor, None if U is None else U * factor


def wander_of(fit: "Fit", size: int, sources: int) -> Wander:
    """Errors per e-fold beyond the runs, by the fit's drift; zero without one."""
    drift = fit.model.drift
    if drift is None:
        return Wander(np.zeros(size), np.zeros((size, sources)))
    rng = np.random.default_rng([fit.seed, 37])
    # two errors make that of a ratio, hence the root; the first numbers are `Surface.wander`'s
    of_size = drift.size * rng.standard_normal(size)
    return Wander(of_size, drift.shares / np.sqrt(2) * rng.standard_normal((size, sources)))


def moved(
    laws: LawDraws,
    cost: "CostModel",
    budget: np.ndarray | float,
    size: np.ndarray,
    known: Range | None,
) -> LawDraws:
    """Laws about one budget, or one for each draw: moved by their wander, with their drift held.

    Parameters
    ----------
    laws : LawDraws
    cost : CostModel
    budget : float or array, shape (draw,)
        FLOP.
    size : array, shape (draw,)
        Of runs at the budget, where the drift is held.
    known : (float, float), optional
        Smallest and largest compute of the runs, from `compute_range`.
    """
    budget = np.broadcast_to(np.asarray(budget, dtype=float), (laws.size,))
    held = laws.held(size, cost.tokens(size, budget))
    by = np.broadcast_to(laws.wander * efolds_beyond(budget, known), (laws.size,))
    return MovedSurface(held, cost, by) if np.any(by) else held


def compute_range(seen: "Extent") -> Range | None:
    """Smallest and largest compute of the runs, FLOP; None where it isn't known."""
    if "C" not in seen:
        return None
    return seen.span("C").low, seen.span("C").high


def efolds_beyond(compute: np.ndarray, known: Range | None) -> np.ndarray:
    """How far budgets lie outside the data, e-folds; below them negative, inside 0."""
    if known is None:
        return np.zeros_like(compute)
    low, high = np.log(known)
    x = np.log(compute)
    return np.maximum(x - high, 0.0) + np.minimum(x - low, 0.0)
