"""Kaplan's joint law of size and data, without an irreducible loss."""

from typing import Any

from bayescale.arrays import power
from bayescale.law import Derived, Law, Param, Reference
from bayescale.laws.common import D, N, scale
from bayescale.priors import LogNormal


def mean(N_c: Any, D_c: Any, alpha_N: Any, alpha_D: Any, N: Any, D: Any) -> Any:
    """L = [(N_c/N)^(alpha_N/alpha_D) + D_c/D]^alpha_D."""
    return power(power(N_c / N, alpha_N / alpha_D) + D_c / D, alpha_D)


_LIMIT = LogNormal(2.5, 0.7)
_WHY_LIMIT = "without an irreducible loss, the whole loss (about 3 nats) is a limit at the centre"
_SLOPE = LogNormal(0.1, 0.7)
_WHY_SLOPE = "without E, exponents are slopes of the whole loss: .05 to .1 in the paper, up to .3"

KAPLAN = Law(
    name="kaplan",
    title="Kaplan's joint law of parameters and tokens (no irreducible loss)",
    inputs=(N, D),
    params=(
        scale(
            "N_c",
            "size_limit",
            "alpha_N",
            N,
            "size at which the size limit is 1 nat",
            "loss with endless data",
            _LIMIT,
            _WHY_LIMIT,
        ),
        scale(
            "D_c",
            "data_limit",
            "alpha_D",
            D,
            "data at which the data limit is 1 nat",
            "loss with endless size",
            _LIMIT,
            _WHY_LIMIT,
        ),
        Param("alpha_N", _SLOPE, "size exponent", "", r"\alpha_{N}", why=_WHY_SLOPE),
        Param("alpha_D", _SLOPE, "data exponent", "", r"\alpha_{D}", why=_WHY_SLOPE),
    ),
    mean=mean,
    equation=(
        r"L = \left(\left(\frac{N_{c}}{N}\right)^{\frac{\alpha_{N}}{\alpha_{D}}}"
        r" + \frac{D_{c}}{D}\right)^{\alpha_{D}}"
    ),
    reference=Reference("Kaplan et al. 2020", "2001.08361", "eq. 1.5"),
    derived=(
        Derived(
            "a",
            lambda alpha_N, alpha_D: alpha_D / (alpha_N + alpha_D),
            "allocation exponent of N on C = 6 N D",
            "",
            "a",
        ),
        Derived(
            "b",
            lambda alpha_N, alpha_D: alpha_N / (alpha_N + alpha_D),
            "allocation exponent of D on C = 6 N D",
            "",
            "b",
        ),
        Derived(
            "gamma",
            lambda alpha_N, alpha_D: alpha_N * alpha_D / (alpha_N + alpha_D),
            "compute exponent of the loss",
            "",
            r"\gamma",
        ),
    ),
    note="N is non-embedding in the paper; its N ~ C^0.73 comes from early-stopped runs.",
)
