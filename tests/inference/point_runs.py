"""Runs of Chinchilla's law on a grid, for tests of point estimates."""

import numpy as np
import pandas as pd

import bayescale as bs

TRUTH = {"E": 1.8, "A": 400.0, "B": 2000.0, "alpha": 0.34, "beta": 0.37}


def grid(sizes: int = 6, tokens: int = 6) -> tuple[np.ndarray, np.ndarray]:
    n, d = np.meshgrid(np.geomspace(1e8, 1e10, sizes), np.geomspace(1e9, 2e11, tokens))
    return n.ravel(), d.ravel()


def simulated(sd: float = 0.0, seed: int = 0, **size: int) -> pd.DataFrame:
    n, d = grid(**size)
    loss = bs.get_law("chinchilla").mean(**TRUTH, N=n, D=d)
    noise = np.random.default_rng(seed).standard_normal(len(n))
    return pd.DataFrame({"N": n, "D": d, "loss": loss * np.exp(sd * noise)})
