"""A table of runs with groups, measurement errors and checkpoints, for all inference tests."""

import numpy as np
import pandas as pd
import pytest

import bayescale as bs


@pytest.fixture(scope="session")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    rows = 48
    N, D = 10 ** rng.uniform(7, 10, rows), 10 ** rng.uniform(9, 12, rows)
    corpus = np.resize(["web", "code", "books"], rows)
    E = np.array([{"web": 1.8, "code": 1.1, "books": 2.3}[c] for c in corpus])
    loss = (E + 480 * N**-0.35 + 2000 * D**-0.37) * np.exp(0.01 * rng.standard_normal(rows))
    return pd.DataFrame(
        {
            "N": N,
            "D": D,
            "loss": loss,
            "loss_sd": rng.uniform(0.005, 0.03, rows),
            "corpus": corpus,
            "family": np.resize(["small", "large", "large", "small", "large"], rows),
            "version": np.resize([1, 2], rows),
            "only": "one",
            "run": [f"r{k // 4}" for k in range(rows)],
        }
    )


@pytest.fixture(scope="session")
def runs(table: pd.DataFrame) -> bs.Runs:
    return bs.read_runs(table)
