"""Best batch size of a new run, from its composite score."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.backbones import backbones_of, predict_backbones
from bayescale.answers.points import read_values
from bayescale.answers.surface import surface
from bayescale.errors import FitError
from bayescale.noise.rounding import probabilities
from bayescale.scatter import SCALES
from bayescale.tables import Shown, Table, frame, intervals, quantity

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayescale.fitted import Fit


@dataclass(frozen=True)
class BatchSize(Shown):
    """Posterior of the best batch size at some composite scores.

    Parameters
    ----------
    labels : tuple of str
        Name of each point; empty where scores were given as numbers.
    Z : array, shape (draw, point)
        Composite score: the same in all draws where it was given.
    grid : array, shape (value,)
        Batch sizes tried.
    optimum : array, shape (draw, point)
        The law's best batch size, not confined to the grid.
    chance : array, shape (point, value)
        Probability that a study with this grid finds this size to be the best, scatter included.
    beyond : array, shape (point,)
        How far the score is outside the data, in ranges of these; negative below, 0 inside.
    title : str
    converged : bool
    warnings, notes : tuple of str
    """

    labels: tuple[str, ...]
    Z: np.ndarray = field(repr=False)
    grid: np.ndarray
    optimum: np.ndarray = field(repr=False)
    chance: np.ndarray = field(repr=False)
    beyond: np.ndarray = field(repr=False)
    title: str
    converged: bool
    warnings: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def chosen(self) -> np.ndarray:
        """The most probable size of the grid at each point, shape (point,)."""
        return self.grid[self.chance.argmax(axis=1)]

    def records(self) -> list[dict[str, Any]]:
        """A record for each point: Z, optimum, probability of each size."""
        listed = []
        for k in range(len(self.chance)):
            record: dict[str, Any] = {"model": self.labels[k]} if self.labels else {}
            record |= {"Z": float(np.median(self.Z[:, k])), "chosen": float(self.chosen[k])}
            record["optimum"] = intervals(self.optimum[:, k])
            sizes = zip(self.grid, self.chance[k], strict=True)
            record["probability"] = {f"{size:g}": float(p) for size, p in sizes}
            record["outside"] = {
                "inside_data": bool(self.beyond[k] == 0),
                "ranges": float(self.beyond[k]),
            }
            record["beyond_grid"] = {
                "below": float((self.optimum[:, k] < self.grid[0]).mean()),
                "above": float((self.optimum[:, k] > self.grid[-1]).mean()),
            }
            listed.append(record)
        return listed

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {
            "converged": self.converged,
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "batch_sizes": self.records(),
        }

    def to_frame(self) -> "pd.DataFrame":
        """A tidy table: one row for each point and size."""
        rows = []
        for r in self.records():
            start = {k: r[k] for k in ("model", "Z") if k in r}
            for size, p in r["probability"].items():
                rows.append({**start, "batch_size": float(size), "probability": p})
        return frame(rows)

    @property
    def dataset(self) -> "xr.Dataset":
        """Draws of Z and the optimum (draw, point); probabilities (point, size)."""
        import xarray as xr

        arrays = {"Z": (("draw", "point"), self.Z), "optimum": (("draw", "point"), self.optimum)}
        found = xr.Dataset(arrays)
        found["probability"] = (("point", "size"), self.chance)
        return found.assign_coords(size=self.grid)

    def table(self) -> Table:
        """The answer as a table."""
        rows = []
        for r in self.records():
            q = r["optimum"]
            rows.append(
                [
                    *([r["model"]] if self.labels else []),
                    f"{r['Z']:.4g}",
                    quantity(q["median"]),
                    f"{quantity(q['q05'])} to {quantity(q['q95'])}",
                    *(f"{p:.2f}" for p in r["probability"].values()),
                ]
            )
        columns = [*([""] if self.labels else []), "Z", "optimum", "90%"]
        columns += [f"P({size:g})" for size in self.grid]
        lines = ["P: that a study of these sizes finds this one to be the best", *self.notes]
        return Table(columns, rows, self.title, self.warnings, lines)


def batch_size(
    fit: "Fit",
    Z: Any = None,
    *,
    capability: "Fit | None" = None,
    table: Any = None,
    D: Any = None,
    backbones: Sequence[str] | None = None,
    seed: int = 0,
    **options: Any,
) -> BatchSize:
    r"""Predict the best batch size from the composite score.

    :math:`\log_2 b = c_0 + c_1 Z` with :math:`Z = \hat P - P_0` (arXiv:2608.00013, section 4.3),
    per posterior draw; with a fit of the capability law Z has that fit's uncertainty too.

    Parameters
    ----------
    fit : Fit
        Of the law ``batch-size``.
    Z : number or several, optional
        Composite scores.
    capability : Fit, optional
        In place of Z: a fit of the capability law of accuracy, from which Z of backbones follows.
        Its P0 must be the one that the scores of ``fit``'s table were counted from.
    table : DataFrame or path, optional
        With ``capability``: new backbones with their benchmark scores.
    D : number, str or several, optional
        With ``capability``: multimodal tokens.
    backbones : sequence of str, optional
        With ``capability``: those to answer for; default: all.
    seed : int
    **options
        Further arguments of `bayescale.predict_backbones`.

    Returns
    -------
    BatchSize

    Raises
    ------
    FitError
        Not a fit of this law, neither or both of Z and ``capability``, or a capability fit whose
        P0 isn't one number.
    DataError
        Z isn't a number, or a table can't be read.
    """
    grid = fit.model.noise.grid
    if (fit.law.recipe or ("",))[0] != "batch-size" or not grid:
        raise FitError(
            f"law '{fit.law.name}' doesn't tell a best batch size; fit 'batch-size' to a table of "
            "composite scores Z and the best of the sizes tried."
        )
    if (Z is None) == (capability is None):
        raise FitError("give the composite score Z, or a fit of the capability law: one of both.")
    laws = surface(fit, {}, seed)
    if capability is None:
        if table is not None or D is not None or backbones is not None or options:
            raise FitError("table, D and backbones go with capability=, a fit of that law.")
        item = next(i for i in fit.law.inputs if i.name == "Z")
        scores = np.broadcast_to(read_values("Z", Z, item), (laws.size, np.size(Z)))
        labels, notes, warnings = (), (), fit.warnings
    else:
        labels, scores, notes = composite(capability, table, D, backbones, seed, **options)
        pick = np.random.default_rng([seed, 31]).integers(0, len(scores), laws.size)
        scores = scores[pick]
        warnings = (*fit.warnings, *capability.warnings)
    mean = laws.mean(np.arange(laws.size)[:, None], Z=scores)
    noise = fit.model.noise
    params = {p.name: laws.params[p.name][:, None] for p in noise.params()}
    centre, scale = SCALES[noise.on].forward(mean), noise.scale(mean, params, {})
    chance = probabilities(centre, np.broadcast_to(scale, centre.shape), grid, noise.on)
    middle = np.median(scores, axis=0)
    beyond = _beyond(fit, middle)
    return BatchSize(
        labels=labels,
        Z=scores,
        grid=np.array(grid),
        optimum=mean,
        chance=chance.mean(axis=0),
        beyond=beyond,
        title=fit.title,
        converged=fit.converged and (capability is None or capability.converged),
        warnings=(*warnings, *_far(middle, beyond)),
        notes=notes,
    )


def _beyond(fit: "Fit", scores: np.ndarray) -> np.ndarray:
    """How many ranges of the data's scores each lies outside them; negative below."""
    data = fit.extent.span("Z")
    return (scores - np.clip(scores, data.low, data.high)) / (data.high - data.low)


