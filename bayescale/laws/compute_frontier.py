"""The compute frontier: the best loss that a compute budget buys."""

from typing import Any

from bayescale.arrays import power
from bayescale.law import Coordinate, Law, Param, Reference
from bayescale.laws.common import (
    EXPONENT,
    IRREDUCIBLE,
    TERM,
    WHY_EXPONENT,
    WHY_IRREDUCIBLE,
    WHY_TERM,
    C,
)


def mean(E: Any, C_c: Any, gamma: Any, C: Any) -> Any:
    """L = E + (C_c/C)^gamma."""
    return E + power(C_c / C, gamma)


COMPUTE_FRONTIER = Law(
    name="compute-frontier",
    title="Loss of compute-optimal runs from compute",
    inputs=(C,),
    params=(
        Param("E", IRREDUCIBLE, "irreducible loss", "nats/token", "E", why=WHY_IRREDUCIBLE),
        Param(
            "C_c",
            TERM,
            "compute at which the reducible loss is 1 nat",
            "FLOP",
            "C_{c}",
            coordinate=Coordinate(
                "reducible",
                to_param=lambda reducible, gamma, C_ref: C_ref * reducible ** (1 / gamma),
                from_param=lambda C_c, gamma, C_ref: (C_c / C_ref) ** gamma,
                meaning="reducible loss at the data's geometric mean of C",
                unit="nats/token",
            ),
            why=WHY_TERM,
        ),
        Param("gamma", EXPONENT, "compute exponent", "", r"\gamma", why=WHY_EXPONENT),
    ),
    terms=("E", "reducible"),
    slopes=(("gamma", "reducible"),),
    mean=mean,
    equation=r"L = E + \left(\frac{C_{c}}{C}\right)^{\gamma}",
    reference=Reference("Kaplan et al. 2020, with a floor", "2001.08361", "eq. 1.3"),
    note="Every run is taken as compute-optimal: fit it to the best run of each budget.",
)
