"""All rows of a table as one NumPyro distribution, for noise that a run remembers."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
from numpyro import distributions as dist
from numpyro.distributions import constraints

from bayescale.noise import Noise
from bayescale.noise.memory import correlation
from bayescale.noise.tails import TAILS
from bayescale.scatter import SCALES


class Remembered(dist.Distribution):
    """Joint distribution of the responses of all rows: AR(1) along each run.

    Parameters
    ----------
    noise : Noise
    mean : array, shape (row,)
    values, columns : mapping
        As for `Noise.log_density`.
    """

    support: Any = constraints.real_vector  # pyright: ignore[reportIncompatibleMethodOverride]

    def __init__(
        self, noise: Noise, mean: Any, values: Mapping[str, Any], columns: Mapping[str, Any]
    ) -> None:
        self.noise, self.mean_of_law = noise, mean
        self.values, self.columns = values, columns
        super().__init__(event_shape=jnp.shape(columns["previous"]))

    def log_prob(self, value: Any, intermediates: Any = None) -> Any:
        """Joint log density."""
        return self.noise.log_density(value, self.mean_of_law, self.values, self.columns).sum(-1)

    def sample(self, key: Any, sample_shape: tuple[int, ...] = ()) -> Any:
        """Responses drawn one after another along each run."""
        shape = (*sample_shape, *self.event_shape)
        fresh = TAILS[self.noise.tail].numpyro(0.0, jnp.ones(self.event_shape), self.values)
        phi, rest = correlation(self.columns, self.values["memory"])
        z = rest * fresh.sample(key, sample_shape)
        phi = jnp.broadcast_to(phi, shape)
        previous = self.columns["previous"]

        def one(_: Any, parts: Any) -> Any:
            # each pass settles one more checkpoint of every run; first ones have phi 0
            return z + phi * parts[..., previous]

        z = jax.lax.fori_loop(0, len(previous), one, z)  # no run has more rows than the table
        location = self.noise.location(self.mean_of_law, self.values)
        scale = self.noise.scale(self.mean_of_law, self.values, self.columns)
        back = SCALES[self.noise.on].numpyro()
        drawn = location + scale * z
        return drawn if back is None else back(drawn)
