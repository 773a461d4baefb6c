"""Are ranks uniform? Two exact tests, and the bands that belong to the first.

The empirical distribution of the ranks is compared with the uniform one at every rank, with bands
that hold all of it at once (Säilynoja, Bürkner and Vehtari 2022, arXiv:2103.10522). Ranks are
discrete, so the number of ranks below k is binomial, and what all of these numbers do together is
a walk whose probability of staying within bounds is computed, not simulated: levels split over
many quantities lie in tails that simulation hardly reaches. The second test looks at the spread of
the ranks as normal scores: posteriors that are too wide or too narrow show there first.
"""

import numpy as np

TINY = 1e-10  # below it, one minus a probability is rounding; a bound takes its place
TIE = 1 + 1e-9  # levels this close are one


def below(ranks: np.ndarray, bins: int) -> np.ndarray:
    """How many ranks lie below k, for k = 1 to bins - 1; ranks are 0 to bins - 1."""
    counts = np.bincount(ranks, minlength=bins)
    return np.cumsum(counts)[:-1]


def stay_inside(low: np.ndarray, high: np.ndarray, size: int) -> float:
    """Probability that the counts of `below` stay within bounds, ends included, if uniform.

    Counts of ranks in the bins are Poisson given their sum, so the walk has independent steps
    until the sum is asked for (Moscovich and Nadler 2017, arXiv:1503.04363).

    Parameters
    ----------
    low, high : array of int, shape (bins - 1,)
    size : int
        Number of ranks.
    """
    from scipy.stats import poisson

    rate = size / (len(low) + 1)
    longest = int(min(size, rate + 12 * np.sqrt(rate) + 30))  # beyond: less than 1e-20
    steps = poisson.pmf(np.arange(longest + 1), rate)
    walk, first = np.ones(1), 0
    for least, most in zip((*low, size), (*high, size), strict=True):
        walk = np.convolve(walk, steps)
        # the walk's first element stands for the count `first`
        start, stop = max(int(least) - first, 0), int(most) - first + 1
        walk, first = walk[start:stop], first + start
        if not len(walk):
            return 0.0
    return float(min(1.0, walk.sum() / poisson.pmf(size, size)))


def limits(local: float, size: int, bins: int) -> tuple[np.ndarray, np.ndarray]:
    """Counts of `below` whose own two-sided p-value is above ``local``, ends included."""
    from scipy.stats import binom

    low = binom.ppf(local / 2 * TIE, size, np.arange(1, bins) / bins)
    low = np.maximum(low, 0).astype(int)
    return low, size - low[::-1]


def band(level: float, size: int, bins: int) -> tuple[np.ndarray, np.ndarray]:
    """Bounds that uniform ranks leave anywhere with a probability of at most ``level``.

    Parameters
    ----------
    level : float
        Probability of a false alarm.
    size, bins : int
        Number of ranks, number of possible ranks.

    Returns
    -------
    low, high : array of int, shape (bins - 1,)
        Least and most ranks below k = 1 to bins - 1.
    """
    lowest, highest = np.log(level / bins), np.log(level)
    for _ in range(40):
        middle = (lowest + highest) / 2
        inside = stay_inside(*limits(np.exp(middle), size, bins), size)
        lowest, highest = (middle, highest) if 1 - inside <= level else (lowest, middle)
    return limits(np.exp(lowest), size, bins)


def ecdf_p(ranks: np.ndarray, bins: int) -> float:
    """P-value of the largest departure of the ranks' distribution from the uniform one.

    The departure is the least of the two-sided binomial p-values over all k, so that the middle
    and the ends count alike; `band` at a level is left exactly where this falls below it.
    """
    from scipy.stats import binom

    count, size, share = below(ranks, bins), len(ranks), np.arange(1, bins) / bins
    tails = np.minimum(binom.cdf(count, size, share), binom.sf(count - 1, size, share))
    local = float(min(1.0, 2 * tails.min()))
    if local < TINY:
        return min(1.0, (bins - 1) * local)
    return 1 - stay_inside(*limits(local, size, bins), size)


def spread_p(scores: np.ndarray) -> tuple[float, float]:
    """Whether scores between 0 and 1 spread as uniform ones do.

    As normal scores their squares add up to chi-square with one degree of freedom each (Cook,
    Gelman and Rubin 2006, doi:10.1198/106186006X136976).

    Returns
    -------
    p : float
        Two-sided p-value.
    spread : float
        Mean square: above 1 where truths lie too far out (intervals too narrow), below 1 where
        intervals are too wide.
    """
    from scipy.stats import chi2, norm

    squares = float(np.sum(norm.ppf(scores) ** 2))
    size = len(scores)
    tail = min(chi2.cdf(squares, size), chi2.sf(squares, size))
    return float(min(1.0, 2 * tail)), squares / size
