"""NumPyro's NUTS kernel as one plain function of arrays, compiled once and reused.

``advance`` starts the chains or carries them on by a chunk of iterations. Data, mode and whitening
are arguments, chains are a vmapped axis, and a chain's state is one row of numbers, so the compiled
function can be kept on disk and called by a process that never imports NumPyro.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

CHUNK = 50  # iterations between two looks at the clock: progress, Ctrl-C


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
        ``advance(first, z, keys, state, target, mode, whitening, batch)`` -> (state, trace).
        Where ``first`` is true, chains start at ``z`` (chain, dim) with ``keys`` (chain, 2), else
        they go on from ``state`` (chain, `state_size`). ``target`` is the acceptance probability
        that the step size aims at. Trace arrays have shape (chain, CHUNK, ...): z, potential
        energy, energy, steps, acceptance, divergence, step size.
    """
    import jax
    import jax.numpy as jnp
    from numpyro.infer.hmc import hmc

    def potential_of(mode: Any, whitening: Any, batch: Any) -> Callable[[Any], Any]:
        # the inner jit is traced once, however often the kernel calls the potential
        return jax.jit(lambda z: -density(mode + whitening @ z, batch))

    init_kernel, sample_kernel = hmc(potential_fn_gen=potential_of, algo="NUTS")

    def advance(first: Any, z: Any, keys: Any, state: Any, target: Any, *args: Any) -> Any:
        def one(z: Any, key: Any, state: Any) -> Any:
            # NumPyro's kernel adapts towards the target it was last initialised with: within
            # this trace that must be this argument, so a start is computed for every chunk
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
            leaves, tree = jax.tree.flatten(unpack(jnp.where(first, pack(fresh), state)))
            leaves, trace = jax.lax.scan(partial(step, tree), tuple(leaves), None, CHUNK)
            return pack(jax.tree.unflatten(tree, leaves)), trace

        def step(tree: Any, leaves: Any, _: None) -> Any:
            moved = sample_kernel(jax.tree.unflatten(tree, leaves), model_args=args)
            trace = (
                moved.z,
                moved.potential_energy,
                moved.energy,
                moved.num_steps,
                moved.accept_prob,
                moved.diverging,
                moved.adapt_state.step_size,
            )
            return tuple(jax.tree.leaves(moved)), trace

        return jax.vmap(one)(z, keys, state)

    return advance


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
