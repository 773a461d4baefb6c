"""Slices of a Chinchilla law with known exponents, for IsoFLOP answers."""

import numpy as np

import bayescale as bs

BUDGETS = np.geomspace(1e18, 1e20, 5)
TRUTH = {"E": 1.8, "A": 0.4 * 4e8**0.5, "B": 0.4 * 8e9**0.35, "alpha": 0.5, "beta": 0.35}
A_TRUE = 0.35 / 0.85


def best_size(C):
    """N_opt of the truth at C = 6 N D."""
    p = TRUTH
    G = (p["alpha"] * p["A"] / (p["beta"] * p["B"])) ** (1 / (p["alpha"] + p["beta"]))
    return G * (np.asarray(C) / 6) ** A_TRUE


def simulated(price=lambda N, C: 6.0, sigma=0.001, seed=4, sizes=8):
    """Runs at five budgets, over a factor of six either way of the best size."""
    N = (best_size(BUDGETS)[:, None] * np.geomspace(1 / 6, 6, sizes)).ravel()
    C = np.repeat(BUDGETS, sizes)
    runs = bs.simulate(
        "chinchilla",
        TRUTH | {"sigma": sigma},
        {"N": N, "D": C / 6 / N, "C": C},
        noise=bs.log_normal(),
        seed=seed,
    )
    return runs.assign(D=C / (price(N, C) * N))
