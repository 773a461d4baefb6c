"""Other centres of the prior of the drift's scale, and the one that other families choose.

The centre of LogNormal(c, .5) is chosen from `CENTRES` for each family of sweeps by the others
alone: the largest mean log score of the held-out runs, a mean over families of means over their
sweeps. This rule stood before any of the centres but .004 was scored.

Fits are not repeated: draws under .004 are weighted by the ratio of the priors of their scale,
and drawn again with these weights.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayescale.check.at_runs import at_runs
from bayescale.check.extrapolation.held import held_from_draws
from bayescale.data.runs import Runs
from bayescale.drift import SCALE
from bayescale.fitted import Fit
from bayescale.priors import LogNormal
from benchmarks.extrapolation.record import Record, from_held
from benchmarks.extrapolation.sweeps import family

CENTRES = (0.002, 0.003, 0.004, 0.006, 0.008)
LEARNT, LABEL = "auto, centre learnt", "auto, centre {:g}"


def records(fit: Fit, test: Runs, seed: int, about: Mapping[str, Any]) -> Iterator[Record]:
    """Scores under each centre."""
    found = at_runs(fit, test, seed)
    drift = fit.model.drift
    assert drift is not None
    for centre in CENTRES:
        weights = reweighted(fit.sites[SCALE], drift.scale, LogNormal(centre, 0.5))
        picks = systematic(weights, np.random.default_rng([seed, 43]))
        held = held_from_draws(
            found.replicate[picks], found.observed, test.row_numbers, True,
            found.log_density[picks],
        )  # fmt: skip
        told = f"{1 / np.square(weights).sum():.0f} effective draws"
        yield from_held(held, model=LABEL.format(centre), note=told, **about)


def scaled(record: Record) -> bool:
    """Whether a record is of a centre."""
    return record.model in [LABEL.format(c) for c in CENTRES]


def reweighted(scale: np.ndarray, drawn: Any, wanted: Any) -> np.ndarray:
    """Weights of draws, of sum 1, that turn one prior of their scale into another."""
    ratio = np.asarray(wanted.log_density(scale)) - np.asarray(drawn.log_density(scale))
    weights = np.exp(ratio - ratio.max())
    return weights / weights.sum()


def systematic(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Positions of draws, each as often as its weight says, rounded up or down at random."""
    count = len(weights)
    places = (np.arange(count) + rng.random()) / count
    return np.minimum(np.searchsorted(np.cumsum(weights), places), count - 1)


def learnt(records: Sequence[Record]) -> tuple[list[Record], dict[str, float]]:
    """Each sweep's record under the centre that the other families choose, and that centre.

    Parameters
    ----------
    records : sequence of Record
        Of one factor, those of all centres among them.
    """
    scored: dict[str, dict[float, dict[str, Record]]] = {}
    for centre in CENTRES:
        for r in records:
            if r.model == LABEL.format(centre):
                of = scored.setdefault(family(r.sweep), {}).setdefault(centre, {})
                of[r.sweep] = r
    chosen = {left_out: _best(scored, left_out) for left_out in scored}
    picked = [
        replace(r, model=LEARNT) for name, c in chosen.items() for r in scored[name][c].values()
    ]
    return picked, chosen


def _best(scored: Mapping[str, Mapping[float, Mapping[str, Record]]], left_out: str) -> float:
    def score(centre: float) -> float:
        others = (f[centre].values() for name, f in scored.items() if name != left_out)
        return float(np.mean([np.mean([_log_score(r) for r in one]) for one in others]))

    return max(CENTRES, key=score)


def _log_score(record: Record) -> float:
    assert record.log_score is not None
    return record.log_score
