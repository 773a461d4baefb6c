"""Predicted loss at new inputs: the law's mean, and a new run around it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.beyond import beyond_warning
from bayescale.answers.points import as_inputs, reach, read_points, say_reach
from bayescale.answers.surface import Surface, surface
from bayescale.inference.batch import noise_columns
from bayescale.scatter import SCALES
from bayescale.tables import Shown, Table, frame, intervals, quantity, with_spread

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayescale.fitted import Fit

ANSWERS = ("loss", "new_run")  # keys of a record, which an input may not take


@dataclass(frozen=True)
class Prediction(Shown):
    """Posterior of the loss at some points.

    Parameters
    ----------
    points : mapping
        Input -> values, shape (point,).
    loss : array, shape (draw, point)
        The law's mean: its quantiles are credible intervals.
    new_run : array, shape (draw, point)
        A run there, noise included: its quantiles are predictive intervals.
    reach : mapping
        Input -> factor beyond the data's range, shape (point,); 1 inside.
    title, unit : str
    converged : bool
        Whether the fit passed its gate.
    warnings : tuple of str
    width : mapping
        What makes the 90% interval of a new run wide: ``parameters``, ``drift`` (beyond the runs)
        and ``noise``, shares of its square, shape (point,).
    response : str
        Name of what is predicted; its records and draws are called ``loss`` all the same.
    """

    points: Mapping[str, np.ndarray]
    loss: np.ndarray
    new_run: np.ndarray
    reach: Mapping[str, np.ndarray]
    title: str
    unit: str
    converged: bool
    warnings: tuple[str, ...]
    width: Mapping[str, np.ndarray]
    response: str = "loss"

    def __len__(self) -> int:
        return self.loss.shape[1]

    def _inputs(self, k: int) -> dict[str, float | str]:
        """Inputs of one point; one called as the answer, ``loss``, is told as ``loss_at``."""
        names = {name: f"{name}_at" if name in ANSWERS else name for name in self.points}
        return {names[name]: _plain(v[k]) for name, v in self.points.items()}

    def records(self) -> list[dict[str, Any]]:
        """A nested record for each point: inputs, ``loss``, ``new_run``, ``outside``."""
        listed = []
        for k in range(len(self)):
            loss = intervals(self.loss[:, k]) | {
                "mean": float(self.loss[:, k].mean()),
                "sd": float(self.loss[:, k].std()),
            }
            factors = {name: float(f[k]) for name, f in self.reach.items()}
            listed.append(
                {
                    **self._inputs(k),
                    "loss": loss,
                    "new_run": intervals(self.new_run[:, k]),
                    "width_from": {name: float(v[k]) for name, v in self.width.items()},
                    "outside": {
                        "inside_data": not say_reach(factors),
                        "factor": factors,
                        "efolds": {
                            n: float(np.log(f)) if f > 0 else None for n, f in factors.items()
                        },
                        "text": say_reach(factors) or "inside the data",
                    },
                }
            )
        return listed

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {
            "unit": self.unit,
            "converged": self.converged,
            "warnings": list(self.warnings),
            "predictions": self.records(),
        }

    def to_frame(self) -> "pd.DataFrame":
        """A tidy table: one row for each point and kind of interval."""
        rows = []
        for record in self.records():
            inputs = {name: record[name] for name in self._inputs(0)}
            for kind in ("loss", "new_run"):
                rows.append({**inputs, "quantity": kind, **record[kind]})
        return frame(rows)

    @property
    def dataset(self) -> "xr.Dataset":
        """Draws with named dims (draw, point), inputs as coordinates."""
        import xarray as xr

        arrays = {"loss": (("draw", "point"), self.loss)}
        arrays["new_run"] = (("draw", "point"), self.new_run)
        inputs = {f"{k}_at" if k in ANSWERS else k: ("point", v) for k, v in self.points.items()}
        return xr.Dataset(arrays, inputs)

    def table(self) -> Table:
        """The answer as a table."""
        rows = []
        for k, record in enumerate(self.records()):
            sd = float(np.std(self.loss[:, k]))
            loss, new = record["loss"], record["new_run"]
            rows.append(
                [
                    *(_shown(v[k]) for v in self.points.values()),
                    with_spread(loss["median"], sd),
                    f"{with_spread(loss['q05'], sd)} to {with_spread(loss['q95'], sd)}",
                    f"{with_spread(new['q05'], sd)} to {with_spread(new['q95'], sd)}",
                    _widest(record["width_from"]),
                    record["outside"]["text"],
                ]
            )
        columns = [*self.points, self.response, "90% credible", "90% new run", "width from"]
        columns.append("against the data")
        unit = f" in {self.unit}" if self.unit else ""
        notes = [f"{self.response}{unit}; credible: the law's mean; new run: one more training run"]
        return Table(columns, rows, self.title, self.warnings, notes)


def predict(fit: "Fit", *, seed: int = 0, **asked: Any) -> Prediction:
    """Predict the loss of runs.

    Parameters
    ----------
    fit : Fit
    seed : int
        Seed of the noise of new runs.
    **asked
        The law's inputs, numbers or strings ("70B", "1.4T"), one value or several; of N, D and
        C any two. For pooled fits, the group by its column (``corpus="c4"``). Of a law's own
        labels (``target="text"``) one or several; without them all are predicted.

    Returns
    -------
    Prediction

    Raises
    ------
    DataError
        A value isn't a positive number or can't be in the stated unit.
    FitError
        An input is missing or unknown.
    """
    free = fit.law.label_columns
    if free and not all(isinstance(asked.get(c), str) for c in free):
        return _joined([_predict(fit, seed, asked | labels) for labels in _each(fit, asked)])
    return _predict(fit, seed, asked)


def _each(fit: "Fit", asked: Mapping[str, Any]) -> list[dict[str, str]]:
    """Every combination of the labels that were asked for, or of all."""
    chosen = []
    for column in fit.law.label_columns:
        listed = asked.get(column, fit.law.axes[column])
        chosen.append([listed] if isinstance(listed, str) else [str(v) for v in listed])
    return [dict(zip(fit.law.label_columns, c, strict=True)) for c in product(*chosen)]


def _joined(parts: list[Prediction]) -> Prediction:
    """Predictions of several labels, one behind the other."""
    both = {"loss": [p.loss for p in parts], "new_run": [p.new_run for p in parts]}
    return replace(
        parts[0],
        points={k: np.concatenate([p.points[k] for p in parts]) for k in parts[0].points},
        reach={k: np.concatenate([p.reach[k] for p in parts]) for k in parts[0].reach},
        warnings=tuple(dict.fromkeys(w for p in parts for w in p.warnings)),
        width={k: np.concatenate([p.width[k] for p in parts]) for k in parts[0].width},
        **{name: np.concatenate(draws, axis=1) for name, draws in both.items()},
    )


def _widest(shares: Mapping[str, float]) -> str:
    """Shares of the width in words, the largest first; small ones are left out."""
    order = sorted(shares.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{name} {share:.0%}" for name, share in order if share >= 0.05)


def _plain(value: Any) -> float | str:
    return value if isinstance(value, str) else float(value)


def _shown(value: float | str) -> str:
    return value if isinstance(value, str) else quantity(value)


def _predict(fit: "Fit", seed: int, asked: Mapping[str, Any]) -> Prediction:
    """Prediction for one label of each of the law's label columns."""
    points, group = read_points(fit, asked)
    laws = surface(fit, group, seed)
    inputs = as_inputs(fit, points, group)
    mean = laws.mean(np.arange(laws.size)[:, None], **inputs)
    mean = np.broadcast_to(mean, (laws.size, len(next(iter(points.values())))))
    factors = reach(fit, points)
    outside = any((f != 1).any() for f in factors.values())
    pooled = [c for c in fit.model.cell_columns if c not in group]
    fresh = tuple(
        f"For a new {c}, drawn around the common values; name one with {c}=… "
        f"(--group {c}=…): {', '.join(fit.layout.labels[c][:6])}."
        for c in pooled
    )
    new = new_runs(laws, mean, points, seed)
    told = np.broadcast_to(laws.straight(np.arange(laws.size)[:, None], **inputs), mean.shape)
    size = mean.shape[1]
    named = {c: np.full(size, str(group[c]), object) for c in fit.law.label_columns}
    far = f"Beyond the data. {beyond_warning(fit.model.drift is not None)}"
    warnings = fit.warnings + fresh + ((far,) if outside else ())
    return Prediction(
        points=named | points,
        loss=mean,
        new_run=new,
        reach=factors,
        title=fit.title,
        unit=fit.law.response_unit,
        converged=fit.converged,
        warnings=warnings,
        width=width_shares(fit.model.noise.on, told, mean, new),
        response=fit.law.response,
    )


