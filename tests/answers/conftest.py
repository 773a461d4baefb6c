"""Fits whose draws are made up, so that answers can be checked against closed forms."""

import numpy as np
import pytest

from bayescale.data import read_runs
from bayescale.data.simulate import simulated_sweep
from bayescale.fitted import Fit
from bayescale.inference.batch import make_layout
from bayescale.inference.gate import Gate
from bayescale.inference.model import Model
from bayescale.inference.packing import Packing
from bayescale.inference.posterior import variables
from bayescale.laws import get_law
from bayescale.noise import Noise
from bayescale.pooling import Pooling

GOOD = Gate((), 1.0, 4000.0, 4000.0, 0, 1.0)


def made_up(law, runs, noise=None, pooling=None, seed=0, draws=50, spread=0.1, gate=GOOD):
    """A fit whose draws scatter around prior medians by ``spread`` (log), without sampling."""
    model = Model(get_law(law), noise or Noise(), Pooling.of(pooling))
    layout = make_layout(model, runs)
    packing = Packing.of(model, layout.labels)
    rng = np.random.default_rng(seed)
    sites = {}
    for site, shape in zip(packing.sites, packing.shapes, strict=True):
        middle = site.prior.support.unconstrain(np.asarray(site.prior.middle()))
        scatter = rng.normal(0, 1 if site.name.endswith("_z") else spread, (2, draws, *shape))
        sites[site.name] = site.prior.support.constrain(middle + scatter)
    stats = {"lp": np.zeros((2, draws))}
    return Fit(
        model=model,
        data=runs,
        layout=layout,
        variables=variables(model, layout, packing, sites),
        stats=stats,
        gate=gate,
        record={"seed": seed},
        scalars={"parameter": []},
    )


@pytest.fixture(scope="session")
def sweep():
    return simulated_sweep()[0]


@pytest.fixture(scope="session")
def chinchilla(sweep):
    return made_up("chinchilla", sweep)


@pytest.fixture(scope="session")
def grouped(sweep):
    table = sweep.table.assign(corpus=["web", "code", "books"] * (len(sweep) // 3))
    return read_runs(table)
