"""NumPyro's NUTS kernel as two plain functions of arrays, compiled once and reused.

``start`` makes the chains' states, ``advance`` runs a chunk of iterations. Data, mode and
whitening are arguments, chains are a vmapped axis, and a state is a tuple of arrays, so the
compiled functions can be kept on disk and called by a process that never imports NumPyro.
"""

from collections.abc import Callable
from typing import Any

CHUNK = 50  # iterations between two looks at the clock: progress, Ctrl-C


def kernel_functions(
    density: Callable[[Any, Any], Any], num_warmup: int, target_accept: float, max_tree_depth: int
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Build ``start`` and ``advance`` for a log density.

    Parameters
    ----------
    density : callable
        ``f(vector, batch)`` -> scalar log density.
    num_warmup : int
        Iterations that adapt step size and diagonal mass matrix.
    target_accept : float
        Acceptance probability that the step size aims at.
    max_tree_depth : int
        NUTS doubles a trajectory at most this often.

    Returns
    -------
    start : callable
        ``start(z (chain, dim), keys (chain, 2), mode, whitening, batch)`` -> state
    advance : callable
        ``advance(state, mode, whitening, batch)`` -> (state, trace); trace arrays have shape
        (chain, CHUNK, ...): z, potential energy, energy, steps, acceptance, divergence,
        step size.
    """
    import jax
    from numpyro.infer.hmc import hmc

    def potential_of(mode: Any, whitening: Any, batch: Any) -> Callable[[Any], Any]:
        # the inner jit is traced once, however often the kernel calls the potential
        return jax.jit(lambda z: -density(mode + whitening @ z, batch))

    init_kernel, sample_kernel = hmc(potential_fn_gen=potential_of, algo="NUTS")
    seen: dict[str, Any] = {}

    def start(z: Any, keys: Any, mode: Any, whitening: Any, batch: Any) -> Any:
        def one(z: Any, key: Any) -> tuple[Any, ...]:
            state = init_kernel(
                z,
                num_warmup,
                step_size=0.5,
                target_accept_prob=target_accept,
                max_tree_depth=max_tree_depth,
                model_args=(mode, whitening, batch),
                rng_key=key,
            )
            leaves, seen["tree"] = jax.tree.flatten(state)
            return tuple(leaves)

        return jax.vmap(one)(z, keys)

    def advance(state: Any, mode: Any, whitening: Any, batch: Any) -> Any:
        def step(leaves: Any, _: None) -> Any:
            moved = sample_kernel(
                jax.tree.unflatten(seen["tree"], leaves), model_args=(mode, whitening, batch)
            )
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

        def one(leaves: Any) -> Any:
            return jax.lax.scan(step, leaves, None, length=CHUNK)

        return jax.vmap(one)(state)

    return start, advance
