"""NumPyro's NUTS kernel as one plain function of arrays, compiled once and reused.

``advance`` starts a chain or carries it on by a chunk of iterations. Data, mode and whitening are
arguments, and a chain's state is one row of numbers, so the compiled function can be kept on disk
and called by a process that never imports NumPyro.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bayescale.inference.mode import to_vector

CHUNK = 50  # iterations between two looks at the clock: progress, Ctrl-C
ROOM = 250  # iterations that one call may run


def state_size(dim: int) -> int:
    """Length of a chain's state: room for what NumPyro keeps (7 vectors and a few numbers)."""
    return 12 * dim + 64


def advance_function(
    density: Callable[[Any, Any], Any], num_warmup: int, max_tree_depth: int
) -> Callable[..., Any]:
    """Build ``advance`` for a log density.

    Parameters
    ----------
    density : callable
        ``f(vector, batch)`` -> scalar log density.
    num_warmup : int
        Iterations that adapt step size and diagonal mass matrix.
    max_tree_depth : int
        NUTS doubles a trajectory at most this often.

    Returns
    -------
    callable
        ``advance(first, count, z, key, state, target, place, batch)`` -> (state,
        trace), for ``count`` iterations of one chain, at most `ROOM`. Where ``first`` is true,
        it starts at ``z`` (dim,) with ``key`` (2,), else it goes on from ``state``
        (`state_size`,). ``target`` is the acceptance probability that the step size aims at,
        ``place`` that of a `Mode`.
        Trace arrays have shape (ROOM, ...), filled up to ``count``: z, potential energy, energy,
        steps, acceptance, divergence, step size.
    """
    import jax
    import jax.numpy as jnp
    from numpyro.infer.hmc import hmc

    def potential_of(place: Any, batch: Any) -> Callable[[Any], Any]:
        # the inner jit is traced once, however often the kernel calls the potential
        return jax.jit(lambda z: -density(to_vector(z, *place), batch))

    init_kernel, sample_kernel = hmc(potential_fn_gen=potential_of, algo="NUTS")

    def advance(
        first: Any, count: Any, z: Any, key: Any, state: Any, target: Any, *args: Any
    ) -> Any:
        # NumPyro's kernel adapts towards the target it was last initialised with: within this
        # trace that must be this argument, so a start is computed for every call
        fresh = init_kernel(
            z,
            num_warmup,
            step_size=0.5,
            target_accept_prob=target,
            max_tree_depth=max_tree_depth,
            model_args=args,
            rng_key=key,
        )
        pack, unpack = _row(fresh, len(state))
        state = unpack(jnp.where(first, pack(fresh), state))

        def step(k: Any, carried: Any) -> Any:
            state, traces = carried
            moved = sample_kernel(state, model_args=args)
            filled = [t.at[k].set(x) for t, x in zip(traces, _traced(moved), strict=True)]
            return moved, filled

        room = [jnp.zeros((ROOM, *x.shape), x.dtype) for x in _traced(state)]
        state, traces = jax.lax.fori_loop(0, count, step, (state, room))
        return pack(state), tuple(traces)

    return advance


def _traced(state: Any) -> tuple[Any, ...]:
    """What is kept of an iteration."""
    return (
        state.z,
        state.potential_energy,
        state.energy,
        state.num_steps,
        state.accept_prob,
        state.diverging,
        state.adapt_state.step_size,
    )


def side_by_side(advance: Callable[..., Any]) -> Callable[..., Any]:
    """``advance`` for an axis of chains in lock-step: for devices that are fast in the wide."""
    import jax

    return jax.vmap(advance, (None, None, 0, 0, 0, None, None, None))


def one_after_another(
    advance: Callable[..., Any], spread: Callable[..., Any]
) -> Callable[..., Any]:
    """A compiled ``advance`` for an axis of chains that don't wait for each other.

    On a CPU the gradient of four chains costs four times that of one (4.0 microseconds each for
    245 rows), and chains in lock-step wait for the longest trajectory: half the time.

    Parameters
    ----------
    advance : callable
    spread : callable
        ``map``, or the ``map`` of a thread pool.
    """

    def call(first: Any, count: Any, z: Any, keys: Any, state: Any, *where: Any) -> Any:
        def one(k: int) -> Any:
            moved, trace = advance(first, count, z[k], keys[k], state[k], *where)
            return np.asarray(moved), [np.asarray(part) for part in trace]

        states, traces = zip(*spread(one, range(len(z))), strict=True)
        return np.stack(states), tuple(np.stack(parts) for parts in zip(*traces, strict=True))

    return call


def statistics(trace: Sequence[np.ndarray], max_tree_depth: int) -> dict[str, np.ndarray]:
    """Sampler statistics under ArviZ's names, from trace arrays of shape (chain, draw)."""
    names = ("lp", "energy", "n_steps", "acceptance_rate", "diverging", "step_size")
    stats: dict[str, np.ndarray] = dict(zip(names, trace[1:], strict=True))
    stats["lp"] = -stats["lp"]
    stats["reached_max_treedepth"] = stats["n_steps"] >= 2**max_tree_depth - 1
    return stats


def _row(like: Any, size: int) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """A tree of arrays as one row of float64 (which holds 32-bit keys exactly), and back."""
    import jax
    import jax.numpy as jnp

    leaves, tree = jax.tree.flatten(like)
    ends = np.cumsum([leaf.size for leaf in leaves])
    assert ends[-1] <= size, "NumPyro's state outgrew state_size"

    def pack(tree: Any) -> Any:
        flat = [jnp.ravel(leaf).astype(jnp.float64) for leaf in jax.tree.leaves(tree)]
        return jnp.pad(jnp.concatenate(flat), (0, size - ends[-1]))

    def unpack(row: Any) -> Any:
        parts = jnp.split(row[: ends[-1]], ends[:-1])
        shaped = [
            part.astype(leaf.dtype).reshape(leaf.shape)
            for part, leaf in zip(parts, leaves, strict=True)
        ]
        return jax.tree.unflatten(tree, shaped)

    return pack, unpack
