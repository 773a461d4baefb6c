"""What the three ways to a compute-optimal size have in common: a parametric law, IsoFLOP slices
and the envelope of training curves (arXiv:2203.15556, sections 3.1 to 3.3).

Each gives draws of a power law N_opt = exp(n0) (C/C0)^a, D_opt = exp(d0) (C/C0)^b, so that one
table can hold them side by side.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from bayescale.answers.points import read_values


@runtime_checkable
class Approach(Protocol):
    """An answer that knows the compute-optimal size and tokens of any budget.

    Attributes
    ----------
    name : str
        ``parametric``, ``isoflop`` or ``envelope``.
    exponents : mapping
        ``a`` = d ln N_opt / d ln C and ``b`` = d ln D_opt / d ln C, draws of shape (draw,).
    unit : str
        Unit of the loss.
    converged : bool
        Whether the fit behind it passed its gate.
    warnings : tuple of str
        What must be said with it.
    """

    @property
    def name(self) -> str:
        """Name of the approach."""
        ...

    @property
    def exponents(self) -> Mapping[str, np.ndarray]:
        """Draws of a and b, shape (draw,)."""
        ...

    @property
    def unit(self) -> str:
        """Unit of the loss."""
        ...

    @property
    def converged(self) -> bool:
        """Whether the fit behind it passed its gate."""
        ...

    @property
    def warnings(self) -> tuple[str, ...]:
        """What must be said with it."""
        ...

    def n_opt(self, C: Any) -> np.ndarray:
        """Compute-optimal parameters at budgets in FLOP, shape (draw, budget)."""
        ...

    def d_opt(self, C: Any) -> np.ndarray:
        """Compute-optimal tokens at budgets in FLOP, shape (draw, budget)."""
        ...


@dataclass(frozen=True)
class PowerLaw:
    """A power law y = exp(level) (C/C0)^exponent for every posterior draw.

    Parameters
    ----------
    level : array, shape (draw,)
        ln y at the budget C0.
    exponent : array, shape (draw,)
    C0 : float
        Budget in FLOP; the middle of the data, where level and exponent are least correlated.
    """

    level: np.ndarray
    exponent: np.ndarray
    C0: float

    def at(self, C: Any) -> np.ndarray:
        """Its values at budgets in FLOP (numbers or texts such as "1e24"), shape (draw, budget).

        Raises
        ------
        DataError
            A budget isn't a positive number.
        """
        steps = np.log(read_values("C", C) / self.C0)
        return np.exp(self.level[:, None] + self.exponent[:, None] * steps)
