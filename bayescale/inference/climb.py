"""The mode search as one compiled function, for many fits: no step of it runs in Python.

The same damped Newton climb as in `mode`, from several starts at once. One fit is sooner done by
`mode`, which has nothing to compile; hundreds are sooner done by this, which threads run side by
side and a GPU runs as a batch.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from bayescale.inference.mode import LONGEST, SMALLEST_CURVATURE, climbs

ITERATIONS = 60
SHRINKS = 10  # halvings of a step that are tried, all in one evaluation
RETREATS = 20  # chain starts are pulled towards the mode at most this often
RETREAT = 0.7


def prepare_function(density: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Build ``prepare`` for a log density.

    Returns
    -------
    callable
        ``prepare(candidates, z, batch)`` -> (mode, whitening, height, starts). ``candidates``,
        shape (candidate, dim), has the prior's middle first, then prior draws; ``z``, shape
        (chain, dim), are whitened starts of the chains, which come back closer to the mode where
        the density is not finite. ``height`` is the log density at the mode, -inf where no
        candidate has a finite one.
    """
    import jax
    import jax.numpy as jnp

    def objective(vector: Any, batch: Any) -> Any:
        value = -density(vector, batch)
        return jnp.where(jnp.isfinite(value), value, jnp.inf)

    values = jax.jit(jax.vmap(objective, (0, None)))
    slopes = jax.jit(jax.vmap(jax.grad(lambda v, b: -density(v, b)), (0, None)))

    def curvature(vector: Any, batch: Any) -> tuple[Any, Any]:
        """Gradient and Hessian, by central differences: two gradients a dimension."""
        size = len(vector)
        width = 1e-4 * jnp.maximum(1.0, jnp.abs(vector))
        moves = jnp.diag(width)
        points = jnp.concatenate([vector[None], vector + moves, vector - moves])
        found = slopes(points, batch)
        hessian = (found[1 : size + 1] - found[size + 1 :]) / (2 * width[:, None])
        return found[0], 0.5 * (hessian + hessian.T)

    def climb(vector: Any, batch: Any) -> tuple[Any, Any, Any]:
        halves = 0.5 ** jnp.arange(SHRINKS)

        def step(state: Any) -> Any:
            count, vector, value, _, _ = state
            slope, hessian = curvature(vector, batch)
            whitening = _whiten(hessian)
            along = whitening.T @ slope
            move = -whitening @ along
            move = move * jnp.minimum(1.0, LONGEST / jnp.abs(move).max())
            points = vector + halves[:, None] * move
            heights = values(points, batch)
            best = jnp.argmin(heights)
            better = heights[best] < value  # False for NaN: a broken step ends the climb
            arrived = ~(jnp.linalg.norm(along) >= 1e-3)  # in posterior standard deviations
            done = arrived | ~better
            vector = jnp.where(done, vector, points[best])
            return count + 1, vector, jnp.where(done, value, heights[best]), whitening, done

        def going(state: Any) -> Any:
            return ~state[-1] & (state[0] < ITERATIONS)

        value = values(vector[None], batch)[0]
        eye = jnp.eye(len(vector))
        _, vector, value, whitening, _ = jax.lax.while_loop(
            going, step, (0, vector, value, eye, ~jnp.isfinite(value))
        )
        return vector, value, whitening

    def prepare(candidates: Any, z: Any, batch: Any) -> tuple[Any, Any, Any, Any]:
        others = climbs(candidates.shape[-1]) - 1
        order = jnp.argsort(values(candidates[1:], batch))[:others]
        starts = jnp.concatenate([candidates[:1], candidates[1:][order]])
        vectors, heights, whitenings = jax.vmap(climb, (0, None))(starts, batch)
        best = jnp.argmin(heights)
        mode, whitening = vectors[best], whitenings[best]
        shrink = RETREAT ** jnp.arange(RETREATS)
        retreats = shrink[:, None, None] * z
        flat = mode + retreats.reshape(-1, len(mode)) @ whitening.T
        usable = jnp.isfinite(values(flat, batch)).reshape(RETREATS, len(z))
        first = jnp.argmax(usable, axis=0)
        return mode, whitening, -heights[best], retreats[first, jnp.arange(len(z))]

    return prepare


def _whiten(curvature: Any) -> Any:
    """Inverse square root of a Hessian, as `mode.whiten` has it."""
    import jax.numpy as jnp

    finite = jnp.all(jnp.isfinite(curvature))
    values, vectors = jnp.linalg.eigh(jnp.where(finite, curvature, jnp.eye(len(curvature))))
    return vectors / jnp.sqrt(jnp.maximum(jnp.abs(values), SMALLEST_CURVATURE))


@cache
def wake_lapack() -> None:
    """Have JAX load LAPACK's functions: a kept program calls them by address, loaded or not."""
    import jax.numpy as jnp
    import numpy as np

    jnp.linalg.eigh(np.eye(2)).eigenvalues.block_until_ready()
