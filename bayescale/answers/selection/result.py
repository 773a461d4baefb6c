"""The answer: which backbone is best at which budget, how surely, and what another one costs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.selection.contenders import Contenders
from bayescale.answers.selection.contest import Contest, Standing
from bayescale.answers.selection.crossing import Crossover
from bayescale.answers.selection.price import Price
from bayescale.tables import Shown, Table, frame, quantity, with_spread

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

SHOWN = 8  # backbones of a budget in a table
PAIRS = 3  # crossovers in a table
SURE = 0.995  # from which a crossover's probability is left out of the table as next to none


@dataclass(frozen=True)
class Selection(Shown):
    """Posterior of which backbone is best at some budgets.

    Parameters
    ----------
    C : array, shape (budget,)
        FLOP; one NaN for a law without tokens.
    models : tuple of str
    price : Price
    draws : mapping
        ``<response>``: the response that each backbone reaches, and ``regret``: the best of the
        draw minus it, shape (draw, budget, model); ``B_hat``, shape (draw, model), where the law
        has it. NaN where a budget doesn't pay for a backbone.
    p_best : array, shape (budget, model)
    standings : tuple of tuple of Standing
        For each budget its backbones, the one with the least expected regret first; those that
        the budget doesn't pay for are left out.
    crossovers : tuple of Crossover
    contenders : Contenders
        Their laws, for other budgets.
    response, unit, title : str
    larger : bool
        Whether a larger response is better.
    within : (float, float) or None
        Budgets between which crossovers were looked for, FLOP.
    converged : bool
    warnings, notes : tuple of str
    """

    C: np.ndarray
    models: tuple[str, ...]
    price: Price = field(repr=False)
    draws: Mapping[str, np.ndarray] = field(repr=False)
    p_best: np.ndarray = field(repr=False)
    standings: tuple[tuple[Standing, ...], ...] = field(repr=False)
    crossovers: tuple[Crossover, ...] = field(repr=False)
    contenders: Contenders = field(repr=False)
    response: str
    unit: str
    title: str
    larger: bool
    within: tuple[float, float] | None
    converged: bool
    warnings: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def chosen(self) -> tuple[str, ...]:
        """For each budget the backbone with the least expected regret."""
        return tuple(listed[0].model for listed in self.standings)

    def contest(self, C: np.ndarray, step: int = 1) -> Contest:
        """The same backbones at other budgets.

        Parameters
        ----------
        C : array, shape (budget,)
            FLOP.
        step : int
            Every how many-th draw.
        """
        return Contest(self.contenders.reach(self.price.tokens(C), step), self.larger)

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        budgets = [
            {"C": float(c), "chosen": listed[0].model}
            | {"backbones": [s.to_dict(self.response) for s in listed]}
            for c, listed in zip(self.C, self.standings, strict=True)
        ]
        return {
            "response": self.response,
            "unit": self.unit,
            "cost": self.price.describe() if np.isfinite(self.C).all() else "",
            "converged": self.converged,
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "budgets": budgets,
            "crossovers": [x.to_dict() for x in self.crossovers],
        }

    def to_frame(self) -> "pd.DataFrame":
        """A tidy table: one row for each budget and backbone."""
        rows = []
        for c, listed in zip(self.C, self.standings, strict=True):
            for s in listed:
                row = {"C": float(c), "rank": s.rank, "model": s.model, "N": s.n_params}
                row |= {"D": s.tokens, "p_best": s.p_best, "regret": s.regret["mean"]}
                rows.append(row | s.response)
        return frame(rows)

    @property
    def dataset(self) -> "xr.Dataset":
        """Draws with named dims (draw, budget, model); budgets in FLOP."""
        import xarray as xr

        dims = {3: ("draw", "budget", "model"), 2: ("draw", "model")}
        arrays: dict[str, Any] = {k: (dims[v.ndim], v) for k, v in self.draws.items()}
        arrays["p_best"] = (("budget", "model"), self.p_best)
        return xr.Dataset(arrays, {"budget": self.C, "model": list(self.models)})

    def table(self) -> Table:
        """The answer as a table: for each budget the backbones with the least regret."""
        priced = bool(np.isfinite(self.C).all())
        rows = []
        for c, listed in zip(self.C, self.standings, strict=True):
            rows += [self._row(float(c), s, priced) for s in listed[:SHOWN]]
        columns = [*(["C"] if priced else []), "rank", "", *(["N", "D"] if priced else [])]
        columns += [self.response, "90%", "P(best)", "regret", "rank 90%"]
        return Table(columns, rows, self.title, self.warnings, self._lines(priced))

    def _row(self, c: float, s: Standing, priced: bool) -> list[str]:
        sd = (s.response["q95"] - s.response["q05"]) / 3.3
        size = [quantity(s.n_params), quantity(s.tokens)] if priced else []
        places = s.rank_interval
        return [
            *([quantity(c)] if priced else []),
            str(s.rank),
            s.model,
            *size,
            with_spread(s.response["median"], sd),
            f"{with_spread(s.response['q05'], sd)} to {with_spread(s.response['q95'], sd)}",
            f"{s.p_best:.2f}",
            quantity(s.regret["mean"], 2),
            f"{places['q05']:.0f} to {places['q95']:.0f}",
        ]

    def _lines(self, priced: bool) -> list[str]:
        unit = f" ({self.unit})" if self.unit else ""
        lines = [
            "P(best): share of posterior draws in which it beats all others; regret: expected "
            f"{self.response}{unit} given away by choosing it"
        ]
        for c, listed in zip(self.C, self.standings, strict=True):
            at = f"at C = {quantity(float(c))}: " if priced else ""
            first = listed[0]
            lines.append(
                f"{at}choose {first.model} (best with probability {first.p_best:.2f}, expected "
                f"regret {quantity(first.regret['mean'], 2)})"
            )
            if len(listed) > SHOWN:
                lines[-1] += f"; {len(listed) - SHOWN} more not shown"
        lines += [x.describe() for x in self._told()]
        return [*lines, *([self.price.describe()] if priced else []), *self.notes]

    def _told(self) -> list[Crossover]:
        """The surest crossovers."""
        real = [x for x in self.crossovers if x.probability > 1 - SURE]
        return sorted(real, key=lambda x: -x.probability)[:PAIRS]
