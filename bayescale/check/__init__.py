"""Is a fit right, and what is its extrapolation worth: checks, one folder each.

Functions are imported when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayescale.check.calibration.run import sbc as sbc
    from bayescale.check.comparison.loo import loo as loo
    from bayescale.check.comparison.run import compare as compare
    from bayescale.check.extrapolation.run import holdout as holdout
    from bayescale.check.predictive.run import ppc as ppc
    from bayescale.check.predictive.run import prior_ppc as prior_ppc
    from bayescale.check.sensitivity.influence import influence as influence
    from bayescale.check.sensitivity.perturb import perturb as perturb
    from bayescale.check.sensitivity.power import power_scaling as power_scaling

_HOMES = {
    "calibration.run": ("sbc",),
    "comparison.loo": ("loo",),
    "comparison.run": ("compare",),
    "extrapolation.run": ("holdout",),
    "predictive.run": ("ppc", "prior_ppc"),
    "sensitivity.influence": ("influence",),
    "sensitivity.perturb": ("perturb",),
    "sensitivity.power": ("power_scaling",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"bayescale.check.{_HOME[name]}"), name)
    raise AttributeError(f"module 'bayescale.check' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
