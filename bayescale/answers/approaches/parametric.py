"""A fitted law of N and D as one of the approaches: its optimum, for every draw."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.allocation import EXPONENTS, check_law, laws_exponent
from bayescale.answers.optimum import optimum
from bayescale.answers.points import read_values
from bayescale.answers.surface import Surface, surface
from bayescale.answers.wander import compute_range
from bayescale.errors import FitError
from bayescale.tables import quantity

if TYPE_CHECKING:
    from bayescale.fitted import Fit


@dataclass(frozen=True)
class Parametric:
    """Approach 3 of arXiv:2203.15556, of any law of N and D.

    Parameters
    ----------
    fit : Fit
    laws : Surface
        The laws of all draws, of one group.
    exponents : mapping
        ``a`` and ``b``, draws of shape (draw,): the law's own, else the local ones at the centre
        of the data.
    """

    fit: "Fit"
    laws: Surface
    exponents: Mapping[str, np.ndarray]
    name: str = field(default="parametric")

    @property
    def unit(self) -> str:
        """Unit of the loss."""
        return self.fit.law.response_unit

    @property
    def converged(self) -> bool:
        """Whether the fit passed its gate."""
        return self.fit.converged

    @property
    def warnings(self) -> tuple[str, ...]:
        """What must be said of the fit."""
        return self.fit.warnings

    def n_opt(self, C: Any) -> np.ndarray:
        """Compute-optimal parameters at budgets in FLOP, shape (draw, budget)."""
        return self._optimum(C)["N_opt"]

    def d_opt(self, C: Any) -> np.ndarray:
        """Compute-optimal tokens at budgets in FLOP, shape (draw, budget)."""
        return self._optimum(C)["D_opt"]

    def _optimum(self, C: Any) -> dict[str, np.ndarray]:
        seen = self.fit.extent
        return optimum(self.laws, seen.cost, read_values("C", C), compute_range(seen))


def parametric(fit: "Fit", seed: int = 0, **group: Any) -> Parametric:
    """A fit as an approach.

    Raises
    ------
    FitError
        The law isn't one of N and D, compute counts active parameters, or a draw has no optimum
        at the centre of the data.
    """
    check_law(fit)
    if fit.extent.cost.kind == "active":
        raise FitError(
            "this fit's compute counts active parameters, which a new size doesn't fix: read the "
            "runs with cost=six_nd(6 * share) to compare approaches."
        )
    laws = surface(fit, group, seed)
    own = {n: laws_exponent(fit, laws, n) for n in EXPONENTS[:2]}
    if any(v is None for v in own.values()):
        centre = fit.extent.span("C").centre
        local = optimum(laws, fit.extent.cost, np.array([centre]))
        own = {n: local[n][:, 0] for n in own}
        if not all(np.isfinite(v).all() for v in own.values()):
            raise FitError(
                f"some draws of '{fit.law.name}' have no optimum at C = {quantity(float(centre))} "
                "FLOP, the centre of the data; check the fit's exponents (print the fit)."
            )
    return Parametric(fit, laws, {n: np.asarray(v) for n, v in own.items()})
