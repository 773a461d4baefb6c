"""How often intervals hold the truth over many simulated tables, for each way of fitting."""

import time
from dataclasses import dataclass

import numpy as np

import bayescale as bs
from benchmarks.curves.simulation import DataSets, budgets, truth
from benchmarks.curves.ways import Way

LEVELS = (0.5, 0.9)


@dataclass(frozen=True)
class Coverage:
    """What one way of fitting says of one quantity.

    Parameters
    ----------
    way, quantity : str
    held : tuple of float
        Share of data sets whose interval holds the truth, at each level.
    width : float
        Median width of the 90% interval.
    error : float
        Root mean square error of the posterior median.
    fits, unconverged : int
    seconds : float
        Of all fits of this way.
    gradients : float
        Gradient evaluations a draw, median.
    """

    way: str
    quantity: str
    held: tuple[float, ...]
    width: float
    error: float
    fits: int
    unconverged: int
    seconds: float
    gradients: float


def measure(way: Way, size: int, checkpoints: int, seed: int) -> list[Coverage]:
    """Fit many tables in one way, and count."""
    begin = time.perf_counter()
    data = DataSets(way, size, checkpoints, seed)
    fits = bs.fit_many("chinchilla", data, noise=way.noise, seed=seed, progress=False)
    seconds = time.perf_counter() - begin
    drawn = [quantities(fit) for fit in fits.values()]
    gradients = float(np.median([f.record["gradients_per_draw"] for f in fits.values()]))
    bad = sum(not fit.converged for fit in fits.values())
    found = []
    for name, true in truth().items():
        values = [one[name] for one in drawn]
        held = tuple(float(np.mean([holds(v, true, p) for v in values])) for p in LEVELS)
        width = float(np.median([np.ptp(np.quantile(v, [0.05, 0.95])) for v in values]))
        error = float(np.sqrt(np.mean([(np.median(v) - true) ** 2 for v in values])))
        row = (way.name, name, held, width, error, len(drawn), bad, seconds, gradients)
        found.append(Coverage(*row))
    return found


def quantities(fit: bs.Fit) -> dict[str, np.ndarray]:
    """Draws of the allocation exponent and of the best loss at both budgets."""
    E, A, B, alpha, beta = (fit.draws(k) for k in ("E", "A", "B", "alpha", "beta"))
    gamma = alpha * beta / (alpha + beta)
    log_g = np.log(alpha * A / (beta * B)) / (alpha + beta)
    K = A * np.exp(-alpha * log_g) + B * np.exp(beta * log_g)
    best = [E + K * (c / 6) ** -gamma for c in budgets()]
    return {"a": fit.draws("a"), "L*(C_max)": best[0], "L*(10 C_max)": best[1]}


def holds(values: np.ndarray, true: float, level: float) -> bool:
    """Whether the central interval of this level holds the truth."""
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return bool(low <= true <= high)
