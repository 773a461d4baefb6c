"""The designs of three papers whose run tables are not public, and the truth to simulate with.

One file a design, each with three functions: ``design()`` gives the inputs, ``truth()`` the
parameters with a source or the word stand-in for each, and ``simulate_…(seed)`` a table of runs.
"""

from typing import Any

_HOMES = {
    "Known": "truth",
    "Truth": "truth",
    "simulate_capability": "capability",
    "simulate_mixture_grid": "mixture_grid",
    "simulate_text_multimodal": "text_multimodal",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'bayescale.data.designs' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f"bayescale.data.designs.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
