r"""Repetition: what tokens are worth that a run sees again, and parameters beyond their data.

Effective tokens :math:`D'` grow with epochs towards :math:`(1 + R_D^*) U`; effective parameters
:math:`N'` grow likewise beyond :math:`U_N`, the size that the unique tokens can feed:

.. math::
    L = E + A N'^{-\alpha} + B D'^{-\beta}, \quad
    D' = U \left(1 + R_D^* (1 - e^{-(D/U - 1)/R_D^*})\right), \quad
    N' = U_N \left(1 + R_N^* (1 - e^{-(N/U_N - 1)/R_N^*})\right)

with :math:`U_N = \min(N, N_{opt}(U))`, :math:`N_{opt}(U) = (\alpha A U^\beta/(\beta B))^{1/\alpha}`
(arXiv:2305.16264, section 3).
"""

from functools import cache
from typing import Any

from bayescale.arrays import namespace, power
from bayescale.law import Coordinate, Derived, Input, Law, Param, Reference
from bayescale.laws import effective
from bayescale.laws.chinchilla import CHINCHILLA
from bayescale.laws.common import TERM, WHY_TERM, D, N, coefficient, exponent, irreducible_loss
from bayescale.priors import LogNormal

U = Input("U", "unique training tokens", "tokens", usual="D")


def mean_of_tokens(
    E: Any, A: Any, B: Any, alpha: Any, beta: Any, R_D_star: Any, N: Any, D: Any, U: Any
) -> Any:
    """L = E + A N^-alpha + B D'^-beta."""
    tokens = effective.effective_tokens(D, U, R_D_star)
    return E + A * power(N, -alpha) + B * power(tokens, -beta)


def mean(
    E: Any, A: Any, B: Any, alpha: Any, beta: Any, R_D_star: Any, R_N_star: Any,
    N: Any, D: Any, U: Any,
) -> Any:  # fmt: skip
    """L = E + A N'^-alpha + B D'^-beta."""
    xp = namespace(A, N)
    fed = effective.log_fed_size(A, B, alpha, beta, U)
    size = xp.exp(xp.log(A) - alpha * effective.log_effective_size(N, fed, R_N_star))
    return E + size + B * power(effective.effective_tokens(D, U, R_D_star), -beta)


_CENTRED = Coordinate(
    "data_term",
    to_param=lambda data_term, beta, R_D_star, D_ref, U_ref: (
        data_term * effective.effective_tokens(D_ref, U_ref, R_D_star) ** beta
    ),
    from_param=lambda B, beta, R_D_star, D_ref, U_ref: (
        B * effective.effective_tokens(D_ref, U_ref, R_D_star) ** -beta
    ),
    meaning="loss due to finite data at the effective tokens of the data's centre",
    unit="nats/token",
)
_FED = Coordinate(
    "fed_size",
    to_param=lambda fed_size, B, alpha, beta, N_ref, U_ref: (
        beta * B / alpha * U_ref**-beta * (fed_size * N_ref) ** alpha
    ),
    from_param=lambda A, B, alpha, beta, N_ref, U_ref: (
        namespace(A).exp(effective.log_fed_size(A, B, alpha, beta, U_ref)) / N_ref
    ),
    meaning="size that the unique tokens feed at the data's centre, over that of the models",
)
# not the size term at the centre: with it a third of the prior has all models so far beyond
# their data, or so far below, that sizes tell nothing of A, alpha and R_N_star
_FED_SIZE = Param(
    "A", LogNormal(1.0, 1.5), "size term at N = 1", "nats/token", "A", coordinate=_FED,
    why="runs are made where both sizes and tokens count: published .1 to 1; two prior SDs: a "
    "factor of 20 either way",
)  # fmt: skip
_SIZE_TERM = coefficient(
    "A", "size_term", "alpha", "N", "size term at N = 1", "loss due to finite size"
)
_TOKENS = Param(
    "R_D_star", LogNormal(10.0, 1.0), "e-folding number of repetitions of the data", "epochs",
    "R_{D}^{*}",
    why="15 on C4 text, 1 to 2 on vision and audio tokens, about 20 on image-text pairs; "
    "two prior SDs: 1.4 to 74",
)  # fmt: skip
_SIZE = Param(
    "R_N_star", LogNormal(5.0, 1.0),
    "e-folding multiple of parameters beyond what the unique tokens feed", "", "R_{N}^{*}",
    why="5.3 on C4; two prior SDs: 0.7 to 37",
)  # fmt: skip


