"""Plots of a fit, of its checks and answers, one function each: axes in, axes out.

Matplotlib's settings are left alone; it is imported when a function is first used. `PLOTS` maps
the names that the shell knows to the functions, and `save` writes a picture to a file.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayescale.plot._allocation import allocation as allocation
    from bayescale.plot._approaches import approaches as approaches
    from bayescale.plot._comparison import comparison as comparison
    from bayescale.plot._data_limit import data_limit as data_limit
    from bayescale.plot._envelope import envelope as envelope
    from bayescale.plot._holdout import holdout as holdout
    from bayescale.plot._invariance import invariance as invariance
    from bayescale.plot._isoflop import isoflop as isoflop
    from bayescale.plot._loss_curves import loss_curves as loss_curves
    from bayescale.plot._mixture import mixture as mixture
    from bayescale.plot._multiplier import multiplier as multiplier
    from bayescale.plot._overview import overview as overview
    from bayescale.plot._pareto import pareto as pareto
    from bayescale.plot._ppc import ppc as ppc
    from bayescale.plot._prior_posterior import prior_posterior as prior_posterior
    from bayescale.plot._residuals import residuals as residuals
    from bayescale.plot._save import PLOTS as PLOTS
    from bayescale.plot._save import save as save
    from bayescale.plot._sbc import sbc as sbc
    from bayescale.plot._selection import selection as selection
    from bayescale.plot._sensitivity import sensitivity as sensitivity
    from bayescale.plot._serving import serving as serving
    from bayescale.plot._slices import slices as slices
    from bayescale.plot._tokens_per_param import tokens_per_param as tokens_per_param
    from bayescale.plot._transfer_tax import transfer_tax as transfer_tax
    from bayescale.plot._worth import worth as worth

# Files have an underscore: a module `allocation` would shadow the function of that name.
KINDS = (
    "overview",
    "loss_curves",
    "isoflop",
    "residuals",
    "allocation",
    "tokens_per_param",
    "prior_posterior",
)
# pictures of the results of checks, not of a fit alone
CHECKS = ("comparison", "holdout", "ppc", "sbc", "sensitivity")
# pictures of answers
ANSWERS = (
    "approaches",
    "data_limit",
    "envelope",
    "invariance",
    "mixture",
    "multiplier",
    "pareto",
    "selection",
    "serving",
    "slices",
    "transfer_tax",
    "worth",
)
_HOME = {name: f"_{name}" for name in (*KINDS, *CHECKS, *ANSWERS)} | {
    "PLOTS": "_save",
    "save": "_save",
}

__all__ = [*KINDS, *CHECKS, *ANSWERS, "ANSWERS", "CHECKS", "KINDS", "PLOTS", "save"]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"bayescale.plot.{_HOME[name]}"), name)
    raise AttributeError(f"module 'bayescale.plot' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
