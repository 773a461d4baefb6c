r"""Smooth minimisation under inequalities, for thousands of small problems at once.

A primal-dual interior point method (Nocedal & Wright 2006, ch. 19; the barrier is lowered as in
Wächter & Biegler 2006, eq. 7) with exact derivatives: minimise f(v) where c(v) > 0, from a start
inside. Optima at corners, where a source has no tokens, are met from inside. JAX has no minimiser
with bounds (`jax.scipy.optimize` has BFGS without any), and SciPy's would take a Python call a
draw: 4,000 draws in minutes.
"""

from collections.abc import Callable
from typing import Any

TOLERANCE = 1e-9  # on slopes and on z c, in nats
BARRIER = 1e-2  # at the start, nats
LAST = 1e-11  # lowest barrier: with a dozen bounds 1e-10 nats off the optimum
ITERATIONS = 60
BOUNDARY = 0.995  # share of the way to a bound that a step may go
SHRINKS = (1.0, 0.5, 0.2, 0.05, 0.01, 1e-3)
LIFTS = (0.0, 1e-6, 1e-4, 1e-2, 1.0, 100.0)  # of the Hessian's diagonal, till it bends upwards
CLIP = 1e10  # how far z c may be from the barrier (Wächter & Biegler, eq. 16)

Function = Callable[[Any], Any]


def minimise(objective: Function, bounds: Function, start: Any) -> tuple[Any, Any, Any]:
    """Minimise ``objective(v)`` where all ``bounds(v) > 0``; JAX throughout, to be vmapped.

    Parameters
    ----------
    objective : callable
        v, shape (n,) -> number.
    bounds : callable
        v -> array, shape (q,), each positive inside.
    start : array, shape (n,)
        Inside.

    Returns
    -------
    v : array, shape (n,)
    value : number
        The objective there.
    error : number
        What is left of slopes and complementarity: below `TOLERANCE` where it has converged.
    """
    import jax
    import jax.numpy as jnp

    def both(v: Any) -> Any:
        return jnp.concatenate([objective(v)[None], bounds(v)])

    def look(v: Any) -> tuple[Any, Any]:
        """Objective and bounds with their slopes: shapes (1 + q,), (1 + q, n)."""
        slopes, found = jax.jacfwd(lambda x: (both(x),) * 2, has_aux=True)(v)
        return found, slopes

    def lagrangian(v: Any, z: Any) -> Any:
        return objective(v) - z @ bounds(v)

    def error(seen: Any, z: Any, barrier: Any) -> Any:
        found, slopes = seen
        off = jnp.abs(slopes[0] - slopes[1:].T @ z).max()
        return jnp.maximum(off, jnp.abs(found[1:] * z - barrier).max())

    def merit(v: Any, barrier: Any) -> Any:
        found = both(v)
        inside = (found[1:] > 0).all()
        height = found[0] - barrier * jnp.log(jnp.where(inside, found[1:], 1.0)).sum()
        return jnp.where(inside & jnp.isfinite(height), height, jnp.inf)

    def step(state: Any) -> Any:
        count, v, z, barrier, seen, _ = state
        (found, slopes), jac = seen, seen[1][1:]
        c, ratio = found[1:], z / found[1:]
        hessian = jax.jacfwd(jax.grad(lagrangian))(v, z) + jac.T @ (ratio[:, None] * jac)
        move = _solve(hessian, -(slopes[0] - jac.T @ (barrier / c)))
        along = jac @ move
        sizes = _longest(c, along) * jnp.array(SHRINKS)
        heights = jax.vmap(lambda s: merit(v + s * move, barrier))(sizes)
        best = jnp.argmin(heights)
        v = jnp.where(heights[best] < jnp.inf, v + sizes[best] * move, v)
        turn = barrier / c - z - ratio * along
        z, seen = z + _longest(z, turn) * turn, look(v)
        z = jnp.clip(z, barrier / (CLIP * seen[0][1:]), CLIP * barrier / seen[0][1:])
        lower = jnp.maximum(LAST, jnp.minimum(0.2 * barrier, barrier**1.5))
        near = error(seen, z, barrier) < 10 * barrier
        return count + 1, v, z, jnp.where(near, lower, barrier), seen, error(seen, z, 0.0)

    def going(state: Any) -> Any:
        return (state[0] < ITERATIONS) & ~(state[-1] < TOLERANCE)

    seen = look(start)
    first = (0, start, BARRIER / seen[0][1:], jnp.asarray(BARRIER), seen, jnp.asarray(jnp.inf))
    _, v, _, _, seen, left = jax.lax.while_loop(going, step, first)
    return v, seen[0][0], left


def _longest(value: Any, along: Any) -> Any:
    """The longest step at most 1 that keeps ``value + step * along`` positive."""
    import jax.numpy as jnp

    limits = jnp.where(along < 0, -BOUNDARY * value / jnp.where(along < 0, along, -1.0), 1.0)
    return jnp.minimum(1.0, limits.min())


def _solve(hessian: Any, right: Any) -> Any:
    """The step of the least lifted Hessian that bends upwards in all directions."""
    import jax
    import jax.numpy as jnp

    size = len(right)
    scale = jnp.maximum(1.0, jnp.abs(jnp.diag(hessian)).max())
    lifted = hessian + jnp.array(LIFTS)[:, None, None] * scale * jnp.eye(size)
    factors = jnp.linalg.cholesky(lifted)
    good = jnp.isfinite(factors).all((1, 2))
    factor = factors[jnp.argmax(good)]
    factor = jnp.where(good.any(), factor, jnp.sqrt(scale) * jnp.eye(size))
    return jax.scipy.linalg.cho_solve((factor, True), right)