def _far(scores: np.ndarray, beyond: np.ndarray) -> tuple[str, ...]:
    """What is said of scores outside the data."""
    listed = [
        f"{z:.3g} (by {abs(f):.2g} of the data's range)"
        for z, f in zip(scores, beyond, strict=True)
        if f != 0
    ]
    return (f"Z lies beyond the data: {', '.join(listed)}",) if listed else ()


def composite(
    fit: "Fit",
    table: Any = None,
    D: Any = None,
    backbones: Sequence[str] | None = None,
    seed: int = 0,
    **options: Any,
) -> tuple[tuple[str, ...], np.ndarray, tuple[str, ...]]:
    """Names and composite scores Z = P - P0 of backbones, shape (draw, point), with notes.

    Raises
    ------
    FitError
        No capability law of accuracy, a P0 for each family, or an unknown backbone.
    """
    backbones_of(fit)
    level = fit.draws("P0")
    if level.ndim > 1:
        raise FitError("this capability fit has a P0 for each family; Z = P - P0 needs one.")
    found = predict_backbones(fit, table, D=D, seed=seed, **options)
    at = SCALES["logit" if fit.law.param("P0").unit == "log odds" else "response"]
    Z = at.forward(found.accuracy) - level[:, None]
    keep = list(range(len(found.models)))
    if backbones is not None:
        keep = [k for k in keep if found.models[k] in backbones]
        if missing := [n for n in backbones if n not in found.models]:
            raise FitError(f"there is no backbone '{missing[0]}' in that fit.")
    several = len(set(found.tokens[np.isfinite(found.tokens)])) > 1
    names = [f"{found.models[k]} at {quantity(found.tokens[k])}" if several else found.models[k]
             for k in keep]  # fmt: skip
    return tuple(names), Z[:, keep], found.notes
