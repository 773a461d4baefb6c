"""A point estimate, frozen: values, bootstrap draws, how the starts agreed, residuals."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.tables import Shown, Table, frame, intervals, with_spread

if TYPE_CHECKING:
    import pandas as pd

    from bayescale.answers.point_prediction import PointPrediction
    from bayescale.data.runs import Runs
    from bayescale.extent import Extent
    from bayescale.inference.curve import Curve
    from bayescale.inference.model import Model
    from bayescale.law import Derived, Law, Param

# how a search goes on: starts by default, and how it is called
SEARCHES = {
    "descent": (50, ""),
    "evolution": (3, ", by differential evolution and L-BFGS-B"),
}
FEWEST = 20  # replicates below which a 90% interval has no ends to read off


@dataclass(frozen=True)
class Starts:
    """How the starts of the search agree.

    Parameters
    ----------
    tried : int
    reached : int
        Starts that ended at the best objective, within a millionth of it.
    ranges : mapping
        Quantity -> lowest and highest value among those.
    objectives : tuple of float
        Where each start ended, lowest first; starts without a finite objective are left out.
    """

    tried: int
    reached: int
    ranges: Mapping[str, tuple[float, float]]
    objectives: tuple[float, ...]


@dataclass(frozen=True)
class PointFit(Shown):
    """A law's point estimate with its bootstrap.

    Parameters
    ----------
    law : Law
    runs : Runs
    curve : Curve
        The law as a function of a vector.
    params : mapping
        Parameter or derived quantity -> value, in the field's own terms; with labels
        ``beta[text]``.
    draws : mapping
        The same of each bootstrap replicate, arrays of shape (replicate,).
    vectors : array, shape (1 + replicate, size)
        The optimum and the replicates as vectors of the curve.
    objective : float
        Sum of weighted Huber losses at the optimum.
    delta : float
        Where Huber's loss turns linear, in log response, or on the law's own scale.
    residuals : array, shape (run,)
        Response minus fit, on that scale.
    weights : array, shape (run,)
    starts : Starts
    failed : int
        Bootstrap replicates that could not be fitted and are not among the draws.
    seed : int
    search : str
    warnings : tuple of str
    """

    law: "Law"
    runs: "Runs"
    curve: "Curve" = field(repr=False)
    params: Mapping[str, float]
    draws: Mapping[str, np.ndarray] = field(repr=False)
    vectors: np.ndarray = field(repr=False)
    objective: float
    delta: float
    residuals: np.ndarray = field(repr=False)
    weights: np.ndarray = field(repr=False)
    starts: Starts = field(repr=False)
    failed: int
    seed: int
    search: str
    warnings: tuple[str, ...]

    @property
    def model(self) -> "Model":
        """The law as a model."""
        return self.curve.model

    @cached_property
    def extent(self) -> "Extent":
        """Where the runs lie: all that answers ask of them."""
        from bayescale.extent import extent_of

        return extent_of(self.model, self.runs)

    @property
    def replicates(self) -> int:
        """Bootstrap replicates that were fitted."""
        return len(next(iter(self.draws.values())))

    @property
    def has_intervals(self) -> bool:
        """Whether there are replicates enough for intervals."""
        return self.replicates >= FEWEST

    @property
    def inflation(self) -> float:
        """sqrt(n/(n - p)): residuals of a fit are smaller than the noise by so much."""
        used = int(np.count_nonzero(self.weights))
        return float(np.sqrt(used / (used - self.curve.packing.size)))

    @property
    def residual_sd(self) -> float:
        """Root mean square of residuals, weighted, with p of n degrees of freedom used."""
        mean = np.average(self.residuals**2, weights=self.weights)
        return float(np.sqrt(mean)) * self.inflation

    @property
    def residual_sd_robust(self) -> float:
        """1.4826 times the median absolute deviation of residuals: blind to outliers."""
        used = self.residuals[self.weights > 0]
        return float(1.4826 * np.median(np.abs(used - np.median(used))))

    def predict(self, **points: Any) -> "PointPrediction":
        """Loss at new inputs; see `bayescale.answers.point_prediction.predict_point`."""
        from bayescale.answers.point_prediction import predict_point

        return predict_point(self, **points)

    def records(self) -> list[dict[str, Any]]:
        """A record for each parameter and derived quantity; quantiles where there are any."""
        return [
            {
                "parameter": name,
                "value": self.params[name],
                **self._spread(name),
                "unit": item.unit,
                "meaning": item.meaning,
            }
            for name, item in self._items()
        ]

    def _items(self) -> list[tuple[str, "Param | Derived"]]:
        items = {item.name: item for item in (*self.law.params, *self.law.derived)}
        return [(name, items[name.partition("[")[0]]) for name in self.params]

    def _spread(self, name: str) -> dict[str, float]:
        if not self.has_intervals:
            return {}
        return {"sd": float(self.draws[name].std(ddof=1)), **intervals(self.draws[name])}

    def to_frame(self) -> "pd.DataFrame":
        """One row a quantity: value, bootstrap SD and quantiles (with a bootstrap), unit."""
        return frame(self.records()).set_index("parameter")

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record."""
        return {
            "law": self.law.name,
            "equation": self.law.latex(),
            "estimator": self._estimator(),
            "delta": self.delta if np.isfinite(self.delta) else "inf",
            "objective": self.objective,
            "n_runs": len(self.runs),
            "parameters": {r.pop("parameter"): r for r in self.records()},
            "residual_sd": self.residual_sd,
            "residual_sd_robust": self.residual_sd_robust,
            "starts": {
                "tried": self.starts.tried,
                "reached": self.starts.reached,
                "ranges": {k: list(v) for k, v in self.starts.ranges.items()},
            },
            "bootstrap": {"replicates": self.replicates, "failed": self.failed},
            "seed": self.seed,
            "warnings": list(self.warnings),
            "data": {
                "source": self.runs.source,
                "sha256": self.runs.sha256,
                "columns": dict(self.runs.columns),
                "cost": self.runs.cost.describe(),
            },
        }

    def _estimator(self) -> str:
        loss = f"Huber (delta {self.delta:g})" if np.isfinite(self.delta) else "squared"
        return f"least {loss} loss on {self._scaled()}{SEARCHES[self.search][1]}"

    def _scaled(self) -> str:
        """The response on the scale of the residuals."""
        said = {"log": "log ", "logit": "log odds of "}.get(self.model.noise.on, "")
        return said + self.law.response

    def headline(self) -> str:
        """What was fitted to what, in one line."""
        return f"{self.law.name} fitted to {len(self.runs)} runs: {self._estimator()}"

    def table(self) -> Table:
        """The fit as a table."""
        rows = []
        for r in self.records():
            sd = r.get("sd", float("nan"))
            interval = (
                f"{with_spread(r['q05'], sd)} to {with_spread(r['q95'], sd)}" if "sd" in r else "–"
            )
            unit = f" ({r['unit']})" if r["unit"] else ""
            value = with_spread(r["value"], sd)
            rows.append([r["parameter"], value, interval, with_spread(sd, sd), r["meaning"] + unit])
        notes = [
            f"model: {self.law.text()}",
            f"objective {self.objective:.6g}; residual SD of {self._scaled()} "
            f"{self.residual_sd:.3g}, robust {self.residual_sd_robust:.3g}",
            f"starts: {self.starts.reached} of {self.starts.tried} ended at this objective",
            f"intervals: bootstrap over runs, {self.replicates} replicates"
            if self.has_intervals
            else "no intervals: fit with bootstrap=1000 to get them",
            *self.runs.describe().splitlines(),
        ]
        columns = ["", "value", "90% interval", "sd", "meaning"]
        return Table(columns, rows, self.headline(), self.warnings, notes)

    def __repr__(self) -> str:
        return f"<PointFit of {self.headline()}>"
