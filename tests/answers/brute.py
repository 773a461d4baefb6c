"""Brute force over dense grids, and fits whose draws come from the prior."""

from dataclasses import replace

import numpy as np
import pandas as pd

from bayescale.data.cost import SIX_ND
from bayescale.data.runs import Runs
from bayescale.inference.posterior import variables
from bayescale.law import Law
from tests.answers.conftest import made_up

MIDDLE = {"log": 3.0, "logit": 0.5, "response": 0.5}
LOW, HIGH = -150.0, 300.0  # ln of sizes and tokens among which wild prior draws have their optimum


def designed(law: Law, rows: int = 60) -> Runs:
    """Runs on a design that the law reads, with a made-up response."""
    rng = np.random.default_rng(20)
    N, D = 10 ** rng.uniform(7, 10, rows), 10 ** rng.uniform(9, 11, rows)
    known = {"N": N, "D": D, "C": 6 * N * D, "U": D / rng.uniform(1, 20, rows)}
    wanted = list(dict.fromkeys((*law.columns, *law.label_columns)))
    table = pd.DataFrame(known if set(wanted) <= set(known) else law.design())
    if "C" not in table and {"N", "D"} <= set(table):
        table["C"] = 6 * table["N"] * table["D"]
    if "D" not in table and {"N", "C"} <= set(table):
        table["D"] = table["C"] / (6 * table["N"])
    table[law.response] = MIDDLE[law.default_noise.on]
    for column in {c for c in (law.default_noise.by, law.default_noise.runs) if c}:
        if column not in table:
            table[column] = np.resize(["first", "second"], len(table))
    return Runs(table, {}, SIX_ND, np.arange(1, len(table) + 1), (), "design", "")


def prior_fit(law: Law, draws: int = 15, seed: int = 3):
    """A fit of two chains whose draws are the prior's."""
    fit = made_up(law, designed(law), noise=law.default_noise, draws=draws)
    sampled = fit.packing.sample_prior(np.random.default_rng(seed), 2 * draws)
    sites = {k: np.reshape(v, (2, draws, *np.shape(v)[1:])) for k, v in sampled.items()}
    return replace(fit, variables=variables(fit.model, fit.layout, fit.packing, sites))


def least(function, low, high, draws: int, points: int = 601, rounds: int = 14):
    """Minimum over x of a function of (draw, point) arrays: dense grids, each inside the last.

    Returns
    -------
    x, value : array, shape (draw,)
    """
    low, high = (np.broadcast_to(np.asarray(v, float), (draws,)) for v in (low, high))
    rows = np.arange(draws)
    for _ in range(rounds):
        x = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, points)
        with np.errstate(all="ignore"):
            values = np.broadcast_to(function(x), x.shape)
        best = np.argmin(np.where(np.isfinite(values), values, np.inf), axis=1)
        low, high = x[rows, np.maximum(best - 2, 0)], x[rows, np.minimum(best + 2, points - 1)]
    return x[rows, best], values[rows, best]
