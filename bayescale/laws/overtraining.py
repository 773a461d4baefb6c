r"""Over-training: the loss off the optimal ratio of tokens to parameters.

:math:`L = E + (a M^{\eta} + b M^{-\eta}) C^{-\eta}` with :math:`M = D/N` and :math:`C = 6 N D`
(arXiv:2403.08540). It is Chinchilla's law with :math:`\alpha = \beta = 2 \eta`,
:math:`A = a 6^{-\eta}` and :math:`B = b 6^{-\eta}`: over-training by a fixed factor then raises
the reducible loss by a fixed factor at every compute.
"""

from typing import Any

from bayescale.arrays import power
from bayescale.law import Coordinate, Derived, Law, Param, Reference, renamed
from bayescale.laws.common import TERM, WHY_TERM, D, N, irreducible_loss
from bayescale.priors import LogNormal


def mean(E: Any, a_M: Any, b_M: Any, eta: Any, N: Any, D: Any) -> Any:
    """L = E + (a M^eta + b M^-eta) C^-eta with M = D/N, C = 6 N D."""
    ratio = power(D / N, eta)
    return E + (a_M * ratio + b_M / ratio) * power(6.0 * N * D, -eta)


def _from_term(term: Any, eta: Any, x_ref: Any) -> Any:
    return term * 6.0**eta * x_ref ** (2 * eta)


def _to_term(k: Any, eta: Any, x_ref: Any) -> Any:
    return k * 6.0**-eta * x_ref ** (-2 * eta)


def _coefficient(name: str, term: str, variable: str, meaning: str, costs: str) -> Param:
    ref = f"{variable}_ref"
    return Param(
        name,
        TERM,
        meaning,
        "nats/token FLOP^eta",
        f"{name[0]}_{{M}}",
        coordinate=Coordinate(
            term,
            to_param=renamed(_from_term, term=term, x_ref=ref),
            from_param=renamed(_to_term, k=name, x_ref=ref),
            meaning=f"{costs} at the data's geometric mean of {variable}",
            unit="nats/token",
        ),
        why=WHY_TERM,
    )


OVERTRAINING = Law(
    name="overtraining",
    title="Loss from compute and tokens per parameter (one exponent)",
    inputs=(N, D),
    params=(
        irreducible_loss(),
        _coefficient("a_M", "size_term", "N", "coefficient of M^eta", "loss due to finite size"),
        _coefficient("b_M", "data_term", "D", "coefficient of M^-eta", "loss due to finite data"),
        Param(
            "eta",
            LogNormal(0.175, 0.4),
            "compute exponent of the reducible loss",
            "",
            r"\eta",
            why="half the exponent of size or data, which run from .1 to .7: two prior SDs "
            "0.08 to 0.39",
        ),
    ),
    terms=("E", "size_term", "data_term"),
    slopes=(("eta", "size_term"), ("eta", "data_term")),
    mean=mean,
    equation=(
        r"L = E + \left(a_{M} \cdot \left(\frac{D}{N}\right)^{\eta} "
        r"+ b_{M} \cdot \left(\frac{D}{N}\right)^{-\eta}\right) \cdot \left(6 N D\right)^{-\eta}"
    ),
    reference=Reference("Gadre et al. 2024", "2403.08540"),
    derived=(
        Derived("alpha", lambda eta: 2 * eta, "size and data exponent", "", r"\alpha"),
        Derived("A", lambda a_M, eta: a_M * 6.0**-eta, "size term at N = 1", "nats/token", "A"),
        Derived("B", lambda b_M, eta: b_M * 6.0**-eta, "data term at D = 1", "nats/token", "B"),
        Derived(
            "M_opt",
            lambda a_M, b_M, eta: (b_M / a_M) ** (1 / (2 * eta)),
            "tokens per parameter with the least loss, at any compute",
            "tokens/parameter",
            r"M_{opt}",
        ),
    ),
    note="Size and data share one exponent, so N and D grow alike with compute (a = b = 1/2).",
)
