"""NumPyro's NUTS kernel as two plain functions of arrays, compiled once and reused.

``start`` makes the chains' states, ``advance`` runs a chunk of iterations. Data, mode and
whitening are arguments, chains are a vmapped axis, and a state is a tuple of arrays, so the
compiled functions can be kept on disk and called by a process that never imports NumPyro.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

CHUNK = 50  # iterations between two looks at the clock: progress, Ctrl-C


def kernel_functions(
    density: Callable[[Any, Any], Any], num_warmup: int, max_tree_depth: int
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Build ``start`` and ``advance`` for a log density.

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
    start : callable
        ``start(z (chain, dim), keys (chain, 2), target, mode, whitening, batch)`` -> state;
        ``target`` is the acceptance probability that the step size aims at.
    advance : callable
        ``advance(state, target, mode, whitening, batch)`` -> (state, trace); trace arrays have
        shape (chain, CHUNK, ...): z, potential energy, energy, steps, acceptance, divergence,
        step size.
    """
    import jax
    import jax.numpy as jnp
    from numpyro.infer.hmc import hmc

    def potential_of(mode: Any, whitening: Any, batch: Any) -> Callable[[Any], Any]:
        # the inner jit is traced once, however often the kernel calls the potential
        return jax.jit(lambda z: -density(mode + whitening @ z, batch))

    init_kernel, sample_kernel = hmc(potential_fn_gen=potential_of, algo="NUTS")

    def init(z: Any, key: Any, target: Any, args: Any) -> Any:
        return init_kernel(
            z,
            num_warmup,
            step_size=0.5,
            target_accept_prob=target,
            max_tree_depth=max_tree_depth,
            model_args=args,
            rng_key=key,
        )

    def start(z: Any, keys: Any, target: Any, *args: Any) -> Any:
        def one(z: Any, key: Any) -> tuple[Any, ...]:
            return tuple(jax.tree.leaves(init(z, key, target, args)))

        return jax.vmap(one)(z, keys)

    def advance(state: Any, target: Any, *args: Any) -> Any:
        def one(leaves: Any) -> Any:
            # NumPyro's kernel adapts towards the target it was last initialised with: within
            # this trace that must be this argument (the unused state itself is compiled away)
            unused = init(jnp.zeros_like(args[0]), jax.random.PRNGKey(0), target, args)
            return jax.lax.scan(partial(step, jax.tree.structure(unused)), leaves, None, CHUNK)

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

        return jax.vmap(one)(state)

    return start, advance
