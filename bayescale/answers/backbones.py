"""Accuracy of backbones from their text scores: of new models, or of those that were fitted."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.points import read_values
from bayescale.answers.prediction import new_runs
from bayescale.answers.surface import Surface, surface
from bayescale.errors import FitError, nearest
from bayescale.scatter import SCALES
from bayescale.tables import Shown, Table, frame, intervals, quantity, with_spread

if TYPE_CHECKING:
    import pandas as pd

    from bayescale.fitted import Fit
    from bayescale.laws.backbones import Backbones

LIKELY = 0.05  # P(B_hat < 0) from which it is said


@dataclass(frozen=True)
class BackbonePrediction(Shown):
    """Posterior of the accuracy of backbones.

    Parameters
    ----------
    models : tuple of str
        Backbone of each point.
    tokens : array, shape (point,)
        Multimodal tokens; NaN for a law without them.
    accuracy, new_run : array, shape (draw, point)
        The law's mean; and one more training run of a new model, offset and noise included.
    rate : array, shape (draw, point)
        B_hat, gain per e-fold of data on the law's own scale; NaN for a law without data.
    unexplained : array, shape (point,)
        Root mean square of what the components leave of a model's benchmarks; NaN if unknown.
    title : str
    warnings, notes : tuple of str
    """

    models: tuple[str, ...]
    tokens: np.ndarray
    accuracy: np.ndarray = field(repr=False)
    new_run: np.ndarray = field(repr=False)
    rate: np.ndarray = field(repr=False)
    unexplained: np.ndarray = field(repr=False)
    title: str
    warnings: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def negative(self) -> np.ndarray:
        """P(B_hat < 0) of each point: that more data would do harm, which no data show."""
        return np.where(np.isnan(self.rate).all(axis=0), np.nan, (self.rate < 0).mean(axis=0))

    def records(self) -> list[dict[str, Any]]:
        """A record for each point: model, D, accuracy, new_run, B_hat with its P(< 0)."""
        listed = []
        for k, name in enumerate(self.models):
            record: dict[str, Any] = {"model": name, "D": float(self.tokens[k])}
            record["accuracy"] = intervals(self.accuracy[:, k])
            record["new_run"] = intervals(self.new_run[:, k])
            if np.isfinite(self.negative[k]):
                record["B_hat"] = intervals(self.rate[:, k])
                record["B_hat"]["below_zero"] = float(self.negative[k])
            listed.append(record | {"unexplained": float(self.unexplained[k])})
        return listed

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {"warnings": list(self.warnings), "backbones": self.records()}

    def to_frame(self) -> "pd.DataFrame":
        """A tidy table: one row for each point and quantity."""
        rows = []
        for r in self.records():
            for name in ("accuracy", "new_run", "B_hat"):
                if name in r:
                    rows.append({"model": r["model"], "D": r["D"], "quantity": name, **r[name]})
        return frame(rows)

    def table(self) -> Table:
        """The answer as a table."""
        with_data = bool(np.isfinite(self.tokens).any())
        rows = []
        for k, r in enumerate(self.records()):
            sd, acc, new = float(self.accuracy[:, k].std()), r["accuracy"], r["new_run"]
            row = [r["model"], *([quantity(r["D"])] if with_data else [])]
            row += [with_spread(acc["median"], sd)]
            row += [
                f"{with_spread(s['q05'], sd)} to {with_spread(s['q95'], sd)}" for s in (acc, new)
            ]
            if with_data:
                row += [f"{r['B_hat']['median']:.4f}", f"{r['B_hat']['below_zero']:.2f}"]
            rows.append(row)
        columns = ["", *(["D"] if with_data else []), "accuracy", "90% credible", "90% new run"]
        columns += ["B_hat", "P(< 0)"] if with_data else []
        return Table(columns, rows, self.title, self.warnings, self.notes)


def backbones_of(fit: "Fit", laws: Sequence[str] = ("capability",)) -> "Backbones":
    """The backbones that a capability law was set up for.

    Raises
    ------
    FitError
        The law is none of these capability laws.
    """
    from bayescale.families.family import _frozen
    from bayescale.laws.backbones import Backbones

    name, recipe = fit.law.recipe or ("", "")
    if name not in laws:
        what = "" if "capability-loss" in laws else " of accuracy"
        raise FitError(
            f"law '{fit.law.name}' is no capability law{what}: it has no backbones. Fit "
            f"{' or '.join(laws)}."
        )
    record = json.loads(recipe)["backbones"]
    return Backbones.from_dict({k: v if k == "scores" else _frozen(v) for k, v in record.items()})


def predict_backbones(
    fit: "Fit",
    table: Any = None,
    *,
    D: Any = None,
    model: str = "model",
    family: str | None = None,
    seed: int = 0,
    **effects: float,
) -> BackbonePrediction:
    """Predict the accuracy of backbones from their text benchmarks.

    Parameters
    ----------
    fit : Fit
        Of a capability law.
    table : DataFrame or path, optional
        Benchmark scores of new models, projected on the fit's components; without it the fitted
        backbones are predicted.
    D : number, str or sequence, optional
        Multimodal tokens, for laws that read them.
    model : str
        Column of the table that names the models.
    family : str, optional
        Family of the models, for fits that are pooled over it; else they are of a new one.
    seed : int
        Seed of offsets and noise of new runs.
    **effects
        Values of the law's covariates (0 by default).

    Raises
    ------
    FitError
        No capability law, or D or a covariate is missing or unknown.
    DataError
        The table lacks a benchmark, or holds what is no accuracy.
    """
    known = backbones_of(fit)
    names, points, left, notes = scores_of(known, table, model)
    left = np.asarray(left, dtype=float)
    tokens = _tokens(fit, D)
    each, tokens = np.repeat(np.arange(len(names)), len(tokens)), np.tile(tokens, len(names))
    laws = surface(fit, {"family": family} if family else {}, seed)
    inputs = _inputs(fit, known, points[each], tokens, family, effects)
    draws = np.arange(laws.size)[:, None]
    mean = np.broadcast_to(laws.mean(draws, **inputs), (laws.size, len(each)))
    rate = _rate(laws, inputs, mean)
    found = BackbonePrediction(
        models=tuple(names[int(k)] for k in each),
        tokens=tokens,
        accuracy=mean,
        new_run=new_runs(laws, mean, {}, seed),
        rate=rate,
        unexplained=left[each],
        title=fit.title,
        warnings=fit.warnings,
        notes=notes,
    )
    bad = [m for m, p in zip(found.models, found.negative, strict=True) if p >= LIKELY]
    if not bad:
        return found
    return BackbonePrediction(**{**vars(found), "warnings": (*found.warnings, harmed(bad))})


def harmed(models: Sequence[str]) -> str:
    """What is said of backbones that more data may harm, by the law."""
    return (
        f"B_hat may be below 0 (probability {LIKELY:.0%} or more) for "
        f"{', '.join(dict.fromkeys(models))}: stronger than any observed backbone, where the law "
        "says that data do harm; don't read its trajectory there."
    )


def scores_of(
    known: "Backbones", table: Any, model: str
) -> tuple[Sequence[str], np.ndarray, Sequence[float], tuple[str, ...]]:
    """Names, scores, what the scores leave, and notes: of a table's models, else the fit's own."""
    if table is None:
        return known.names, known.array, [np.nan] * len(known.names), ()
    if known.scores is None:
        raise FitError(
            "this fit was made from scores S_1, S_2, … without the benchmarks behind them; use "
            "fit.predict(S_1=…), or fit with benchmarks or scores."
        )
    new = known.scores.project(table, model=model)
    said = tuple(new.describe()[1:])
    return new.models, new.array, new.unexplained, said


def _tokens(fit: "Fit", D: Any) -> np.ndarray:
    reads = "D" in {i.name for i in fit.law.inputs}
    if reads and D is None:
        raise FitError(f"law '{fit.law.name}' needs D: give multimodal tokens, such as D='50B'.")
    if not reads and D is not None:
        raise FitError(f"this fit of '{fit.law.name}' has no data term; leave D out.")
    return read_values("D", D) if reads else np.array([np.nan])


def _inputs(
    fit: "Fit",
    known: "Backbones",
    points: np.ndarray,
    tokens: np.ndarray,
    family: str | None,
    effects: Mapping[str, float],
) -> dict[str, np.ndarray]:
    names = [i.name for i in fit.law.inputs]
    covariates = [n for n in names if n not in ("S", "D", "family")]
    for name in effects:
        if name not in covariates:
            raise FitError(
                f"unknown argument '{name}'; this fit's covariates are "
                f"{', '.join(covariates) or 'none'}." + nearest(name, covariates)
            )
    found: dict[str, np.ndarray] = {"S": points}
    if "D" in names:
        found["D"] = tokens
    if "family" in names:  # no one stands for a new family
        labels = known.family_names
        found["family"] = np.tile([float(f == family) for f in labels], (len(points), 1))
    return found | {n: np.full(len(points), float(effects.get(n, 0.0))) for n in covariates}


def _rate(laws: Surface, inputs: Mapping[str, np.ndarray], mean: np.ndarray) -> np.ndarray:
    """B_hat: the law is linear in ln D on its own scale, so one e-fold gives it exactly."""
    if "D" not in inputs:
        return np.full(mean.shape, np.nan)
    link = json.loads((laws.fit.law.recipe or ("", "{}"))[1]).get("link")
    at = SCALES["logit" if link == "logit" else "response"]
    draws = np.arange(laws.size)[:, None]
    more = laws.mean(draws, **{**inputs, "D": inputs["D"] * np.e})
    return at.forward(more) - at.forward(mean)
