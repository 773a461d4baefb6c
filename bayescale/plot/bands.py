"""What plots draw: quantile bands of a fit's answers along a line of inputs, group by group."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.allocation import allocate, check_law
from bayescale.answers.optimum import optimum
from bayescale.answers.prediction import predict
from bayescale.answers.surface import Surface, surface
from bayescale.answers.wander import compute_range
from bayescale.errors import FitError

if TYPE_CHECKING:
    from bayescale.data.cost import CostModel
    from bayescale.fitted import Fit

LEVELS = (0.9, 0.5)
DRAWS = 1000  # the 5% quantile of more draws would move by less than a line's width
POINTS = 33  # along a line; between them frontiers are straight to the eye
MAX_GROUPS = 6
MAX_ROWS = 20_000  # of runs drawn one by one


@dataclass(frozen=True)
class Bands:
    """Median and central intervals of draws along x.

    Parameters
    ----------
    x : array, shape (point,)
    median : array, shape (point,)
    intervals : mapping
        Level (0.9) -> (lower, upper), each of shape (point,).
    """

    x: np.ndarray
    median: np.ndarray
    intervals: Mapping[float, tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Group:
    """A part of a fit that has a law of its own.

    Parameters
    ----------
    label : str
        Its name in a legend; empty where the fit has one law.
    where : mapping
        Grouping column -> group, as `surface` takes it.
    rows : boolean array, shape (run,)
        The runs that belong to it.
    """

    label: str
    where: Mapping[str, str]
    rows: np.ndarray


def bands(x: np.ndarray, draws: np.ndarray) -> Bands:
    """Quantiles of draws, shape (draw, point), at each x.

    Draws without a value (NaN) are left out where they have none; a point that no draw
    reaches is NaN.
    """
    found = np.full((1 + 2 * len(LEVELS), len(x)), np.nan)
    wanted = [0.5, *(q for level in LEVELS for q in (0.5 - level / 2, 0.5 + level / 2))]
    some = np.isfinite(draws).any(axis=0)
    if some.any():
        finite = np.where(np.isfinite(draws), draws, np.nan)
        found[:, some] = np.nanquantile(finite[:, some], wanted, axis=0)
    pairs = zip(found[1::2], found[2::2], strict=True)
    return Bands(np.asarray(x), found[0], dict(zip(LEVELS, pairs, strict=True)))


def thinned(fit: "Fit", draws: int = DRAWS) -> "Fit":
    """The fit with at most about ``draws`` draws, evenly spaced, for speed."""
    chains, length = fit.stats["lp"].shape
    step = -(-chains * length // draws)
    if step == 1:
        return fit
    kept = {k: replace(v, values=v.values[:, ::step]) for k, v in fit.variables.items()}
    return replace(fit, variables=kept)


def groups(fit: "Fit", asked: Mapping[str, Any], most: int = MAX_GROUPS) -> list[Group]:
    """The groups to draw: those asked for, else all of them.

    Parameters
    ----------
    asked : mapping
        Grouping column -> group.
    most : int
        More groups than this are not drawn at once.

    Raises
    ------
    FitError
        An unknown column or group, or too many groups.
    """
    chosen = {k: str(v) for k, v in asked.items()}
    every = dict.fromkeys((*fit.model.columns, *fit.law.label_columns))
    columns = [c for c in every if c not in _run_columns(fit)]
    if not all(v in fit.layout.labels.get(c, ()) for c, v in chosen.items()):
        surface(fit, chosen)  # refuses, and names the nearest
    if not fit.has_runs and not set(columns) - set(chosen):  # no rows to point at
        return [Group(", ".join(chosen.values()), chosen, np.zeros(0, dtype=bool))]
    names = {c: fit.runs.table[c].astype(str).to_numpy() for c in columns}
    mask = np.ones(len(fit.runs), dtype=bool)
    for column in chosen.keys() & names.keys():
        mask &= names[column] == chosen[column]
    open_columns = [c for c in columns if c not in chosen]
    if not open_columns:
        return [Group(", ".join(chosen.values()), chosen, mask)]
    combos = list(dict.fromkeys(zip(*(names[c][mask] for c in open_columns), strict=True)))
    if len(combos) > most:
        first = ", ".join(f"{c}='{v}'" for c, v in zip(open_columns, combos[0], strict=True))
        listed = ", ".join("/".join(combo) for combo in combos[:10])
        raise FitError(
            f"this fit has {len(combos)} groups by {', '.join(open_columns)}, and this plot shows "
            f"{most} at most: say which, e.g. {first} (known: {listed})."
        )
    return [_group(open_columns, combo, chosen, names, mask) for combo in combos]


def _group(
    columns: list[str],
    combo: tuple[str, ...],
    chosen: Mapping[str, str],
    names: Mapping[str, np.ndarray],
    mask: np.ndarray,
) -> Group:
    rows = mask.copy()
    for column, label in zip(columns, combo, strict=True):
        rows &= names[column] == label
    where = {**chosen, **dict(zip(columns, combo, strict=True))}
    return Group("/".join(combo), where, rows)


def _run_columns(fit: "Fit") -> set[str]:
    """Columns that only tell the runs of offsets apart: a new run has an offset of its own."""
    own = {fit.model.noise.runs} if fit.model.noise.runs else set()
    return own - set(fit.model.pooling.columns)


def frontier(
    fit: "Fit",
    group: Group,
    budgets: np.ndarray,
    cost: "CostModel | None" = None,
    seed: int = 0,
) -> dict[str, np.ndarray]:
    """Optimum of every draw along budgets; see `bayescale.answers.optimum.optimum`.

    Returns
    -------
    dict
        N_opt, D_opt, tokens_per_param, loss, a, b: arrays of shape (draw, budget).

    Raises
    ------
    FitError
        The law has no N and D, compute doesn't fix the size, or no draw has an optimum.
    """
    check_law(fit)
    price = cost or fit.extent.cost
    if price.kind != "active":
        found = optimum(law_of(fit, group, seed), price, budgets, compute_range(fit.extent))
        if np.isfinite(found["N_opt"]).any():
            return found
    allocate(fit, budgets[-1:], cost=cost, seed=seed, **group.where)  # says why there is none
    raise FitError("no posterior draw has an optimum at these budgets.")


def law_of(fit: "Fit", group: Group, seed: int = 0) -> Surface:
    """The laws of all draws for one group."""
    return surface(fit, group.where, seed)


def stated(fit: "Fit", truth: Mapping[str, float]) -> Surface:
    """The law with stated parameters, as a surface of one draw.

    Raises
    ------
    FitError
        A parameter of the law is missing.
    """
    names = [p.name for p in fit.law.params]
    missing = [n for n in names if n not in truth]
    if missing:
        raise FitError(
            f"truth lacks {', '.join(missing)}; give every parameter of law '{fit.law.name}': "
            f"{', '.join(names)}."
        )
    return Surface(fit, {n: np.array([float(truth[n])]) for n in names}, {})


def budgets_of(fit: "Fit", parts: list[Group], extend: float) -> np.ndarray:
    """Budgets along a frontier: from the smallest run of some groups to beyond the largest.

    Raises
    ------
    FitError
        The law isn't one of N and D.
    """
    check_law(fit)
    return span(fit, parts, "C", extend)


def span(fit: "Fit", parts: list[Group], name: str, extend: float) -> np.ndarray:
    """Points from the smallest run of some groups to ``extend`` decades beyond the largest.

    Raises
    ------
    FitError
        ``extend`` is no number of decades, or the column has values that no log axis can show.
    """
    if isinstance(extend, bool) or not isinstance(extend, int | float) or not 0 <= extend <= 20:
        raise FitError(f"extend is {extend!r}; expected a number of decades from 0 to 20.")
    low, high = data_range(fit, parts, name)
    if low <= 0:
        raise FitError(f"{name} is not positive in all runs, so it has no logarithmic axis.")
    return np.geomspace(low, high * 10.0**extend, POINTS)


def data_range(fit: "Fit", parts: list[Group], name: str) -> tuple[float, float]:
    """Smallest and largest value of a column among the runs of some groups."""
    if not fit.has_runs:
        return fit.extent.span(name).low, fit.extent.span(name).high
    fit.runs.require([name], by="this plot")
    rows = np.any([part.rows for part in parts], axis=0)
    values = fit.runs.column(name)[rows]
    return float(values.min()), float(values.max())


def shown_rows(fit: "Fit", rows: np.ndarray | None = None) -> np.ndarray:
    """Positions of the runs to draw: all, or a random 20,000 of a larger table."""
    picked = np.arange(len(fit.runs)) if rows is None else np.flatnonzero(rows)
    if len(picked) <= MAX_ROWS:
        return picked
    rng = np.random.default_rng([fit.seed, 31])
    return np.sort(rng.choice(picked, MAX_ROWS, replace=False))


@dataclass(frozen=True)
class Residuals:
    """Runs against what the fit expects of them.

    Parameters
    ----------
    rows : array, shape (run,)
        Positions in the table.
    fitted : array, shape (run,)
        Posterior median of the law's mean.
    residual : array, shape (run,)
        Percent of the fitted value (noise on the log), or in the response's unit.
    replicates : array, shape (draw, run)
        A new run in place of each, on the same scale.
    """

    rows: np.ndarray
    fitted: np.ndarray
    residual: np.ndarray
    replicates: np.ndarray


def residuals_of(fit: "Fit", parts: list[Group], seed: int = 0) -> Residuals:
    """Residuals of the runs of some groups, by `bayescale.answers.prediction.predict`."""
    pieces = [piece for part in parts for piece in _chunks(fit, part, seed)]
    order = np.argsort(np.concatenate([p.rows for p in pieces]))
    return Residuals(
        rows=np.concatenate([p.rows for p in pieces])[order],
        fitted=np.concatenate([p.fitted for p in pieces])[order],
        residual=np.concatenate([p.residual for p in pieces])[order],
        replicates=np.concatenate([p.replicates for p in pieces], axis=1)[:, order],
    )


_CHUNK = 2000  # rows predicted at once: draws x rows have to lie in memory


def _chunks(fit: "Fit", part: Group, seed: int) -> Iterator[Residuals]:
    shown = shown_rows(fit, part.rows)
    few = thinned(fit, max(100, min(DRAWS, 2_000_000 // len(shown))))
    for start in range(0, len(shown), _CHUNK):
        rows = shown[start : start + _CHUNK]
        inputs = {c: fit.runs.column(c)[rows] for c in fit.law.number_columns}
        answer = predict(few, seed=seed, **inputs, **part.where)
        fitted = np.median(answer.loss, axis=0)
        observed = fit.runs.column(fit.law.response)[rows]
        relative = fit.model.noise.on == "log"

        def scaled(values: np.ndarray, fitted: np.ndarray = fitted, log: bool = relative) -> Any:
            return 100 * (values / fitted - 1) if log else values - fitted

        yield Residuals(rows, fitted, scaled(observed), scaled(answer.new_run))
