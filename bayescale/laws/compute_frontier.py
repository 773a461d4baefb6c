"""The compute frontier: the best loss that a compute budget buys."""

from typing import Any

from bayescale.arrays import power
from bayescale.law import Law, Reference
from bayescale.laws.common import C, exponent, irreducible_loss, scale


def mean(E: Any, C_c: Any, gamma: Any, C: Any) -> Any:
    """L = E + (C_c/C)^gamma."""
    return E + power(C_c / C, gamma)


COMPUTE_FRONTIER = Law(
    name="compute-frontier",
    title="Loss of compute-optimal runs from compute",
    inputs=(C,),
    params=(
        irreducible_loss(),
        scale(
            "C_c",
            "reducible",
            "gamma",
            C,
            "compute at which the reducible loss is 1 nat",
            "reducible loss",
        ),
        exponent("gamma", "compute exponent", r"\gamma"),
    ),
    terms=("E", "reducible"),
    slopes=(("gamma", "reducible"),),
    mean=mean,
    equation=r"L = E + \left(\frac{C_{c}}{C}\right)^{\gamma}",
    reference=Reference("Kaplan et al. 2020, with a floor", "2001.08361", "eq. 1.3"),
    note="Every run is taken as compute-optimal: fit it to the best run of each budget.",
)
