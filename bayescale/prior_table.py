"""Priors for people: a table of them, and why each is what it is."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bayescale.tables import Table, quantity

if TYPE_CHECKING:
    from bayescale.param import Param


def prior_table(params: "Sequence[Param]") -> Table:
    """Each prior with its median, 90% interval and meaning; the reasons as notes."""
    return Table(
        ["parameter", "prior", "median", "90% of the prior", "meaning"],
        [_row(p) for p in params],
        text=["parameter", "prior", "meaning"],
        notes=reasons(params),
    )


def reasons(params: "Sequence[Param]") -> list[str]:
    """Why each prior is what it is, priors with the same reason together."""
    by_reason: dict[str, list[str]] = {}
    for p in params:
        if p.why:
            by_reason.setdefault(p.why, []).append(p.site)
    return [f"why {', '.join(sites)}: {reason}" for reason, sites in by_reason.items()]


def where_sampled(params: "Sequence[Param]") -> list[str]:
    """Why some priors are on other quantities than the law's own parameters."""
    moved = [p for p in params if p.coordinate]
    if not moved:
        return []
    sites, names = ", ".join(p.site for p in moved), ", ".join(p.name for p in moved)
    return [
        f"Priors are on {sites} in place of {names}: on what the data see at their centre, so "
        "they hold whatever the scale of a sweep. A prior can be put on the parameter itself, too.",
    ]


def _row(param: "Param") -> list[str]:
    low, high = param.prior.scipy().ppf([0.05, 0.95])
    seen = param.coordinate or param
    meaning = seen.meaning + (f" ({seen.unit})" if seen.unit else "")
    interval = f"{quantity(float(low))} to {quantity(float(high))}"
    return [param.site, str(param.prior), quantity(param.prior.middle()), interval, meaning]
