"""The bootstrap of a point estimate: runs drawn again with replacement, the law fitted again."""

from dataclasses import dataclass

import numpy as np

from bayescale.inference.huber import NOT_FINITE, Objective, Optimum, descend

EXTRA = 2  # starts of a replicate besides the optimum of the data themselves
REACH = 3.0  # how far from it they lie, in residual standard deviations a run


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

    Each replicate starts at the optimum of the data and at two points around it; on eight real
    fits, starts drawn from the prior found a lower minimum in none of 60 replicates but for
    kaplan's two, lower by 3 parts in 10,000.

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
    hidden = None if progress is None else not progress
    for _ in tqdm(range(replicates), desc="bootstrap", leave=False, disable=hidden):
        counts = np.bincount(rng.integers(0, rows, rows), minlength=rows)
        moves = REACH * rng.standard_normal((EXTRA, size))
        again = weights * counts
        if np.count_nonzero(again) <= size:
            continue
        gradient = objective.weighted(again)
        starts = [optimum.vector, *(optimum.vector + moves @ optimum.whitening.T)]
        ends = [descend(gradient, s, optimum.unit, optimum.whitening) for s in starts]
        vector, value = min(ends, key=lambda end: end[1])
        if value < NOT_FINITE and np.all(np.isfinite(vector)):
            found.append(vector)
    vectors = np.array(found).reshape(-1, size)
    return Replicates(vectors, replicates - len(vectors))
