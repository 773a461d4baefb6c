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
from typing import Any

import numpy as np

from bayescale.check.at_runs import AtRuns, at_runs
from bayescale.check.comparison.stacked import Stack
from bayescale.check.comparison.weights import stacking_weights
from bayescale.check.extrapolation.held import Held, held_from_draws
from bayescale.check.extrapolation.scores import log_score
from bayescale.check.extrapolation.shift import find_shift, larger, shifted_at_runs
from bayescale.data.runs import Runs
from bayescale.fitted import Fit
from benchmarks.extrapolation.record import Record, from_held

STACK, SHIFTED = "stack by reach", "shifted"


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
    weights = dict.fromkeys(fits, 1 / len(fits))
    if len(known) == len(fits):
        there = {law: at_runs(within[law], larger(train, within[law]), seed) for law in known}
        weights = weights_of(there)
    told = ", ".join(f"{law} {w:.2f}" for law, w in weights.items())
    mixed = Stack(fits, weights).at_runs(test, seed)
    yield from_held(_held(mixed, test), model=STACK, note=told, **about)
    for law, fit in fits.items():
        shift = find_shift(within.get(law), train, seed)
        held = _held(shifted_at_runs(fit, test, shift, seed), test)
        told = f"{shift.slope:.4f} an e-fold, from {shift.n_held} runs"
        yield from_held(held, model=f"{law} {SHIFTED}", note=told, **about)


def weights_of(there: Mapping[str, AtRuns]) -> dict[str, float]:
    """Weights of the laws with the best log score of what was held out inside."""
    scored = np.stack([log_score(found.log_density) for found in there.values()], axis=1)
    return dict(zip(there, map(float, stacking_weights(scored)), strict=True))


def _held(found: AtRuns, test: Runs) -> Held:
    return held_from_draws(
        found.replicate, found.observed, test.row_numbers, True, found.log_density
    )
