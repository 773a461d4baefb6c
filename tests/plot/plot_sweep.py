"""Simulated runs with known parameters, for the plots' tests."""

import numpy as np
import pandas as pd

TRUTH = {"E": 1.8, "A": 480.0, "B": 2080.0, "alpha": 0.348, "beta": 0.366}
BUDGETS = (6e18, 3e19, 1.5e20, 7e20)
BAD_ROW = 26  # of the sweep, counted from 1: a run gone wrong


def loss_of(N, D):
    return TRUTH["E"] + TRUTH["A"] * N ** -TRUTH["alpha"] + TRUTH["B"] * D ** -TRUTH["beta"]


def sweep(seed=0):
    """Four IsoFLOP slices of seven sizes with 0.5% noise, and one diverged run."""
    rng = np.random.default_rng(seed)
    C = np.repeat(BUDGETS, 7)
    N = np.sqrt(C / 120) * np.tile(np.geomspace(0.25, 4, 7), len(BUDGETS))
    D = C / (6 * N)
    loss = loss_of(N, D) * np.exp(0.005 * rng.standard_normal(len(C)))
    loss[BAD_ROW - 1] *= 1.8
    return pd.DataFrame({"N": N, "D": D, "loss": loss})
