"""Simulation-based calibration of chinchilla (Talts et al. 2018, arXiv:1804.06788).

Parameters are drawn from the model's own priors, runs from its own noise, and the posterior is
sampled by the engine that `fit` uses. If the priors, the likelihood, the coordinates' Jacobians
or the sampler were at odds, the ranks of the true values among posterior draws would not be
uniform. The log likelihood is ranked too: it sees errors that cancel in single parameters
(Modrák et al. 2023, arXiv:2211.02383).
"""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayescale as bs
from bayescale.assembling import declaration
from bayescale.inference.batch import make_batch, make_layout
from bayescale.inference.model import Model
from bayescale.inference.packing import Packing
from bayescale.inference.sample import Settings, sample

SETS, RANKS = 100, 100  # data sets; possible ranks (99 posterior draws each)
NAMES = ("E", "size_term", "data_term", "alpha", "beta", "sigma", "nu", "A", "a", "log_likelihood")
LEVEL = 0.001


class Chinchilla:
    """Forty runs on a grid; their losses are replaced in each data set."""

    def __init__(self):
        N, D = np.meshgrid(np.geomspace(3e7, 1e10, 8), np.geomspace(3e9, 3e11, 5))
        frame = pd.DataFrame({"N": N.ravel(), "D": D.ravel(), "loss": 3.0})
        runs = bs.read_runs(frame)
        self.model = Model(bs.get_law("chinchilla"))
        self.layout = make_layout(self.model, runs)
        self.packing = Packing.of(self.model, self.layout.labels)
        self.batch = make_batch(self.model, runs, self.layout)

    def quantities(self, sites, batch):
        """All that is ranked, for draws of the sites."""
        model = self.model
        params = model.to_params(model.by_row(sites, {}), batch["refs"])
        found = {s: v for s, v in sites.items()}
        found |= {"A": params["A"][:, 0], "a": model.derived(params)["a"][:, 0]}
        return found | {"log_likelihood": model.row_log_likelihood(sites, batch).sum(-1)}

    def simulate(self, rng):
        """True values and a data set that they give."""
        sites = self.packing.sample_prior(rng, 1)
        model, batch = self.model, self.batch
        params = model.to_params(model.by_row(sites, {}), batch["refs"])
        mean = model.mean(params, batch["inputs"])
        response = model.noise.draw(rng, mean, params, batch["noise"])[0]
        data = batch | {"response": response}
        return self.quantities(sites, data), data


@pytest.fixture(scope="module")
def ranks() -> dict[str, np.ndarray]:
    """Rank of each true value among 99 thinned posterior draws, shape (set,)."""
    case, found = Chinchilla(), {name: [] for name in NAMES}
    settings = Settings(chains=4, draws=250, warmup=300)
    for k in range(SETS):
        truth, data = case.simulate(np.random.default_rng([2024, k]))
        drawn = sample(case.model, case.packing, data, k, settings, declaration(case.model))
        vectors = drawn.vectors.reshape(-1, case.packing.size)
        kept = vectors[:: len(vectors) // RANKS][1:RANKS]
        posterior = case.quantities(case.packing.constrain(kept, drawn.centring), data)
        for name in NAMES:
            found[name].append(int(np.sum(posterior[name] < truth[name])))
    return {name: np.array(values) for name, values in found.items()}


def uniform(ranks):
    """Ranks as numbers between 0 and 1, spread within their step."""
    spread = np.random.default_rng(7).uniform(size=len(ranks))
    return (ranks + spread) / RANKS


@pytest.mark.parametrize("name", NAMES)
def test_ranks_are_uniform(name, ranks):
    assert stats.kstest(uniform(ranks[name]), "uniform").pvalue > LEVEL / len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_posteriors_are_neither_too_wide_nor_too_narrow(name, ranks):
    """Ranks as normal scores: their squares add up to chi-square with one degree a set."""
    squares = np.sum(stats.norm.ppf(uniform(ranks[name])) ** 2)
    share = stats.chi2(SETS).cdf(squares)
    assert LEVEL / len(NAMES) / 2 < share < 1 - LEVEL / len(NAMES) / 2
