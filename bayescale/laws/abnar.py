"""Sparse mixture of experts: loss from total parameters, tokens and the share of idle experts."""

from typing import Any

import numpy as np

from bayescale.arrays import power
from bayescale.law import Centre, Coordinate, Input, Law, Param, Reference
from bayescale.laws.common import D, N, coefficient, exponent, grid, irreducible_loss
from bayescale.priors import LogNormal, Normal

SPARSITY = Input(
    "S", "share of experts that a token leaves idle (0: dense)", "share",
    positive=False, at_least=0.0, at_most=1 - 1e-6,
)  # fmt: skip

_TERM = LogNormal(0.3, 0.7)
_WHY_TERM = "a few tenths of a nat at the centre; two prior SDs: 0.07 to 1.2"
_RISE = Normal(0.0, 0.1)
_WHY_RISE = "published .08 nats for an active share lower by a factor e, at 1B; either sign"
_INTERACTION = Normal(0.0, 0.03)
_WHY_INTERACTION = "published .02 nats at 1B and 14% active; either sign"


def mean(
    E: Any, A: Any, B: Any, c: Any, d: Any, alpha: Any, beta: Any, gamma_N: Any,
    lambda_S: Any, delta_S: Any, N: Any, D: Any, S: Any,
) -> Any:  # fmt: skip
    """L = E + A N^-alpha + B D^-beta + c (1-S)^-lambda_S + d (1-S)^-delta_S N^-gamma_N."""
    size = A * power(N, -alpha) + d * power(1 - S, -delta_S) * power(N, -gamma_N)
    return E + size + B * power(D, -beta) + c * power(1 - S, -lambda_S)


def _sparsity_term(c: Any, lambda_S: Any, active_ref: Any) -> Any:
    return c * active_ref**-lambda_S


def _joint_term(d: Any, delta_S: Any, gamma_N: Any, active_ref: Any, N_ref: Any) -> Any:
    return d * active_ref**-delta_S * N_ref**-gamma_N


ABNAR = Law(
    name="abnar",
    title="Sparse models: loss from total parameters, tokens and sparsity",
    inputs=(N, D, SPARSITY),
    params=(
        irreducible_loss(),
        coefficient(
            "A", "size_term", "alpha", "N", "size term at N = 1", "loss due to finite total size"
        ),
        coefficient("B", "data_term", "beta", "D", "data term at D = 1", "loss due to finite data"),
        Param(
            "c", _TERM, "sparsity term of a dense model", "nats/token", "c",
            coordinate=Coordinate(
                "sparsity_term",
                lambda sparsity_term, lambda_S, active_ref: sparsity_term * active_ref ** lambda_S,
                _sparsity_term, "sparsity term at the data's centre of S", "nats/token",
            ),
            why=_WHY_TERM,
        ),
        Param(
            "d", _TERM, "joint term of a dense model at N = 1", "nats/token", "d",
            coordinate=Coordinate(
                "joint_term",
                lambda joint_term, delta_S, gamma_N, active_ref, N_ref: (
                    joint_term * active_ref ** delta_S * N_ref**gamma_N
                ),
                _joint_term, "joint term at the data's centre of S and N", "nats/token",
            ),
            why=_WHY_TERM,
        ),
        exponent("alpha", "size exponent", r"\alpha"),
        exponent("beta", "data exponent", r"\beta"),
        Param(
            "gamma_N", LogNormal(0.2, 0.5), "size exponent of the joint term", "", r"\gamma_{N}",
            why="published .16; two prior SDs: .07 to .54",
        ),
        Param(
            "lambda_S", _RISE, "sparsity exponent", "", r"\lambda_{S}",
            coordinate=Coordinate(
                "rise",
                lambda rise, interaction, gamma_N, sparsity_term: (
                    (rise - interaction / gamma_N) / sparsity_term
                ),
                lambda lambda_S, c, delta_S, d, gamma_N, active_ref, N_ref: (
                    lambda_S * _sparsity_term(c, lambda_S, active_ref)
                    + delta_S * _joint_term(d, delta_S, gamma_N, active_ref, N_ref)
                ),
                "rise of the loss per e-fold of 1/(1 - S) at the centre", "nats/token",
            ),
            why=_WHY_RISE,
        ),
        Param(
            "delta_S", _INTERACTION, "sparsity exponent of the joint term", "", r"\delta_{S}",
            coordinate=Coordinate(
                "interaction",
                lambda interaction, gamma_N, joint_term: interaction / (gamma_N * joint_term),
                lambda delta_S, d, gamma_N, active_ref, N_ref: (
                    delta_S * gamma_N * _joint_term(d, delta_S, gamma_N, active_ref, N_ref)
                ),
                "fall of that rise per e-fold of N at the centre", "nats/token",
            ),
            why=_WHY_INTERACTION,
        ),
    ),
    # neighbours trade off against each other: E with c, the joint term with the size term
    terms=("E", "sparsity_term", "joint_term", "size_term", "data_term"),
    slopes=(("alpha", "size_term"), ("beta", "data_term"), ("gamma_N", "joint_term")),
    sums=(("alpha", "gamma_N"),),
    mean=mean,
    equation=(
        r"L = E + \frac{A}{N^{\alpha}} + \frac{B}{D^{\beta}}"
        r" + \frac{c}{\left(1 - S\right)^{\lambda_{S}}}"
        r" + \frac{d}{\left(1 - S\right)^{\delta_{S}} \cdot N^{\gamma_{N}}}"
    ),
    centres=(Centre("active_ref", "", lambda S: np.exp(np.mean(np.log1p(-S)))),),
    reference=Reference("Abnar et al. 2025", "2501.12370", "eq. 6"),
    signs=("lambda_S", "delta_S"),
    tied=(("E", "sparsity_term"), ("size_term", "joint_term")),
    design=lambda: grid(
        N=np.geomspace(1e8, 1e10, 4), D=np.geomspace(1e10, 3e11, 3),
        S=np.array([0, 0.5, 0.75, 0.9, 0.95, 0.98]),
    ),
    note="N counts all experts; compute uses active parameters (cost=active_params(column)). With "
    "one S, c can't be told from E nor delta_S from d; two size terms need sizes far apart.",
)  # fmt: skip
