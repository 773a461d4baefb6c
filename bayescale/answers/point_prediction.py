"""Predicted loss from a point estimate: bootstrap for the mean, residuals for a new run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bayescale.answers.points import as_inputs, reach, read_points, say_reach
from bayescale.errors import FitError
from bayescale.tables import Shown, Table, frame, intervals, quantity, with_spread

if TYPE_CHECKING:
    import pandas as pd

    from bayescale.data.runs import Runs
    from bayescale.fitted import Fit
    from bayescale.inference.point_fit import PointFit

NEW_RUNS = 4000  # draws of a new run at least, several residuals a replicate


@dataclass(frozen=True)
class PointPrediction(Shown):
    """Loss at some points, from a point estimate.

    Parameters
    ----------
    points : mapping
        Input -> values, shape (point,).
    loss : array, shape (point,)
        The fitted law's mean.
    replicates : array, shape (replicate, point)
        The mean of each bootstrap replicate's law; no rows without a bootstrap.
    new_run : array, shape (draw, point)
        Replicates with residuals drawn from the fit's; no rows without a bootstrap.
    reach : mapping
        Input -> factor beyond the data's range, shape (point,); 1 inside.
    title, unit : str
    warnings : tuple of str
    """

    points: Mapping[str, np.ndarray]
    loss: np.ndarray
    replicates: np.ndarray = field(repr=False)
    new_run: np.ndarray = field(repr=False)
    reach: Mapping[str, np.ndarray] = field(repr=False)
    title: str
    unit: str
    warnings: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.loss)

    def records(self) -> list[dict[str, Any]]:
        """A nested record for each point; intervals where there is a bootstrap."""
        return [self._record(k) for k in range(len(self))]

    def _record(self, k: int) -> dict[str, Any]:
        record: dict[str, Any] = {name: float(v[k]) for name, v in self.points.items()}
        record["loss"] = {"value": float(self.loss[k])}
        if len(self.replicates):
            column = self.replicates[:, k]
            record["loss"] |= {"sd": float(column.std(ddof=1)), **intervals(column)}
            record["new_run"] = intervals(self.new_run[:, k])
        outside = say_reach({name: float(f[k]) for name, f in self.reach.items()})
        return record | {"outside": outside or "inside the data"}

    def to_frame(self) -> "pd.DataFrame":
        """A tidy table: one row for each point and kind of interval."""
        rows = []
        for record in self.records():
            inputs = {name: record[name] for name in self.points}
            for kind in ("loss", "new_run"):
                if kind in record:
                    rows.append({**inputs, "quantity": kind, **record[kind]})
        return frame(rows)

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {
            "unit": self.unit,
            "warnings": list(self.warnings),
            "predictions": self.records(),
        }

    def table(self) -> Table:
        """The answer as a table."""
        rows = []
        for r in self.records():
            sd = r["loss"].get("sd", float("nan"))
            spans = [
                f"{with_spread(r[kind]['q05'], sd)} to {with_spread(r[kind]['q95'], sd)}"
                if "new_run" in r
                else "–"
                for kind in ("loss", "new_run")
            ]
            given = [quantity(r[name]) for name in self.points]
            rows.append([*given, with_spread(r["loss"]["value"], sd), *spans, r["outside"]])
        columns = [*self.points, "loss", "90% interval", "90% new run", "against the data"]
        notes = [f"loss in {self.unit}; interval: the law's mean; new run: one more training run"]
        if not len(self.replicates):
            notes.append("no intervals: fit with bootstrap=1000 to get them")
        return Table(columns, rows, self.title, self.warnings, notes)


def predict_point(fit: "PointFit", *, seed: int = 0, **asked: Any) -> PointPrediction:
    """Predict the loss of runs from a point estimate.

    The mean's interval comes from the bootstrap; a new run adds a residual of the fit, drawn
    with replacement and widened by sqrt(n/(n - p)).

    Parameters
    ----------
    fit : PointFit
    seed : int
        Seed of the residuals of new runs.
    **asked
        The law's inputs, numbers or strings ("70B", "1.4T"), one value or several; of N, D and
        C any two.

    Returns
    -------
    PointPrediction

    Raises
    ------
    DataError
        A value isn't a positive number or can't be in the stated unit.
    FitError
        An input is missing or unknown.
    """
    points, group = read_points(cast("Fit", fit), asked)
    size = len(next(iter(points.values())))
    loss, replicates = _means(fit, as_inputs(cast("Fit", fit), points, group), group, size)
    if not fit.has_intervals:
        replicates = replicates[:0]
    factors = reach(cast("Fit", fit), points)
    outside = any(np.any(f != 1) for f in factors.values())
    warnings = fit.warnings + ((_BEYOND,) if outside else ())
    return PointPrediction(
        points=points,
        loss=loss,
        replicates=replicates,
        new_run=_new_runs(fit, replicates, seed),
        reach=factors,
        title=fit.headline(),
        unit=fit.law.response_unit,
        warnings=warnings,
    )


def _means(
    fit: "PointFit", inputs: Mapping[str, np.ndarray], group: Mapping[str, Any], size: int
) -> tuple[np.ndarray, np.ndarray]:
    """The law's mean at new points: of the optimum, and of each replicate."""
    model, layout = fit.model, fit.curve.layout
    index = {}
    for column in model.columns:
        labels = layout.labels[column]
        if str(group.get(column)) not in labels:
            raise FitError(
                f"law '{fit.law.name}' differs by '{column}': say which, e.g. "
                f"{column}='{labels[0]}' (known: {', '.join(labels[:10])})."
            )
        index[column] = np.array([labels.index(str(group[column]))])
    batch = {"inputs": inputs, "index": index, "refs": model.references(layout.refs, index)}
    means = np.broadcast_to(fit.curve.mean(fit.vectors, batch), (len(fit.vectors), size))
    return means[0], means[1:]


def replicates_at(fit: "PointFit", runs: "Runs", seed: int = 0) -> np.ndarray:
    """New runs at the rows of a table, shape (draw, row); none without a bootstrap."""
    from bayescale.inference.batch import make_batch

    batch = make_batch(fit.model, runs, fit.curve.layout)
    means = np.broadcast_to(fit.curve.mean(fit.vectors, batch), (len(fit.vectors), len(runs)))
    return _new_runs(fit, means[1:] if fit.has_intervals else means[:0], seed)


_BEYOND = "Beyond the data: intervals take the law as exact, so they are too narrow far out."


def _new_runs(fit: "PointFit", replicates: np.ndarray, seed: int) -> np.ndarray:
    if not len(replicates):
        return replicates
    rng = np.random.default_rng([fit.seed, seed, 29])
    repeated = np.repeat(replicates, -(-NEW_RUNS // len(replicates)), axis=0)
    usable = fit.residuals[fit.weights > 0] * fit.inflation
    scattered = fit.curve.scale.forward(repeated) + rng.choice(usable, size=repeated.shape)
    return fit.curve.scale.backward(scattered)
