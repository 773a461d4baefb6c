"""Small sweeps of the Chinchilla law, importable by worker processes."""

import numpy as np
import pandas as pd

TRUTH = {"E": 1.8, "A": 480.0, "B": 2000.0, "alpha": 0.35, "beta": 0.37, "sigma": 0.01}


def sweep(seed: int, rows: int = 60) -> pd.DataFrame:
    """A random design with 1% normal noise on log loss."""
    rng = np.random.default_rng(seed)
    N, D = 10 ** rng.uniform(7.5, 10, rows), 10 ** rng.uniform(9, 11.5, rows)
    t = TRUTH
    mean = t["E"] + t["A"] * N ** -t["alpha"] + t["B"] * D ** -t["beta"]
    return pd.DataFrame({"N": N, "D": D, "loss": mean * np.exp(t["sigma"] * rng.normal(size=rows))})


def sweeps(count: int, rows: int = 60) -> list[pd.DataFrame]:
    return [sweep(seed, rows) for seed in range(count)]


def draws(fit):
    """All draws of the sampled sites, for comparing fits bit by bit."""
    return np.concatenate([fit.variables[s.name].values.ravel() for s in fit.packing.sites])
