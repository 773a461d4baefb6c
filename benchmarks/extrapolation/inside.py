"""Mixtures and shifts by a pseudo-extrapolation inside the runs that are fitted.

Of the fitted runs those above C_max/sqrt(10), C_max being their own largest, are held out once
more; the laws are fitted to the rest and predict them.

- ``stack by reach``: the laws, fitted to all of the runs again, mixed with the weights that give
  the best log score there (`bayescale.check.comparison.weights.stacking_weights`).
- ``LAW shifted``: the law's predictions moved in log loss by its mean error there, in proportion
  to the reach ln C - ln C_max of a run (of its own fit) over the mean reach there.

Where no law can be fitted inside (too few runs on a side), weights are equal and nothing moves.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bayescale.check.at_runs import AtRuns, at_runs
from bayescale.check.comparison.stacked import Stack
from bayescale.check.comparison.weights import stacking_weights
from bayescale.check.extrapolation.held import Held, held_from_draws
from bayescale.check.extrapolation.scores import log_score
from bayescale.check.extrapolation.splits import make_splits
from bayescale.data.runs import Runs
from bayescale.errors import DataError
from bayescale.fitted import Fit
from benchmarks.extrapolation.record import Record, from_held

FACTOR = 10**0.5
LEAST = 8  # runs that are fitted inside
STACK, SHIFTED = "stack by reach", "shifted"


def smaller(train: Runs) -> Runs | None:
    """The runs that are fitted inside, or None where these are too few."""
    try:
        (split,) = make_splits(train, f"compute:{FACTOR:.12g}")
    except DataError:
        return None
    return train.select(split.train, split.why) if split.train.sum() >= LEAST else None


def records(
    fits: Mapping[str, Fit],
    within: Mapping[str, Fit],
    train: Runs,
    test: Runs,
    seed: int,
    about: Mapping[str, Any],
) -> Iterator[Record]:
    """Scores of the mixture, and of each law shifted.

    Parameters
    ----------
    fits, within : mapping
        Law -> its fit to all fitted runs, and to the smaller of them.
    train, test : Runs
    seed : int
    about : mapping
        Fields of the records.
    """
    known = [law for law in fits if law in within]
    there = {law: at_runs(within[law], larger(train, within[law]), seed) for law in known}
    weights = weights_of(there) if len(known) == len(fits) else dict.fromkeys(fits, 1 / len(fits))
    told = ", ".join(f"{law} {w:.2f}" for law, w in weights.items())
    mixed = Stack(fits, weights).at_runs(test, seed)
    yield from_held(_held(mixed, test), model=STACK, note=told, **about)
    for law, fit in fits.items():
        slope = slope_of(there[law], within[law], train) if law in known else 0.0
        held = shifted(fit, test, slope * reach(test, train), seed)
        yield from_held(held, model=f"{law} {SHIFTED}", note=f"{slope:.4f} an e-fold", **about)


def larger(train: Runs, fit: Fit) -> Runs:
    """The runs of ``train`` beyond the largest compute of a fit."""
    beyond = reach(train, fit.runs) > 1e-9
    return train.select(beyond, "held out inside")


def reach(runs: Runs, fitted: Runs) -> np.ndarray:
    """ln C of runs over the largest fitted compute, shape (run,)."""
    C, known = (r.column("C").astype(float) for r in (runs, fitted))
    return np.log(C / known.max())


def weights_of(there: Mapping[str, AtRuns]) -> dict[str, float]:
    """Weights of the laws with the best log score of what was held out inside."""
    scored = np.stack([log_score(found.log_density) for found in there.values()], axis=1)
    return dict(zip(there, map(float, stacking_weights(scored)), strict=True))


def slope_of(found: AtRuns, fit: Fit, train: Runs) -> float:
    """Mean error of log loss inside (observed less median) over the mean reach there."""
    error = np.log(found.observed) - np.median(np.log(found.replicate), axis=0)
    return float(error.mean() / reach(larger(train, fit), fit.runs).mean())


def shifted(fit: Fit, test: Runs, shift: np.ndarray, seed: int) -> Held:
    """Predictions moved by ``shift`` of log loss, shape (run,)."""
    response, up = fit.law.response, np.exp(shift)
    # the density of a moved prediction is that of the moved observation
    back = replace(test, table=test.table.assign(**{response: test.column(response) / up}))
    found = at_runs(fit, back, seed)
    moved = AtRuns(
        found.observed * up, found.mean * up, found.replicate * up, found.log_density - shift
    )
    return _held(moved, test)


def _held(found: AtRuns, test: Runs) -> Held:
    return held_from_draws(
        found.replicate, found.observed, test.row_numbers, True, found.log_density
    )
