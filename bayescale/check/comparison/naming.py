"""Fits by name, and whether they speak of the same thing."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayescale.errors import FitError

if TYPE_CHECKING:
    from bayescale.fitted import Fit


def named(fits: "Mapping[str, Fit] | Sequence[Fit]") -> "dict[str, Fit]":
    """Fits by name; those of a sequence by the name of their law.

    Raises
    ------
    FitError
        There are none, two of one name, or something that is no fit.
    """
    from bayescale.fitted import Fit

    if isinstance(fits, Fit) or not isinstance(fits, Mapping | Sequence) or not len(fits):
        raise FitError(
            f"fits are {type(fits).__name__ if fits else 'empty'}; expected a mapping from name "
            "to fit, or a list of fits."
        )
    pairs = list(fits.items()) if isinstance(fits, Mapping) else [(None, f) for f in fits]
    found: dict[str, Fit] = {}
    for name, fit in pairs:
        if not isinstance(fit, Fit):
            label = "a fit in the list" if name is None else f"'{name}'"
            raise FitError(f"{label} is {type(fit).__name__}; expected a Fit.")
        key = fit.law.name if name is None else str(name)
        if key in found:
            raise FitError(
                f"two fits are named '{key}'; give a mapping with a name for each, such as "
                f"{{'{key}': …, '{key}, log-normal': …}}."
            )
        found[key] = fit
    return found


def check_response(fits: "Mapping[str, Fit]") -> None:
    """Raise unless all laws explain the same quantity in the same unit.

    Raises
    ------
    FitError
        Naming the two that differ.
    """

    def spoken(fit: Any) -> str:
        unit = fit.law.response_unit
        return f"'{fit.law.response}'" + (f" ({unit})" if unit else "")

    (first, one), *others = fits.items()
    for name, fit in others:
        if spoken(fit) != spoken(one):
            raise FitError(
                f"'{first}' explains {spoken(one)} and '{name}' {spoken(fit)}: densities of "
                "different responses can't be compared or mixed; fit both to one response."
            )
