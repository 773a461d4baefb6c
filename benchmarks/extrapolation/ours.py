"""bayescale's laws on the splits."""

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from bayescale.check.extrapolation.result import Holdout
from benchmarks.extrapolation.record import Record

LAWS = ("chinchilla", "coupled", "auto")


def run(
    sweep: str, runs: Any, factor: float, points: Sequence[str] = (), **options: Any
) -> Iterator[Record]:
    """Scores of both laws, of their stack, and of point estimates if asked for."""
    from bayescale.check import holdout

    split = f"compute:{factor:g}"
    result = holdout(LAWS, runs, split=split, stack=True, points=points, **options)
    for missing in result.failures:
        print(f"{sweep}, {missing.label}: {missing.error}", file=sys.stderr, flush=True)
    yield from _records(sweep, factor, result)


def _records(sweep: str, factor: float, result: Holdout) -> Iterator[Record]:
    for o in result.outcomes:
        found = o.held.scores()
        yield Record(
            sweep=sweep,
            model=o.label,
            factor=factor,
            n_train=o.n_train,
            n_test=found["n_test"],
            coverage=found["coverage"],
            interval_score=found["interval_score"],
            width=found["median_width"],
            rmse=found["rmse_log_loss"],
            converged=None if o.gate is None else o.gate.converged,
        )
