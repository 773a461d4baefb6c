"""The log density of a model on the real line, as one JAX function of (vector, data).

It is computed straight from the declared priors and their bijections; a test shows it equal to
the potential energy of the NumPyro model that the same declarations give.
"""

from collections.abc import Callable
from typing import Any

from bayescale.inference.model import Model
from bayescale.inference.packing import Packing


def log_density(model: Model, packing: Packing) -> Callable[[Any, Any], Any]:
    """The model's log density up to nothing: priors, Jacobians and masked likelihood.

    Returns
    -------
    callable
        ``f(vector, batch)`` -> scalar, for JAX; ``batch`` as from `make_batch`, padded, with the
        centring of pooled parameters (z site -> array) as ``batch["centring"]``.
    """
    import jax.numpy as jnp

    def density(vector: Any, batch: Any) -> Any:
        centring = batch.get("centring") or packing.no_centring()
        unconstrained = packing.split(vector, centring)
        total = packing.log_jacobian(unconstrained, centring)
        values = {}
        for site in packing.sites:
            u = unconstrained[site.name]  # folds of terms and slopes have unit Jacobians
            support = site.prior.support
            values[site.name] = support.constrain(u)
            prior = site.prior.log_density(values[site.name])
            total += jnp.sum(prior + support.log_jacobian(u))
        rows = model.row_log_likelihood(values, batch)
        return total + jnp.sum(jnp.where(batch["mask"], rows, 0.0))

    return density
