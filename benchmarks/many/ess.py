"""Smallest ESS and largest R-hat of a fit's draws, by ArviZ, the same for every sampler.

Rank-normalised (Vehtari et al. 2021, arXiv:1903.08008); the least of bulk and tail ESS, the latter
that of the 5% and 95% quantiles, over every scalar that bayescale reports of a Chinchilla law.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

QUANTITIES = ("E", "A", "B", "alpha", "beta", "a", "b", "gamma", "sigma", "nu", "size_term",
              "data_term")  # fmt: skip


def worst(draws: Mapping[str, np.ndarray]) -> tuple[float, float]:
    """Smallest ESS and largest R-hat over quantities with draws of shape (chain, draw)."""
    from arviz_stats.base.array import array_stats

    stacked = np.stack([draws[name] for name in QUANTITIES])
    axes: dict[str, Any] = {"chain_axis": 1, "draw_axis": 2}
    bulk = array_stats.ess(stacked, method="bulk", **axes)
    tail = array_stats.ess(stacked, method="tail", prob=(0.05, 0.95), **axes)
    rhat = array_stats.rhat(stacked, method="rank", **axes)
    return float(np.min([bulk, tail])), float(np.max(rhat))


def mean_and_sd(values: Any) -> tuple[float, float]:
    """Of draws, as plain numbers."""
    return float(np.mean(values)), float(np.std(values))
