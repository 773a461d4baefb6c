"""One row of results: what one model said of one sweep's larger runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayescale.check.extrapolation import scores
from bayescale.check.extrapolation.held import INTERVALS, Held


@dataclass(frozen=True)
class Record:
    """Scores of one model on one split of one sweep, of log loss; intervals of a new run.

    Parameters
    ----------
    sweep, model : str
    factor : float
        The runs with C <= C_max/factor were fitted.
    n_train, n_test : int
    coverage : mapping
        Level ("90") -> share of the held-out runs inside.
    interval_score, width : float
        Of 90% intervals: mean and median over held-out runs.
    rmse : float
        Of the median prediction.
    converged : bool or None
        The fit's verdict on itself, where it has one.
    log_score : float or None
        Mean log predictive density of log loss, nats a run.
    note : str
        What else is to be known, such as weights.
    """

    sweep: str
    model: str
    factor: float
    n_train: int
    n_test: int
    coverage: Mapping[str, float]
    interval_score: float
    width: float
    rmse: float
    converged: bool | None = None
    log_score: float | None = None
    note: str = ""


def from_held(held: Held, **about: Any) -> Record:
    """Scores of what was predicted of held-out runs."""
    found = held.scores()
    density = found["log_score"]
    if density is not None:  # of the logarithm, comparable between sweeps of any unit
        density += float(np.log(held.observed).mean())
    return Record(
        n_test=found["n_test"],
        coverage=found["coverage"],
        interval_score=found["interval_score"],
        width=found["median_width"],
        rmse=found["rmse_log_loss"],
        log_score=density,
        **about,
    )


def from_quantiles(observed: np.ndarray, quantiles: Mapping[str, Any], **about: Any) -> Record:
    """Scores of quantiles of a new run, in the unit of the loss."""
    y = np.log(observed)
    # a quantile below zero, of noise that is additive, has no logarithm: taken as near zero
    at = {q: np.log(np.maximum(np.asarray(v, float), 1e-12)) for q, v in quantiles.items()}
    low, high = at["q05"], at["q95"]
    return Record(
        coverage={k: scores.coverage(y, at[a], at[b]) for k, (a, b) in INTERVALS.items()},
        interval_score=float(scores.interval_score(y, low, high, 0.9).mean()),
        width=float(np.median(high - low)),
        rmse=scores.rmse(y, at["median"]),
        **about,
    )
