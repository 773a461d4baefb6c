"""The shift: what a law misses of the largest fitted runs, carried on beyond them.

Of the fitted runs those above C_max/sqrt(10), C_max being their own largest, are held out once
more; the law is fitted to the rest and predicts them. Its mean error of log response there, over
the mean reach ln C beyond the runs fitted inside, is the slope by which predictions move per e-fold
of reach: misses of real sweeps are bias more than noise, and grow with reach
(``python -m benchmarks.extrapolation --inside``).
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bayescale.check.at_runs import AtRuns, at_runs
from bayescale.check.extrapolation.splits import make_splits
from bayescale.errors import DataError, FitError

if TYPE_CHECKING:
    from bayescale.data.runs import Runs
    from bayescale.fitted import Fit

FACTOR = 10**0.5
LEAST = 8  # runs to be fitted inside


@dataclass(frozen=True)
class Shift:
    """How a law's predictions move beyond the runs.

    Parameters
    ----------
    slope : float
        Of log response, per e-fold of compute beyond the largest that was fitted.
    largest : float
        That compute, FLOP.
    n_held : int
        Runs held out inside, from which the slope comes; 0 where there were too few.
    """

    slope: float
    largest: float
    n_held: int

    def at(self, C: np.ndarray) -> np.ndarray:
        """Shift of log response at compute C in FLOP; 0 inside the runs."""
        return self.slope * np.maximum(np.log(np.asarray(C, dtype=float) / self.largest), 0.0)


def smaller(train: "Runs") -> "Runs | None":
    """The runs that are fitted inside; None where they are fewer than 8, or have no compute."""
    try:
        (split,) = make_splits(train, f"compute:{FACTOR:.12g}")
    except DataError:
        return None
    return train.select(split.train, split.why) if split.train.sum() >= LEAST else None


def larger(train: "Runs", within: "Fit") -> "Runs":
    """The runs of ``train`` beyond the largest compute of a fit."""
    return train.select(_reach(train, within.runs) > 1e-9, "held out inside")


def find_shift(within: "Fit | None", train: "Runs", seed: int = 0) -> Shift:
    """The shift of a law, from its fit to the `smaller` runs.

    Parameters
    ----------
    within : Fit or None
        None where there were too few runs to fit inside: nothing moves then.
    train : Runs
        All runs that the law was fitted to.
    seed : int
        Of the noise of predictions.

    Raises
    ------
    FitError
        The law's noise is not one of log response.
    """
    largest = float(_compute(train).max())
    if within is None:
        return Shift(0.0, largest, 0)
    if within.model.noise.on != "log":
        raise FitError(
            f"law '{within.law.name}' scatters on the {within.model.noise.on}; a shift is one of "
            "log response."
        )
    held = larger(train, within)
    slope = slope_of(at_runs(within, held, seed), _reach(held, within.runs))
    return Shift(slope, largest, len(held))


def slope_of(found: AtRuns, reach: np.ndarray) -> float:
    """Mean of observed less median log response, over the mean reach."""
    error = np.log(found.observed) - np.median(np.log(found.replicate), axis=0)
    return float(error.mean() / reach.mean())


def shifted_at_runs(fit: "Fit", runs: "Runs", shift: Shift, seed: int = 0) -> AtRuns:
    """What a fit says of given runs once it is shifted; see `bayescale.check.at_runs.at_runs`."""
    response, move = fit.law.response, shift.at(_compute(runs))
    up = np.exp(move)
    # the density of a moved prediction is that of the moved observation
    back = replace(runs, table=runs.table.assign(**{response: runs.column(response) / up}))
    found = at_runs(fit, back, seed)
    return AtRuns(
        found.observed * up, found.mean * up, found.replicate * up, found.log_density - move
    )


def _reach(runs: "Runs", fitted: "Runs") -> np.ndarray:
    """Log of compute over the largest fitted one, shape (run,)."""
    return np.log(_compute(runs) / _compute(fitted).max())


def _compute(runs: "Runs") -> np.ndarray:
    return runs.column("C").astype(np.float64)
