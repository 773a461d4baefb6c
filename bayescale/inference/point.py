"""``fit_point``: a law's point estimate by Huber's loss, with bootstrap intervals."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayescale.choosing import choose
from bayescale.errors import DataError, FitError
from bayescale.inference.batch import make_batch, make_layout
from bayescale.inference.bootstrap import bootstrap as resample
from bayescale.inference.curve import Curve, plain_model
from bayescale.inference.evolution import evolve
from bayescale.inference.huber import Objective, Optimum
from bayescale.inference.huber import search as descend_all
from bayescale.inference.point_fit import FEWEST, SEARCHES, PointFit, Starts
from bayescale.law import Law
from bayescale.scatter import SCALES

if TYPE_CHECKING:
    from bayescale.data.runs import Runs

FELT = 1e-6  # change of a fitted log loss per e-fold of a coordinate that the runs still feel
AGREE = 0.01  # relative width up to which starts at one objective have one value
SHARE = 0.25  # of the starts that should end at the best objective


def fit_point(
    law: Law | str,
    runs: Any,
    *,
    delta: float = 1e-3,
    search: str = "descent",
    starts: int | None = None,
    bootstrap: int = 0,
    weights: str | ArrayLike | None = None,
    seed: int = 0,
    progress: bool | None = None,
    **reading: Any,
) -> PointFit:
    r"""Fit a law by least Huber loss on log response, as Hoffmann et al. did (approach 3).

    .. math:: \min_\theta \sum_i w_i \, \mathrm{Huber}_\delta(\ln \hat L_i(\theta) - \ln L_i)

    without priors, from many starts. Laws whose noise is on the response (accuracies) or on its
    log odds have their residuals there. It reproduces papers and stands for comparison beside
    `bayescale.fit`, which also tells how sure one may be.

    Parameters
    ----------
    law : Law or str
        A law's name, a family's with options, or a `Law` of your own.
    runs : Runs, DataFrame, path or data set name
        One row a run, as for `bayescale.fit`.
    delta : float
        Where Huber's loss turns from squared to absolute, in log response (or in accuracy, or
        log odds); ``inf`` is least squares.
    search : {"descent", "evolution"}
        Quasi-Newton descent from many starts; or differential evolution within the priors'
        central 99.8%, then L-BFGS-B there, as arXiv:2608.00013 fits accuracy.
    starts : int, optional
        Starting points: the prior medians, then draws from the priors; priors serve only here.
        50 by default; for "evolution" populations, 3 by default.
    bootstrap : int
        Replicates of the bootstrap over runs; 0 gives no intervals, 1,000 good ones.
    weights : str or array, optional
        Weight of each run, a column or numbers of shape (run,); equal by default.
    seed : int
        The same seed gives the same starts and replicates.
    progress : bool, optional
        A progress bar of the bootstrap; default: where standard error is a terminal.
    **reading
        Passed to `bayescale.read_runs`.

    Returns
    -------
    PointFit

    Raises
    ------
    DataError
        The table can't be read, lacks a column, has too few rows, or a response that has no
        logarithm.
    LawError
        The law is unknown.
    FitError
        A setting is out of range, or no start gives a finite objective.

    References
    ----------
    Hoffmann et al. 2022, arXiv:2203.15556, section 3.3; Besiroglu et al. 2024,
    arXiv:2404.10102, for the sum in place of the mean.
    """
    from bayescale.inference.engine import find_device, float64

    tries = starts if starts is not None else SEARCHES.get(search, (0, ""))[0]
    _check_settings(delta, search, tries, bootstrap, seed, reading)
    chosen, table = choose(law, runs, reading)
    model = plain_model(chosen)
    _check_response(model.law, table)
    layout = make_layout(model, table)
    batch = make_batch(model, table, layout)
    given = _weights(weights, table)
    curve = Curve.of(model, layout)
    _check_rows(curve, table, given)
    streams = [np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(2)]
    device = find_device("cpu")
    with float64(device):
        objective = Objective(curve, batch, float(delta), device)
        if search == "evolution":
            found = evolve(objective, given, tries, int(seed))
        else:
            found = descend_all(objective, given, curve.starts(tries, streams[0]))
        again = resample(objective, found, given, bootstrap, streams[1], progress)
    params = {k: float(v) for k, v in curve.quantities(found.vector).items()}
    tried = _starts(curve, found, tries)
    warnings = _warnings(curve, found, tried, params, given) + _design_warnings(table, model.law)
    if again.failed:
        warnings.append(f"bootstrap replicates failed: {again.failed} of {bootstrap}.")
    return PointFit(
        law=model.law,
        runs=table,
        curve=curve,
        params=params,
        draws=curve.quantities(again.vectors),
        vectors=np.concatenate([found.vector[None], again.vectors]),
        objective=found.objective,
        delta=float(delta),
        residuals=objective.residuals(found.vector),
        weights=given,
        starts=tried,
        failed=again.failed,
        seed=int(seed),
        search=search,
        warnings=tuple(warnings),
    )


def _check_settings(
    delta: float, search: str, starts: int, bootstrap: int, seed: int, reading: dict[str, Any]
) -> None:
    if search not in SEARCHES:
        raise FitError(f"search is {search!r}; expected {' or '.join(SEARCHES)}.")
    for name in ("pooling", "noise", "priors"):
        if name in reading:
            raise FitError(
                f"fit_point has no {name}: it fits one law to all runs by least loss. "
                f"Use bayescale.fit(..., {name}=...), or fit each group with where=."
            )
    if not isinstance(delta, int | float) or math.isnan(delta) or delta <= 0:
        raise FitError(f"delta is {delta!r}; expected a number above 0, or inf for least squares.")
    for name, value, least in (
        ("starts", starts, 1),
        ("bootstrap", bootstrap, 0),
        ("seed", seed, 0),
    ):
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not whole or value < least:
            raise FitError(f"{name} is {value!r}; expected a whole number of at least {least}.")
    if 0 < bootstrap < FEWEST:
        raise FitError(f"bootstrap is {bootstrap}; an interval needs {FEWEST} replicates or more.")


def _check_response(law: Law, runs: "Runs") -> None:
    at = SCALES[law.default_noise.on]
    runs.require([*law.columns, law.response], by=f"law '{law.name}'")
    response = np.asarray(runs.column(law.response), dtype=float)
    bad = np.flatnonzero(~(np.isfinite(response) & (response > at.lower) & (response < at.upper)))
    if len(bad):
        needs = {"log": "its logarithm and needs positive numbers", "logit": "its log odds and "
                 "needs numbers between 0 and 1"}.get(law.default_noise.on, "numbers")  # fmt: skip
        raise DataError(
            f"column '{law.response}' is {response[bad[0]]:g} in row {runs.row_numbers[bad[0]]}; "
            f"the loss is on {needs}."
        )


def _weights(weights: str | ArrayLike | None, runs: "Runs") -> np.ndarray:
    if weights is None:
        return np.ones(len(runs))
    name = f"column '{weights}'" if isinstance(weights, str) else "weights"
    values = runs.column(weights) if isinstance(weights, str) else weights
    try:
        given = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise DataError(f"{name}: weights must be numbers of at least 0.") from None
    if given.shape != (len(runs),):
        raise DataError(
            f"{name}: shape {given.shape}; expected one weight for each of {len(runs)} runs."
        )
    bad = np.flatnonzero(~(np.isfinite(given) & (given >= 0)))
    if len(bad):
        raise DataError(
            f"{name}: {given[bad[0]]:g} in row {runs.row_numbers[bad[0]]}; weights are finite "
            "and at least 0."
        )
    return given


def _check_rows(curve: Curve, runs: "Runs", weights: np.ndarray) -> None:
    size = curve.packing.size
    used, least = int(np.count_nonzero(weights)), size + 1
    if used < least:
        raise DataError(
            f"{runs.source} has {used} run{'s' if used != 1 else ''} with weight; law "
            f"'{curve.model.law.name}' has {size} parameters and a point estimate needs at least "
            f"{least}. Add runs or take a simpler law (see `bayescale laws`)."
        )


def _starts(curve: Curve, found: Optimum, tried: int) -> Starts:
    """How the starts agree: values of each quantity where the best objective was reached."""
    ends = np.concatenate([found.vector[None], found.ends[found.reached]])
    ranges = {k: (float(v.min()), float(v.max())) for k, v in curve.quantities(ends).items()}
    return Starts(tried, int(found.reached.sum()), ranges, tuple(np.sort(found.objectives)))


def _warnings(
    curve: Curve, found: Optimum, tried: Starts, params: dict[str, float], weights: np.ndarray
) -> list[str]:
    """What an honest reader should know of the optimum."""
    felt = np.abs(found.jacobian[weights > 0]).max(axis=0)
    unfelt = [n for n, f in zip(curve.parameter_names(), felt, strict=True) if not f > FELT]
    said = [
        f"{name} ran to its edge ({name} = {params[name]:.3g}): the runs don't need it."
        for name in unfelt
    ]
    if tried.reached < max(1, SHARE * tried.tried):
        said.append(
            f"starts disagree: {tried.reached} of {tried.tried} ended at the best objective; "
            "a lower one may exist. Try more starts."
        )
    wide = {
        k: (low, high)
        for k, (low, high) in tried.ranges.items()
        if not unfelt and high - low > AGREE * max(abs(low), abs(high))
    }
    if wide:
        values = ", ".join(f"{k} from {low:.3g} to {high:.3g}" for k, (low, high) in wide.items())
        said.append(f"starts disagree: the same objective is reached with {values}.")
    return said


def _design_warnings(runs: "Runs", law: Law) -> list[str]:
    from bayescale.data.design import design_report

    if not {"N", "D"} <= {i.name for i in law.inputs if not i.dims}:
        return []
    flags = design_report(runs.column("N"), runs.column("D"))
    return [f"design: {f.message} {f.remedy}" for f in flags]
