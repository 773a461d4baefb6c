"""Chinchilla: irreducible loss, a size term and a data term."""

from typing import Any

from bayescale.arrays import power
from bayescale.law import Derived, Law, Reference
from bayescale.laws.common import D, N, coefficient, exponent, irreducible_loss


def mean(E: Any, A: Any, B: Any, alpha: Any, beta: Any, N: Any, D: Any) -> Any:
    """L = E + A N^-alpha + B D^-beta."""
    return E + A * power(N, -alpha) + B * power(D, -beta)


CHINCHILLA = Law(
    name="chinchilla",
    title="Loss from parameters and tokens",
    inputs=(N, D),
    params=(
        irreducible_loss(),
        coefficient(
            "A", "size_term", "alpha", "N", "size term at N = 1", "loss due to finite size"
        ),
        coefficient("B", "data_term", "beta", "D", "data term at D = 1", "loss due to finite data"),
        exponent("alpha", "size exponent", r"\alpha"),
        exponent("beta", "data exponent", r"\beta"),
    ),
    terms=("E", "size_term", "data_term"),
    slopes=(("alpha", "size_term"), ("beta", "data_term")),
    mean=mean,
    equation=r"L = E + \frac{A}{N^{\alpha}} + \frac{B}{D^{\beta}}",
    reference=Reference("Hoffmann et al. 2022, approach 3", "2203.15556", "eq. 2"),
    derived=(
        Derived(
            "a", lambda alpha, beta: beta / (alpha + beta), "allocation exponent of N", "", "a"
        ),
        Derived(
            "b", lambda alpha, beta: alpha / (alpha + beta), "allocation exponent of D", "", "b"
        ),
        Derived(
            "gamma",
            lambda alpha, beta: alpha * beta / (alpha + beta),
            "compute exponent of reducible loss",
            "",
            r"\gamma",
        ),
    ),
)
