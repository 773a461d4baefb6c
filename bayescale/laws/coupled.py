"""Coupled Chinchilla: size and data terms joined by a power k; k = 1 is Chinchilla."""

from typing import Any

from bayescale.arrays import power
from bayescale.law import Coordinate, Derived, Law, Param, Reference
from bayescale.laws.chinchilla import CHINCHILLA
from bayescale.laws.common import EXPONENT, TERM, WHY_EXPONENT, WHY_TERM, D, N, irreducible_loss
from bayescale.priors import LogNormal


def mean(E: Any, A: Any, B: Any, alpha: Any, beta: Any, k: Any, N: Any, D: Any) -> Any:
    """L = E + (A N^-alpha + B D^-beta)^k."""
    return E + power(A * power(N, -alpha) + B * power(D, -beta), k)


def _weight(term: Any, other: Any, k: Any) -> Any:
    """A term's summand inside the bracket, from its share of the reducible loss."""
    return (term + other) ** ((1 - k) / k) * term


def _share(inside: Any, other: Any, k: Any) -> Any:
    """Inverse of `_weight`, from both summands."""
    return (inside + other) ** (k - 1) * inside


WHY_COUPLING = "k = 1 is Chinchilla; sweeps of the literature prefer .4 to 1"

COUPLED = Law(
    name="coupled",
    title="Chinchilla with coupled size and data terms",
    inputs=(N, D),
    params=(
        irreducible_loss(),
        Param(
            "A",
            TERM,
            "size coefficient inside the bracket",
            "nats^(1/k)",
            "A",
            coordinate=Coordinate(
                "size_term",
                to_param=lambda size_term, data_term, k, alpha, N_ref: (
                    _weight(size_term, data_term, k) * N_ref**alpha
                ),
                from_param=lambda A, B, k, alpha, beta, N_ref, D_ref: _share(
                    A * N_ref**-alpha, B * D_ref**-beta, k
                ),
                meaning="size's share of the reducible loss at the data's centre",
                unit="nats/token",
            ),
            why=WHY_TERM,
        ),
        Param(
            "B",
            TERM,
            "data coefficient inside the bracket",
            "nats^(1/k)",
            "B",
            coordinate=Coordinate(
                "data_term",
                to_param=lambda data_term, size_term, k, beta, D_ref: (
                    _weight(data_term, size_term, k) * D_ref**beta
                ),
                from_param=lambda A, B, k, alpha, beta, N_ref, D_ref: _share(
                    B * D_ref**-beta, A * N_ref**-alpha, k
                ),
                meaning="data's share of the reducible loss at the data's centre",
                unit="nats/token",
            ),
            why=WHY_TERM,
        ),
        Param(
            "alpha",
            EXPONENT,
            "size exponent inside the bracket",
            "",
            r"\alpha",
            coordinate=Coordinate(
                "size_slope",
                to_param=lambda size_slope, k: size_slope / k,
                from_param=lambda alpha, k: alpha * k,
                meaning="local exponent of the reducible loss in N where size dominates",
            ),
            why=WHY_EXPONENT,
        ),
        Param(
            "beta",
            EXPONENT,
            "data exponent inside the bracket",
            "",
            r"\beta",
            coordinate=Coordinate(
                "data_slope",
                to_param=lambda data_slope, k: data_slope / k,
                from_param=lambda beta, k: beta * k,
                meaning="local exponent of the reducible loss in D where data dominate",
            ),
            why=WHY_EXPONENT,
        ),
        Param("k", LogNormal(0.7, 0.3), "coupling", "", "k", why=WHY_COUPLING),
    ),
    terms=("E", "size_term", "data_term"),
    slopes=(("size_slope", "size_term"), ("data_slope", "data_term")),
    mean=mean,
    equation=(r"L = E + \left(\frac{A}{N^{\alpha}} + \frac{B}{D^{\beta}}\right)^{k}"),
    reference=Reference("Hoffmann et al. 2022, coupled by a power", "2203.15556", "eq. 2"),
    derived=(
        *(d for d in CHINCHILLA.derived if d.name in ("a", "b")),
        Derived(
            "gamma",
            lambda alpha, beta, k: k * alpha * beta / (alpha + beta),
            "compute exponent of the reducible loss",
            "",
            r"\gamma",
        ),
    ),
)
