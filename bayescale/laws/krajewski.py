"""Fine-grained mixture of experts: granularity scales the size term."""

from typing import Any

import numpy as np

from bayescale.arrays import power
from bayescale.law import Coordinate, Input, Law, Param, Reference
from bayescale.laws.chinchilla import CHINCHILLA
from bayescale.laws.common import TERM, WHY_TERM, D, N, coefficient, grid, irreducible_loss
from bayescale.priors import LogNormal

GRANULARITY = Input("G", "granularity: feed-forward width over an expert's width", "experts")

_EXPONENT = LogNormal(0.25, 0.6)
_WHY_EXPONENT = "published .115 and .147 here, .3 to .6 elsewhere; two prior SDs: .08 to .83"


def mean(
    E: Any, A: Any, B: Any, g: Any, alpha: Any, beta: Any, gamma_G: Any, N: Any, D: Any, G: Any
) -> Any:
    """L = E + (A + g G^-gamma_G) N^-alpha + B D^-beta."""
    return E + (A + g * power(G, -gamma_G)) * power(N, -alpha) + B * power(D, -beta)


KRAJEWSKI = Law(
    name="krajewski",
    title="Mixture of experts: loss from parameters, tokens and granularity",
    inputs=(N, D, GRANULARITY),
    params=(
        irreducible_loss(),
        coefficient(
            "A", "size_term", "alpha", "N", "size term at N = 1 of endlessly fine experts",
            "loss due to finite size with endlessly fine experts",
        ),
        coefficient("B", "data_term", "beta", "D", "data term at D = 1", "loss due to finite data"),
        Param(
            "g", TERM, "what coarse experts add to A at G = 1", "nats/token", "g",
            coordinate=Coordinate(
                "coarse_term",
                lambda coarse_term, gamma_G, alpha, G_ref, N_ref: (
                    coarse_term * G_ref**gamma_G * N_ref**alpha
                ),
                lambda g, gamma_G, alpha, G_ref, N_ref: g * G_ref**-gamma_G * N_ref**-alpha,
                "loss due to coarse experts at the data's geometric means of N and G",
                "nats/token",
            ),
            why=WHY_TERM,
        ),
        Param("alpha", _EXPONENT, "size exponent", "", r"\alpha", why=_WHY_EXPONENT),
        Param("beta", _EXPONENT, "data exponent", "", r"\beta", why=_WHY_EXPONENT),
        Param(
            "gamma_G", LogNormal(0.6, 0.5), "granularity exponent", "", r"\gamma_{G}",
            why="published .58; two prior SDs: .22 to 1.6",
        ),
    ),
    # neighbours trade off against each other: in this order 7 gradients a draw, else 13 to 45
    terms=("E", "data_term", "size_term", "coarse_term"),
    slopes=(("alpha", "size_term"), ("beta", "data_term"), ("gamma_G", "coarse_term")),
    tied=(("size_term", "coarse_term"),),
    mean=mean,
    equation=(
        r"L = E + \frac{A + \frac{g}{G^{\gamma_{G}}}}{N^{\alpha}} + \frac{B}{D^{\beta}}"
    ),
    reference=Reference("Krajewski et al. 2024", "2402.07871", "eq. 9"),
    derived=tuple(x for x in CHINCHILLA.derived if x.name in ("a", "b", "gamma")),
    design=lambda: grid(
        N=np.geomspace(1e8, 4e9, 4), D=np.geomspace(1.6e10, 1.3e11, 4), G=2.0 ** np.arange(5)
    ),
    note="N counts all experts; compute uses active parameters (cost=active_params(column)). "
    "a and b are allocation exponents at fixed granularity and sparsity.",
)  # fmt: skip
