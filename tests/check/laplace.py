"""Fits by Laplace's approximation: draws around the mode, without sampling or JAX."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import minimize

from bayescale.fitted import Fit
from bayescale.inference.batch import make_batch
from bayescale.inference.posterior import variables
from tests.answers.conftest import made_up


def laplace(law: Any, runs: Any, noise: Any = None, draws: int = 250, seed: int = 0) -> Fit:
    """A fit of an unpooled model whose draws are normal around its posterior mode."""
    fit = made_up(law, runs, noise)
    packing, batch = fit.packing, make_batch(fit.model, runs, fit.layout)

    def negative(vector: np.ndarray) -> float:
        sites = packing.constrain(vector[None])
        total = fit.model.row_log_likelihood(sites, batch).sum()
        for site in packing.sites:
            support = site.prior.support
            total += np.sum(site.prior.log_density(sites[site.name]))
            total += np.sum(support.log_jacobian(support.unconstrain(sites[site.name])))
        return -float(total) if np.isfinite(total) else 1e10

    start = packing.join({s.name: np.asarray(s.prior.middle()) for s in packing.sites})
    found: Any = minimize(negative, start, method="Nelder-Mead", options={"maxiter": 1500})
    found = minimize(negative, found.x, method="BFGS")
    rng = np.random.default_rng(seed)
    covariance = (found.hess_inv + found.hess_inv.T) / 2
    vectors = rng.multivariate_normal(found.x, covariance, (4, draws))
    kept = variables(fit.model, fit.layout, packing, packing.constrain(vectors))
    return replace(fit, variables=kept, stats={"lp": np.zeros((4, draws))})


def real_record(fit: Fit) -> Fit:
    """The fit with the record of a sampled one, so that it can be saved."""
    record = {"seed": 0, "settings": {"chains": 4}, "device": "cpu", "x64": True}
    record |= {"versions": {"bayescale": "0"}, "seconds": 0.0}
    return replace(fit, record=record, scalars={"parameter": ["E"], "mean": [0.0]})
