"""The answer: a Pareto frontier for every posterior draw, with all that is read off it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.pareto import frontier
from bayescale.answers.pareto.asked import read_targets
from bayescale.answers.pareto.choice import FrontierChoice, choose
from bayescale.answers.pareto.plane import Plane
from bayescale.answers.pareto.sizes import many
from bayescale.errors import DataError
from bayescale.tables import Shown, Table

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


@dataclass(frozen=True)
class Pareto(Shown):
    """Posterior of the frontier between losses at some budgets.

    Parameters
    ----------
    objectives, sources : tuple of str
        Losses, and what models are trained on.
    budgets : array, shape (budget,)
        FLOP, or tokens (``resource`` says which).
    resource : {"C", "D"}
    shares : array, shape (point, source)
        Mixture of each point.
    values : array, shape (point,)
        Of two sources the ratio (``kind`` "r": the second's tokens over the first's) or the
        second's share; else the position of the mixture.
    kind : {"r", "share", "mixture"}
    marks : tuple of int
        Points that the table names.
    n_params : array, shape (draw, budget, point)
        The efficient size there; NaN where the law has none.
    loss : array, shape (draw, budget, point, objective)
    weight : array, shape (draw, budget, point, objective)
        Weights under which the point is the best of all (two losses and sources), summing to one;
        NaN where no weights choose it.
    efficient : array of bool, shape (draw, budget, point)
        Whether no other point betters it in all losses.
    exponent : array, shape (draw, budget, mark)
        d ln N / d ln C along the frontier at a fixed composition; NaN where N isn't free.
    knee : array, shape (draw, budget, source)
        Shares at the knee: where the frontier, with losses from 0 to 1 between its ends, is
        farthest from the chord between them. It moves with the range of compositions.
    reference : array, shape (objective,)
        Corner from which hypervolume is measured.
    hypervolume : array, shape (draw, budget)
        Volume of losses between the frontier and the reference.
    choices : tuple of FrontierChoice
        What the weights that the user gave choose, one a budget.
    runs : array, shape (run, objective)
        Losses of the data's runs that have all of them.
    title, unit, cost : str
    converged : bool
    warnings : tuple of str
    plane : Plane
        The losses of all draws, for further questions.
    """

    objectives: tuple[str, ...]
    sources: tuple[str, ...]
    budgets: np.ndarray
    resource: str
    shares: np.ndarray
    values: np.ndarray
    kind: str
    marks: tuple[int, ...]
    n_params: np.ndarray
    loss: np.ndarray
    weight: np.ndarray
    efficient: np.ndarray
    exponent: np.ndarray
    knee: np.ndarray
    reference: np.ndarray
    hypervolume: np.ndarray
    choices: tuple[FrontierChoice, ...]
    runs: np.ndarray
    title: str
    unit: str
    cost: str
    converged: bool
    warnings: tuple[str, ...]
    plane: Plane = field(repr=False)

    @cached_property
    def n_tokens(self) -> np.ndarray:
        """Tokens of each source, shape (draw, budget, point, source)."""
        total = self.plane.budgets.tokens(np.log(self.n_params), self.budgets[:, None])
        return np.broadcast_to(total, self.n_params.shape)[..., None] * self.shares

    @cached_property
    def whole(self) -> tuple[np.ndarray, np.ndarray]:
        """Losses of the points and of other sizes at the first and last mixture, and which count.

        Were mixtures beyond the ends to be had, those sizes would be bettered; as they aren't, the
        frontier goes on there by moving the size towards what is best for one loss alone.
        """
        if self.kind == "mixture" or not self.plane.budgets.free_size:
            return self.loss, self.efficient
        ends = many(self.plane, self.shares[[0, -1]])[1]
        losses = np.concatenate([self.loss, ends], axis=2)
        return losses, frontier.efficient(losses)

    def attainable(self, **targets: Any) -> np.ndarray:
        """P(every loss is at most its target | budget), over the posterior: shape (budget,).

        Counted over mixtures from the first to the last of `values`. A target below a draw's
        irreducible loss counts as out of reach in that draw.

        Parameters
        ----------
        **targets
            Loss -> target: ``text=2.1, multimodal=1.9``.

        Raises
        ------
        DataError
            A loss without a target, an unknown loss, or a target that is no number.
        """
        target = read_targets(self.objectives, targets)
        return frontier.attains(*self.whole, target).mean(0)

    def attainment(self, levels: Any = (0.05, 0.5, 0.95), budget: int = 0) -> list[np.ndarray]:
        """Contours of `attainable` at one budget, one a level, shape (corner, objective) each.

        The edge of what can be had with the compositions looked at: beyond the losses of the first
        and the last they run straight on. For any number of losses.
        """
        losses, kept = self.whole
        return frontier.attainment(losses[:, budget], kept[:, budget], levels)

    def band(self, budget: int = 0, levels: Any = (0.05, 0.5, 0.95)) -> np.ndarray:
        """Curves along the frontier at one budget that a share of draws attains.

        For two losses and two sources; along the curve of 0.05 one draw in twenty is as low. From
        the median losses of each point a line runs along the posterior SDs of both; each draw's
        frontier, followed past the ends of the compositions, crosses it once.

        Returns
        -------
        array, shape (level, point, 2)
        """
        from bayescale.answers.pareto.bands import band

        return band(self, budget, levels)

    def choose(self, weights: Mapping[str, Any], by: str = "sum") -> list[FrontierChoice]:
        """What weights choose at each budget: what each draw would, and the best single choice.

        Parameters
        ----------
        weights : mapping
            Loss -> weight above 0; they are divided by their sum.
        by : {"sum", "worst"}
            Least is the weighted sum of losses, or the largest weight x (loss above the least of
            the draw), by which parts of a frontier are chosen that bulge the wrong way.

        Raises
        ------
        DataError
            A weight is missing, of no loss, or not above 0.
        """
        return choose(self, weights, by)

    def weights_of(self, value: float) -> np.ndarray:
        """Weights that the choice of a ratio or share implies, shape (draw, budget, objective).

        Interpolated between points; NaN in draws in which no weights choose it.

        Raises
        ------
        DataError
            The value is outside those of the frontier, or it isn't one of two losses and sources.
        """
        if self.kind == "mixture" or len(self.objectives) != 2:
            raise DataError("weights are implied by a choice between two losses and two sources.")
        if not self.values[0] <= value <= self.values[-1]:
            raise DataError(
                f"{self.kind} = {value:g} is outside the frontier's {self.values[0]:.3g} to "
                f"{self.values[-1]:.3g}."
            )
        at = float(np.interp(value, self.values, np.arange(len(self.values))))
        low = min(int(at), len(self.values) - 1)
        high = min(low + 1, len(self.values) - 1)
        return self.weight[:, :, low] * (1 - at + low) + self.weight[:, :, high] * (at - low)

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        from bayescale.answers.pareto.show import record

        return record(self)

    def to_frame(self) -> "pd.DataFrame":
        """A tidy table: one row for each budget, point and quantity."""
        from bayescale.answers.pareto.show import tidy

        return tidy(self)

    @property
    def dataset(self) -> "xr.Dataset":
        """Draws with named dims (draw, budget, point, objective or source)."""
        import xarray as xr

        dims = ("draw", "budget", "point")
        arrays: dict[str, Any] = {
            "n_params": (dims, self.n_params),
            "n_tokens": ((*dims, "source"), self.n_tokens),
            "loss": ((*dims, "objective"), self.loss),
            "weight": ((*dims, "objective"), self.weight),
            "efficient": (dims, self.efficient),
            "hypervolume": (dims[:2], self.hypervolume),
            "knee": ((*dims[:2], "source"), self.knee),
            "shares": (("point", "source"), self.shares),
        }
        axes = {"budget": self.budgets, "point": self.values}
        names = {"objective": list(self.objectives), "source": list(self.sources)}
        return xr.Dataset(arrays, {**axes, **names})

    def table(self) -> Table:
        """The answer as a table."""
        from bayescale.answers.pareto.show import table

        return table(self)
