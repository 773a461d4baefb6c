"""ArviZ's numbers without loading JAX."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def unloaded_jax_hidden() -> Iterator[None]:
    """Hide stand-ins of JAX and NumPyro that nobody has used yet from the list of modules.

    ArviZ puts them there to load the libraries when they are first used. SciPy asks whether an
    array is one of JAX's wherever ``jax`` is listed, and so would load it (seconds) for nothing.
    """
    hidden = {
        name: sys.modules.pop(name)
        for name in ("jax", "numpyro")
        if type(sys.modules.get(name)).__name__ == "_LazyModule"
    }
    try:
        yield
    finally:
        for name, module in hidden.items():
            sys.modules.setdefault(name, module)
