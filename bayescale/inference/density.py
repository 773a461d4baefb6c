"""The log density of a model on the real line, as one JAX function of (vector, data).

It is computed straight from the declared priors and their bijections; a test shows it equal to
the potential energy of the NumPyro model that the same declarations give.
"""

from collections.abc import Callable
from typing import Any

from bayescale.inference.levels import moved
from bayescale.inference.model import Model
from bayescale.inference.packing import LEVEL, Packing


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
        supports = {s.name: s.prior.support for s in packing.sites}
        values = {name: supports[name].constrain(u) for name, u in unconstrained.items()}
        if LEVEL in centring:
            shrunk = jnp.exp(-centring["run_offset"] * unconstrained["run_sd"])
            offset = values["run_offset"] - shrunk * moved(model, values, batch, centring)
            values["run_offset"] = unconstrained["run_offset"] = offset
        for site in packing.sites:
            u = unconstrained[site.name]  # folds of terms and slopes have unit Jacobians
            support = supports[site.name]
            prior = site.prior.log_density(values[site.name])
            total += jnp.sum(prior + support.log_jacobian(u))
        rows = model.row_log_likelihood(values, batch)
        return total + jnp.sum(jnp.where(batch["mask"], rows, 0.0))

    return density
