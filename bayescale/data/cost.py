"""The price of a run: how compute C, parameters N and tokens D are tied, as a stated value."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayescale.data.messages import short
from bayescale.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

FlopsFunction = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class CostModel:
    """Training compute as a function of parameters and tokens.

    Made by `six_nd`, `active_params` or `custom`; `SIX_ND` is the default everywhere. Any two of
    N, D and C give the third.

    Parameters
    ----------
    name
        Short name, shown in tables.
    kind
        "six_nd", "active" or "custom".
    factor
        FLOP per parameter and token (6 for a forward and a backward pass).
    column
        For "active": the column of the run table that holds active parameters.
    scale
        For "active": what that column's numbers are multiplied with.
    function
        For "custom": FLOP as a function of arrays N and D.
    """

    name: str
    kind: str
    factor: float = 6.0
    column: str | None = None
    scale: float = 1.0
    function: FlopsFunction | None = None

    def describe(self) -> str:
        """Return the equation, for instance "C = 6 N D"."""
        if self.kind == "custom":
            return f"C = {self.name}(N, D)"
        if self.kind == "active":
            scale = "" if self.scale == 1.0 else f"{short(self.scale)} x "
            return f"C = {self.factor:g} {scale}[{self.column}] D"
        return f"C = {self.factor:g} N D"

    def flops(self, N: ArrayLike, D: ArrayLike, table: "pd.DataFrame | None" = None) -> np.ndarray:
        """Return training compute.

        Parameters
        ----------
        N, D
            Parameters and tokens, any shapes that broadcast.
        table
            Run table with the column of active parameters, where the model needs it.

        Returns
        -------
        ndarray
            FLOP, float64.
        """
        # Integer columns first become float64: 6 N D of them passes 2^63 for any large run.
        size, tokens = _floats(N), _floats(D)
        if self.kind == "custom":
            return np.asarray(self._own()(size, tokens), dtype=np.float64)
        if self.kind == "active":
            size = self._active(table)
        return self.factor * size * tokens

    def tokens(self, N: ArrayLike, C: ArrayLike, table: "pd.DataFrame | None" = None) -> np.ndarray:
        """Return the tokens that compute C buys at N parameters; arguments as in `flops`."""
        size, compute = _floats(N), _floats(C)
        if self.kind == "custom":
            return _solve(self, lambda d, n: self._own()(n, d), size, compute, "D")
        if self.kind == "active":
            size = self._active(table)
        return compute / (self.factor * size)

    def params(self, C: ArrayLike, D: ArrayLike, table: "pd.DataFrame | None" = None) -> np.ndarray:
        """Return the parameters that compute C trains on D tokens; arguments as in `flops`.

        Raises
        ------
        DataError
            For active-parameter costs, which don't fix the total size.
        """
        compute, tokens = _floats(C), _floats(D)
        if self.kind == "active":
            raise DataError(
                f"N can't be had from C and D under {self.describe()}: compute only fixes the "
                "active parameters; add a column of total parameters."
            )
        if self.kind == "custom":
            return _solve(self, lambda n, d: self._own()(n, d), tokens, compute, "N")
        return compute / (self.factor * tokens)

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dict; an own function is kept by name only (see `cost_from_dict`)."""
        kept: dict[str, Any] = {"name": self.name, "kind": self.kind}
        if self.kind == "custom":
            return kept
        kept["factor"] = self.factor
        if self.kind == "active":
            kept |= {"column": self.column, "scale": self.scale}
        return kept

    def _active(self, table: "pd.DataFrame | None") -> np.ndarray:
        if table is None or self.column not in table:
            where = "no table was given" if table is None else "the table has no such column"
            raise DataError(
                f"{self.describe()} needs the column '{self.column}' of active parameters, "
                f"but {where}."
            )
        return self.scale * table[self.column].to_numpy(dtype=np.float64)

    def _own(self) -> FlopsFunction:
        if self.function is None:
            raise DataError(
                f"the cost model '{self.name}' is an own function and wasn't saved with the fit: "
                f"pass it again, cost=custom(your_function, '{self.name}')."
            )
        return self.function


def six_nd(factor: float = 6.0) -> CostModel:
    """Return C = factor N D (6: Kaplan et al., arXiv:2001.08361).

    Parameters
    ----------
    factor
        FLOP per parameter and token.
    """
    if not np.isfinite(factor) or factor <= 0:
        raise DataError(f"six_nd: factor = {factor} must be a finite number above zero.")
    return CostModel(f"{factor:g}ND", "six_nd", float(factor))


def active_params(column: str, factor: float = 6.0, scale: float = 1.0) -> CostModel:
    """Return C = factor N_active D for sparse models, N_active being a column of the run table.

    Parameters
    ----------
    column
        Name of the column of parameters active for one token.
    factor
        FLOP per active parameter and token.
    scale
        Unit of the column (1e9 if it counts billions).
    """
    return CostModel(f"active:{column}", "active", float(factor), column, float(scale))


def custom(flops_function: FlopsFunction, name: str) -> CostModel:
    """Return a cost model with an own function, increasing in both N and D.

    Parameters
    ----------
    flops_function
        Called with float64 arrays N and D, returns FLOP of the same shape.
    name
        Shown in tables and kept when a fit is saved (the function isn't).
    """
    if not callable(flops_function):
        raise DataError(f"custom cost '{name}': expected a function of N and D.")
    return CostModel(name, "custom", function=flops_function)


SIX_ND = six_nd()


def cost_from_dict(kept: Mapping[str, Any], function: FlopsFunction | None = None) -> CostModel:
    """Return the cost model that `CostModel.to_dict` wrote down.

    Parameters
    ----------
    kept
        What `to_dict` returned.
    function
        The own function of a "custom" model; without it the model says so when it is asked.
    """
    if kept.get("kind") not in ("six_nd", "active", "custom"):
        raise DataError(f"cost model of unknown kind {kept.get('kind')!r}.")
    fields = {k: kept[k] for k in ("name", "kind", "factor", "column", "scale") if k in kept}
    return CostModel(**fields, function=function if kept["kind"] == "custom" else None)


def _floats(values: ArrayLike) -> np.ndarray:
    return np.asarray(values, dtype=np.float64)


def _solve(
    cost: CostModel,
    flops_at: FlopsFunction,
    known: np.ndarray,
    compute: np.ndarray,
    wanted: str,
) -> np.ndarray:
    """Solve flops_at(x, known) = compute for x on the log scale, element by element."""
    from scipy.optimize import brentq

    known, compute = np.broadcast_arrays(known, compute)
    find_root: Any = brentq
    solved = np.full(known.shape, np.nan)
    for place in np.ndindex(known.shape):
        fixed, target = float(known[place]), float(np.log(compute[place]))
        if not (np.isfinite(fixed) and np.isfinite(target)):
            continue

        def gap(log_x: float, fixed: float = fixed, target: float = target) -> float:
            with np.errstate(divide="ignore"):
                flops = flops_at(np.exp(np.float64(log_x)), np.float64(fixed))
                return float(np.log(flops)) - target

        guess = target - float(np.log(6.0 * fixed))
        low, high = guess - 12.0, guess + 12.0  # a factor 160,000 around 6 N D
        if not gap(low) < 0 < gap(high):
            raise DataError(
                f"cost model '{cost.name}' can't be solved for {wanted} at C = "
                f"{compute[place]:.3g} and {'N' if wanted == 'D' else 'D'} = {fixed:.3g}: give "
                f"a column of {wanted}."
            )
        solved[place] = np.exp(find_root(gap, low, high, xtol=1e-13, rtol=1e-14))
    return solved
