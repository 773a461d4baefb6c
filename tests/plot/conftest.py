"""Small fits that the plots are tried on: few draws, simulated runs with known parameters."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from plot_sweep import loss_of, sweep

import bayescale as bs

FEW = {"chains": 2, "draws": 200, "warmup": 200, "progress": False}


@pytest.fixture(autouse=True, scope="session")
def no_window():
    matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def nothing_left_behind():
    """No plot changes matplotlib's settings, or leaves a figure of pyplot's open."""
    import matplotlib.pyplot as plt

    before, opened = dict(matplotlib.rcParams), plt.get_fignums()
    yield
    assert dict(matplotlib.rcParams) == before
    assert plt.get_fignums() == opened


@pytest.fixture
def ax():
    """Axes of a figure that pyplot doesn't know."""
    from matplotlib.figure import Figure

    return Figure(figsize=(6, 4), layout="constrained").add_subplot()


@pytest.fixture
def figure():
    from matplotlib.figure import Figure

    return Figure(figsize=(9, 6), layout="constrained")


@pytest.fixture(scope="session")
def fit(compile_cache):
    return bs.fit("chinchilla", sweep(), seed=1, **FEW)


@pytest.fixture(scope="session")
def one_size(compile_cache):
    """A design that says nothing about alpha."""
    rng = np.random.default_rng(2)
    N, D = np.full(28, 1e8), np.geomspace(1e9, 1e11, 28)
    loss = loss_of(N, D) * np.exp(0.005 * rng.standard_normal(28))
    return bs.fit("chinchilla", pd.DataFrame({"N": N, "D": D, "loss": loss}), seed=1, **FEW)


@pytest.fixture(scope="session")
def power(compile_cache):
    """A law of one variable."""
    rng = np.random.default_rng(3)
    N = np.geomspace(1e7, 1e10, 25)
    loss = (1.8 + 480 * N**-0.348) * np.exp(0.005 * rng.standard_normal(25))
    return bs.fit("power-law-N", pd.DataFrame({"N": N, "loss": loss}), seed=1, **FEW)


@pytest.fixture(scope="session")
def pooled(compile_cache):
    """Two corpora that differ in E."""
    one, other = sweep(4), sweep(5)
    other["loss"] += 0.2
    runs = pd.concat([one.assign(corpus="web"), other.assign(corpus="books")])
    return bs.fit("chinchilla", runs, pooling={"E": bs.partial("corpus")}, seed=1, **FEW)
