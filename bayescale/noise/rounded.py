"""A response on a grid as a NumPyro distribution."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from numpyro import distributions as dist
from numpyro.distributions import constraints

from bayescale.noise.rounding import middles
from bayescale.scatter import SCALES

if TYPE_CHECKING:
    from bayescale.noise.noise import Noise


class Rounded(dist.Distribution):
    """The nearest grid value to a normal response, row by row.

    Parameters
    ----------
    noise : Noise
        With a grid.
    mean : array, shape (..., row)
    values, columns : mapping
        As for `Noise.log_density`.
    """

    support: Any = constraints.real  # pyright: ignore[reportIncompatibleMethodOverride]

    def __init__(
        self, noise: "Noise", mean: Any, values: Mapping[str, Any], columns: Mapping[str, Any]
    ) -> None:
        self.noise, self.mean_of_law = noise, mean
        self.values, self.columns = values, columns
        centre, scale = noise.location(mean, values), noise.scale(mean, values, columns)
        super().__init__(batch_shape=jnp.broadcast_shapes(jnp.shape(centre), jnp.shape(scale)))

    def log_prob(self, value: Any, intermediates: Any = None) -> Any:
        """Log probability of each row's value."""
        return self.noise.log_density(value, self.mean_of_law, self.values, self.columns)

    def sample(self, key: Any, sample_shape: tuple[int, ...] = ()) -> Any:
        """Responses drawn and rounded."""
        noise = self.noise
        centre = noise.location(self.mean_of_law, self.values)
        scale = noise.scale(self.mean_of_law, self.values, self.columns)
        shape = (*sample_shape, *self.batch_shape)
        drawn = dist.Normal(centre, scale).expand(list(self.batch_shape)).sample(key, sample_shape)
        grid = np.asarray(noise.grid, dtype=float)
        place = jnp.searchsorted(jnp.asarray(middles(grid, SCALES[noise.on])), drawn)
        return jnp.asarray(grid)[place].reshape(shape)
