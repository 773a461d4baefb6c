"""The bootstrap of a point estimate: runs drawn again with replacement, the law fitted again."""

from dataclasses import dataclass

import numpy as np

from bayescale.inference.huber import NOT_FINITE, Objective, Optimum, descend

OTHERS = 2  # minima above the best from which a replicate starts too


@dataclass(frozen=True)
class Replicates:
    """Refitted vectors.

    Parameters
    ----------
    vectors : array, shape (replicate, size)
        Those that could be fitted.
    failed : int
        Replicates with too few distinct runs, or without a finite minimum.
    """

    vectors: np.ndarray
    failed: int


def bootstrap(
    objective: Objective,
    optimum: Optimum,
    weights: np.ndarray,
    replicates: int,
    rng: np.random.Generator,
    progress: bool | None = None,
) -> Replicates:
    """Refit to runs drawn with replacement.

    Each replicate starts at the optimum of the data, and at up to two other minima that the
    search found, since a replicate may prefer one of them. Measured on eight fits of 60
    replicates: starts drawn from the prior lowered the objective of 1 in 480, for ten times
    the work.

    Parameters
    ----------
    objective : Objective
    optimum : Optimum
    weights : array, shape (row,)
        Weights of the runs; a run drawn twice counts twice its weight.
    replicates : int
    rng : numpy.random.Generator
    progress : bool, optional
        A progress bar; default: where standard error is a terminal.
    """
    from tqdm.auto import tqdm

    rows, size = objective.rows, objective.size
    found: list[np.ndarray] = []
    starts = [optimum.vector, *optimum.others(OTHERS)]
    hidden = None if progress is None else not progress
    for _ in tqdm(range(replicates), desc="bootstrap", leave=False, disable=hidden):
        counts = np.bincount(rng.integers(0, rows, rows), minlength=rows)
        again = weights * counts
        if np.count_nonzero(again) <= size:
            continue
        gradient = objective.weighted(again)
        ends = [descend(gradient, s, optimum.unit, optimum.whitening) for s in starts]
        vector, value = min(ends, key=lambda end: end[1])
        if value < NOT_FINITE and np.all(np.isfinite(vector)):
            found.append(vector)
    vectors = np.array(found).reshape(-1, size)
    return Replicates(vectors, replicates - len(vectors))
