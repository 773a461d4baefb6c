"""Sweeps that the chinchilla law can follow or not, fitted and checked once a session."""

from functools import cache

import numpy as np
import pandas as pd

import bayescale as bs
from bayescale.check import ppc
from bayescale.check.predictive.result import PredictiveChecks
from bayescale.data.simulate import simulate

TRUTH = {"E": 1.8, "A": 480.0, "B": 2080.0, "alpha": 0.348, "beta": 0.366, "sigma": 0.005}
C = np.repeat(np.geomspace(6e18, 2e21, 6), 10)
N = np.sqrt(C / 120) * np.tile(np.geomspace(0.2, 5, 10), 6)
U = np.log(C) - np.log(C).mean()
SWEEPS = 20
LIGHT = {"chains": 4, "draws": 250, "warmup": 200, "progress": False}


def sweep(seed: int, **truth: float) -> pd.DataFrame:
    """Six IsoFLOP slices of ten sizes with 0.5% log-normal noise."""
    inputs = {"N": N, "D": C / (6 * N)}
    table = simulate("chinchilla", TRUTH | truth, inputs, noise=bs.log_normal(), seed=seed)
    return table.assign(corpus=np.tile(["web", "code", "books", "web"], 15))


def wrong() -> dict[str, pd.DataFrame]:
    """Sweeps that the law can't follow, each in one way."""
    rng = np.random.default_rng(0)
    factors = {
        "drift": np.exp(0.006 * U**2),
        "tilt": np.where(U < 0, (N / 1e9) ** -0.05, (N / 1e9) ** 0.05),
        "outlier": np.where(np.arange(60) == 17, 1.06, 1.0),
        "groups": np.where(np.arange(60) % 4 == 2, 1.01, 1.0),
        "spread": np.exp(0.02 * (U < 0) * rng.standard_normal(60)),
        "wave": np.exp(0.01 * np.sin(3 * np.log(C))),
    }
    tables = {name: sweep(100 + k) for k, name in enumerate(factors)}
    return {k: t.assign(loss=t["loss"] * factors[k]) for k, t in tables.items()}


@cache
def checked_sweeps() -> dict[str, tuple[bs.Fit, PredictiveChecks]]:
    """Fits of right and wrong sweeps, and the checks of each."""
    sets = {f"right-{k}": sweep(k) for k in range(SWEEPS)} | wrong()
    fits = bs.fit_many("chinchilla", sets, noise=bs.log_normal(), **LIGHT)
    assert not fits.failures
    return {key: (fit, ppc(fit)) for key, fit in fits.items()}
