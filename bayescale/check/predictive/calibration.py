"""Calibration: where each run falls in its own predictive distribution, fitted without it."""

import numpy as np

from bayescale.check.lazy_jax import unloaded_jax_hidden
from bayescale.check.predictive.advice import varying_noise
from bayescale.check.predictive.quantity import Checked, Picture, Quantity
from bayescale.check.predictive.replicates import Replicates

SIMULATED = 2000  # sets of uniform numbers, for the bands of the picture
MOST = 4000  # runs; of more, an even part


def calibration(seen: Replicates, rng: np.random.Generator) -> Checked:
    r"""Whether leave-one-out PIT values are uniform.

    :math:`u_i = \sum_s w_{is} F(y_i \mid \theta_s)` with Pareto-smoothed importance weights
    (PSIS, Vehtari et al., arXiv:1507.02646). They depend on each other, since every fit shares
    nearly all runs; the p-value is from the pointwise order test with a truncated Cauchy
    combination (Tesso & Vehtari, arXiv:2603.02928), which allows for that. The observed number
    is the largest difference between their ECDF and the diagonal, in percent of runs.
    """
    rows = np.unique(np.linspace(0, seen.pit.shape[1] - 1, MOST).round().astype(int))
    limit = largest_k(seen.size)
    pit, k = loo_pit(seen.pit[:, rows], seen.log_density[:, rows])
    p_value, count, bad = uniformity(pit), len(pit), int(np.sum(k > limit))
    null = np.sort(rng.random((SIMULATED, count)), axis=1)
    grid = (np.arange(1, count + 1) - 0.5) / count
    distances = np.abs(null - grid).max(axis=1) + 0.5 / count
    ordered = np.sort(pit)
    inside = np.mean((pit > 0.05) & (pit < 0.95))
    low, middle, high = 100 * np.quantile(distances, [0.05, 0.5, 0.95])
    quantity = Quantity(
        name="PIT uniform",
        unit="% of runs",
        observed=float(100 * (np.abs(ordered - grid).max() + 0.5 / count)),
        q05=float(low),
        median=float(middle),
        q95=float(high),
        p_value=p_value,
        mcse=0.0,
        advice="look at the trends first: a wrong law shows here too; then "
        + ("Student-t noise, or " if seen.model.noise.tail == "normal" else "")
        + varying_noise(seen.model),
        detail=f"{inside:.0%} of runs in their 90% interval",
        sided="low",
    )
    note = (
        f"{bad} of {count} runs have a Pareto k above {limit:.2f}: their leave-one-out values lean "
        "towards the middle, which hides misfit"
        if bad
        else ""
    )
    data = {"grid": grid, "y": 100 * (grid - ordered)} | _bands(grid, null)
    picture = Picture("pit", "uniform quantile", "uniform minus PIT quantile (%)", data)
    return Checked("calibration", "Calibration", (quantity,), picture, note)


def loo_pit(pit: np.ndarray, log_density: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Leave-one-out PIT of each run, and the Pareto k of its weights.

    Parameters
    ----------
    pit, log_density : array, shape (draw, run)
    """
    from arviz_stats.base.array import array_stats

    with unloaded_jax_hidden():
        log_weights, k = array_stats.psislw(log_density.T)  # takes log densities, not ratios
    weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    values = np.einsum("rd,dr->r", weights, pit)
    # a value of exactly 0 or 1 has no place in an order test
    return np.clip(values, 1e-12, 1 - 1e-12), np.asarray(k)


def largest_k(draws: int) -> float:
    """Pareto k above which weights of so many draws can't be trusted (arXiv:1507.02646)."""
    return float(min(1 - 1 / np.log10(draws), 0.7))


def uniformity(pit: np.ndarray) -> float:
    """p-value of the hypothesis that dependent PIT values are uniform."""
    from arviz_stats.base.array import array_stats

    with unloaded_jax_hidden():
        return float(array_stats.uniformity_test(pit, method="pot_c")[0])


def _bands(grid: np.ndarray, null: np.ndarray) -> dict[str, np.ndarray]:
    """Simultaneous bands of the ECDF difference of independent uniform values.

    The narrowest pointwise bands (by beta quantiles of order statistics) that 90% and 50% of
    simulated sets stay inside (Saeilynoja, Buerkner & Vehtari, arXiv:2103.10522).
    """
    from scipy.special import betainc, betaincinv

    count = len(grid)
    first, last = np.arange(1, count + 1), np.arange(count, 0, -1)
    inside = betainc(first, last, null)
    rarest = np.minimum(inside, 1 - inside).min(axis=1)
    found = {}
    for level, names in ((0.9, ("q05", "q95")), (0.5, ("q25", "q75"))):
        each = np.quantile(rarest, 1 - level)
        for name, share in zip(names, (1 - each, each), strict=True):
            found[name] = 100 * (grid - betaincinv(first, last, share))
    return found
