"""Chinchilla: irreducible loss, a size term and a data term."""

from typing import Any

from bayescale.arrays import power
from bayescale.law import Coordinate, Derived, Law, Param, Reference
from bayescale.laws.common import (
    EXPONENT,
    IRREDUCIBLE,
    TERM,
    WHY_EXPONENT,
    WHY_IRREDUCIBLE,
    WHY_TERM,
    D,
    N,
)


def mean(E: Any, A: Any, B: Any, alpha: Any, beta: Any, N: Any, D: Any) -> Any:
    """L = E + A N^-alpha + B D^-beta."""
    return E + A * power(N, -alpha) + B * power(D, -beta)


CHINCHILLA = Law(
    name="chinchilla",
    title="Loss from parameters and tokens",
    inputs=(N, D),
    params=(
        Param("E", IRREDUCIBLE, "irreducible loss", "nats/token", "E", why=WHY_IRREDUCIBLE),
        Param(
            "A",
            TERM,
            "size term at N = 1",
            "nats/token",
            "A",
            coordinate=Coordinate(
                "size_term",
                to_param=lambda size_term, alpha, N_ref: size_term * N_ref**alpha,
                from_param=lambda A, alpha, N_ref: A * N_ref**-alpha,
                meaning="loss due to finite size at the data's geometric mean of N",
                unit="nats/token",
            ),
            why=WHY_TERM,
        ),
        Param(
            "B",
            TERM,
            "data term at D = 1",
            "nats/token",
            "B",
            coordinate=Coordinate(
                "data_term",
                to_param=lambda data_term, beta, D_ref: data_term * D_ref**beta,
                from_param=lambda B, beta, D_ref: B * D_ref**-beta,
                meaning="loss due to finite data at the data's geometric mean of D",
                unit="nats/token",
            ),
            why=WHY_TERM,
        ),
        Param("alpha", EXPONENT, "size exponent", "", r"\alpha", why=WHY_EXPONENT),
        Param("beta", EXPONENT, "data exponent", "", r"\beta", why=WHY_EXPONENT),
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