def width_shares(
    on: str, told: np.ndarray, mean: np.ndarray, new: np.ndarray
) -> dict[str, np.ndarray]:
    """What makes intervals of new runs wide, as shares of squared 90% widths, shape (point,).

    Parameters
    ----------
    on : str
        The noise's scale, on which the three add up.
    told, mean, new : array, shape (draw, point)
        Law with the drift that the runs tell, with all drift, and with noise.
    """
    told, mean, new = (SCALES[on].forward(x) for x in (told, mean, new))
    parts = {"parameters": told, "drift": mean - told, "noise": new - mean}
    squares = {
        k: np.square(np.subtract(*np.quantile(v, [0.95, 0.05], 0))) for k, v in parts.items()
    }
    total = np.maximum(sum(squares.values()), 1e-300)
    return {k: v / total for k, v in squares.items()}


def new_runs(
    laws: Surface, mean: np.ndarray, points: Mapping[str, np.ndarray], seed: int
) -> np.ndarray:
    """One noisy run a draw and point."""
    fit = laws.fit
    noise = fit.model.noise
    params = {p.name: laws.params[p.name][:, None] for p in noise.params()}
    if noise.offsets:
        rng = np.random.default_rng([fit.seed, seed, 19])
        params["run_offset"] = rng.standard_normal(mean.shape)
    columns = {k: np.asarray(v) for k, v in points.items()}
    if noise.known_sd:
        # a new run's measurement error isn't known: that of the median run stands in
        columns[noise.known_sd] = np.full(mean.shape[1], fit.extent.span(noise.known_sd).median)
    if noise.varies_with not in (None, "loss", *columns):
        columns[str(noise.varies_with)] = np.full(mean.shape[1], np.exp(fit.layout.noise_ref))
    rows = noise_columns(fit.model, columns, fit.layout)
    rng = np.random.default_rng([fit.seed, seed, 23])
    return noise.draw(rng, mean, params, rows)