def _worth_latex(unique: str, seen: str, limit: str) -> str:
    times = rf"-\frac{{{seen}/{unique} - 1}}{{{limit}}}"
    gained = rf"{limit} \cdot \left(1 - \exp\left({times}\right)\right)"
    return rf"{unique} \cdot \left(1 + {gained}\right)"


_D_EFFECTIVE = r",\quad D' = " + _worth_latex("U", "D", "R_{D}^{*}")
_N_EFFECTIVE = (
    r",\quad N' = " + _worth_latex("U_{N}", "N", "R_{N}^{*}") + r",\quad U_{N} = "
    r"\min\left(N, \left(\frac{\alpha A U^{\beta}}{\beta B}\right)^{\frac{1}{\alpha}}\right)"
)


def repetition(excess_params: bool = True) -> Law:
    """Loss from parameters, tokens and unique tokens.

    Parameters
    ----------
    excess_params : bool
        Whether parameters beyond what the unique tokens feed count less, with R_N_star (as in
        the paper). Without it N' = N, and one epoch (U = D) is Chinchilla's law exactly; with
        it, for sizes up to N_opt(U).

    Returns
    -------
    Law
    """
    return _made(bool(excess_params))


@cache
def _made(excess_params: bool) -> Law:
    """The law; once for each choice, however the factory was called."""
    size, where = ("N'", _N_EFFECTIVE) if excess_params else ("N", "")
    return Law(
        name="repetition" if excess_params else "repetition-tokens",
        title="Loss from parameters, tokens and unique tokens"
        + ("" if excess_params else "; all parameters count"),
        inputs=(N, D, U),
        params=(
            irreducible_loss(),
            _FED_SIZE if excess_params else _SIZE_TERM,
            Param(
                "B", TERM, "data term at D = 1", "nats/token", "B", coordinate=_CENTRED,
                why=WHY_TERM,
            ),
            exponent("alpha", "size exponent", r"\alpha"),
            exponent("beta", "data exponent", r"\beta"),
            _TOKENS,
            *((_SIZE,) if excess_params else ()),
        ),
        terms=("E", *(() if excess_params else ("size_term",)), "data_term"),
        slopes=(*(() if excess_params else (("alpha", "size_term"),)), ("beta", "data_term")),
        mean=mean if excess_params else mean_of_tokens,
        equation=rf"L = E + \frac{{A}}{{{size}^{{\alpha}}}} + \frac{{B}}{{D'^{{\beta}}}}"
        + _D_EFFECTIVE + where,
        reference=Reference("Muennighoff et al. 2023", "2305.16264", "section 3"),
        derived=(
            *CHINCHILLA.derived,
            Derived(
                "N_opt_ratio",
                lambda A, B, alpha, beta, U_ref: (
                    namespace(A).exp(effective.log_fed_size(A, B, alpha, beta, U_ref)) / U_ref
                ),
                "parameters that a unique token feeds in one epoch, at the centre of U",
                "parameters/token",
                "N_{opt}/U",
            ),
            Derived(
                "max_worth", lambda R_D_star: 1 + R_D_star,
                "epochs of fresh data that endless repetition is worth", "epochs", "1 + R_{D}^{*}",
            ),
        ),
        check=effective.check_epochs,
        design=effective.plain_design,
        note="The loss can't rise with epochs here: runs harmed by repetition are outside this "
        "law, and are named where there are any.",
    )  # fmt: skip
