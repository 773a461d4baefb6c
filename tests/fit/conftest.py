"""Simulated sweeps with a known truth and fits to them, made once for all tests of a session.

All fits of chinchilla here share one compiled program: the same model, and between 129 and 160
rows, which are padded to 160.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import bayescale as bs

TRUTH = {"E": 1.82, "A": 482.0, "B": 2085.0, "alpha": 0.348, "beta": 0.366, "sigma": 0.01}


def simulate(seed: int, rows: int = 150) -> pd.DataFrame:
    """Runs of the Chinchilla law with 1% normal noise on log loss."""
    rng = np.random.default_rng(seed)
    N, D = 10 ** rng.uniform(7.5, 10, rows), 10 ** rng.uniform(9, 11.5, rows)
    t = TRUTH
    mean = t["E"] + t["A"] * N ** -t["alpha"] + t["B"] * D ** -t["beta"]
    return pd.DataFrame(
        {
            "N": N,
            "D": D,
            "loss": mean * np.exp(t["sigma"] * rng.standard_normal(rows)),
            "family": np.resize(["x", "y", "z"], rows),
            "version": np.resize([1, 2], rows),
        }
    )


@pytest.fixture(scope="session")
def truth() -> dict[str, float]:
    alpha, beta = TRUTH["alpha"], TRUTH["beta"]
    return TRUTH | {"a": beta / (alpha + beta), "gamma": alpha * beta / (alpha + beta)}


@pytest.fixture(scope="session")
def table() -> pd.DataFrame:
    return simulate(0)


@pytest.fixture(scope="session")
def chinchilla() -> Callable[..., bs.Fit]:
    """Fit chinchilla to the sweep of a seed, or to a given table."""

    def fit(sweep: int | pd.DataFrame = 0, **options) -> bs.Fit:
        table = simulate(sweep) if isinstance(sweep, int) else sweep
        return bs.fit("chinchilla", table, **options)

    return fit


@pytest.fixture(scope="session")
def fits(chinchilla) -> list[bs.Fit]:
    """Fits to five independent sweeps of one truth."""
    return [chinchilla(seed, seed=seed) for seed in range(5)]


@pytest.fixture(scope="session")
def fit(fits) -> bs.Fit:
    return fits[0]


@pytest.fixture(scope="session")
def own_law() -> bs.Law:
    """A law of a user's own: no equation, no coordinate, two inputs, one of them its own."""
    from bayescale import priors
    from bayescale.law import namespace

    def mean(E, A, alpha, N, width):
        xp = namespace(N)
        return E + A * xp.exp(-alpha * xp.log(N / 1e9)) + 0.1 * xp.exp(-width)

    return bs.Law(
        "mine",
        (bs.Input("N", "parameters"), bs.Input("width", "width in thousands")),
        (
            bs.Param("E", priors.LogNormal(2, 1)),
            bs.Param("A", priors.LogNormal(0.3, 1)),
            bs.Param("alpha", priors.LogNormal(0.3, 0.5)),
        ),
        mean=mean,
    )


@pytest.fixture(scope="session")
def own_table() -> pd.DataFrame:
    rng = np.random.default_rng(12)
    N, width = 10 ** rng.uniform(7, 10, 40), rng.uniform(0.5, 4, 40)
    loss = 2.1 + 0.4 * (N / 1e9) ** -0.25 + 0.1 * np.exp(-width)
    return pd.DataFrame(
        {"N": N, "width": width, "loss": loss * np.exp(0.01 * rng.standard_normal(40))}
    )


@pytest.fixture(scope="session")
def own_fit(own_law, own_table) -> bs.Fit:
    return bs.fit(own_law, own_table, chains=2, draws=200, warmup=200)


@pytest.fixture(scope="session")
def pooled_fit(table) -> bs.Fit:
    """Two grouping columns, one of them of whole numbers, and a checkpoint offset."""
    return bs.fit(
        "chinchilla",
        table,
        pooling={"E": bs.independent("version"), "A": bs.partial("family")},
        noise=bs.log_normal(),
        chains=2,
        draws=200,
        warmup=200,
    )
