"""The log density of a model on the real line, as one JAX function of (vector, data).

It is computed straight from the declared priors and their bijections; a test shows it equal to
the potential energy of the NumPyro model that the same declarations give.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayescale.inference.model import Model, Site


@dataclass(frozen=True)
class Packing:
    """How site values lie in one flat vector.

    Parameters
    ----------
    sites : tuple of Site
    shapes : tuple of tuple of int
        Shape of each site.
    """

    sites: tuple[Site, ...]
    shapes: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, model: Model, labels: Mapping[str, tuple[str, ...]]) -> "Packing":
        """Packing of a model whose named axes have these labels."""
        shapes = tuple(tuple(len(labels[d]) for d in site.dims) for site in model.sites)
        return cls(model.sites, shapes)

    @property
    def size(self) -> int:
        """Length of the flat vector."""
        return sum(int(np.prod(shape)) for shape in self.shapes)

    def split(self, vector: Any) -> dict[str, Any]:
        """Unconstrained site values from a vector of shape (..., size)."""
        parts, start = {}, 0
        for site, shape in zip(self.sites, self.shapes, strict=True):
            length = int(np.prod(shape))
            part = vector[..., start : start + length]
            parts[site.name] = part.reshape(*vector.shape[:-1], *shape)
            start += length
        return parts

    def constrain(self, vector: Any) -> dict[str, Any]:
        """Site values on their supports from a vector of shape (..., size)."""
        parts = self.split(vector)
        return {s.name: s.prior.support.constrain(parts[s.name]) for s in self.sites}

    def join(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        """The unconstrained vector of given site values; inverse of `constrain`."""
        parts = []
        for site, shape in zip(self.sites, self.shapes, strict=True):
            u = np.asarray(site.prior.support.unconstrain(np.asarray(values[site.name])))
            parts.append(u.reshape(*u.shape[: u.ndim - len(shape)], -1))
        return np.concatenate(parts, axis=-1)

    def sample_prior(self, rng: np.random.Generator, draws: int) -> dict[str, np.ndarray]:
        """Prior draws of each site, shape (draws, ...)."""
        return {
            s.name: s.prior.sample(rng, (draws, *shape))
            for s, shape in zip(self.sites, self.shapes, strict=True)
        }

    def names(self) -> list[str]:
        """A name for each element of the vector, such as ``E_z[2]``."""
        listed = []
        for site, shape in zip(self.sites, self.shapes, strict=True):
            for position in np.ndindex(*shape):
                where = ",".join(str(k) for k in position)
                listed.append(f"{site.name}[{where}]" if shape else site.name)
        return listed


def log_density(model: Model, packing: Packing) -> Callable[[Any, Any], Any]:
    """The model's log density up to nothing: priors, Jacobians and masked likelihood.

    Returns
    -------
    callable
        ``f(vector, batch)`` -> scalar, for JAX; ``batch`` as from `make_batch`, padded.
    """
    import jax.numpy as jnp

    def density(vector: Any, batch: Any) -> Any:
        unconstrained = packing.split(vector)
        total = 0.0
        values = {}
        for site in packing.sites:
            u = unconstrained[site.name]
            support = site.prior.support
            values[site.name] = support.constrain(u)
            prior = site.prior.numpyro().log_prob(values[site.name])
            total += jnp.sum(prior + support.log_jacobian(u))
        rows = model.row_log_likelihood(values, batch)
        return total + jnp.sum(jnp.where(batch["mask"], rows, 0.0))

    return density
