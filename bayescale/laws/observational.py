"""Observational laws: capability from compute within families, accuracy from capability."""

from typing import Any

from bayescale.arrays import namespace
from bayescale.law import Coordinate, Input, Law, Param, Reference
from bayescale.laws.common import C
from bayescale.laws.memoised import memoised
from bayescale.laws.plateau import (
    check_floor,
    inner_odds,
    odds_of,
    plateau,
    reach_of,
    risen,
    risen_latex,
)
from bayescale.noise import Noise
from bayescale.priors import LogNormal, Normal

RUAN = "2405.10938"
WHY_EFFICIENCY = "a family gains a few points to a third of the scale per factor 10 of compute"
WHY_LEVEL = "scores are centred and spread over a few tenths in accuracy"
WHY_WEIGHT = "scores spread over tenths: a weight of 10 turns a task from hard to easy over them"
WHY_INTERCEPT = "log odds at the mean score: from 2% to 98%"


def _scatter(size: float) -> Noise:
    """Normal: families of three models have two parameters each, and many models score exactly 0.

    A heavy tail could take half of them for outliers and fit the others without any scatter.
    """
    return Noise("normal", on="response", sigma=LogNormal(size, 1.0), run_sd=LogNormal(size, 1.0))


def mean_score(theta: Any, nu_f: Any, C: Any) -> Any:
    """S = theta ln C + nu_f."""
    return theta * namespace(C).log(C) + nu_f


_LEVEL = Coordinate(
    "level",
    lambda level, theta, C_ref: level - theta * namespace(C_ref).log(C_ref),
    lambda nu_f, theta, C_ref: nu_f + theta * namespace(C_ref).log(C_ref),
    "score at the data's geometric mean of compute",
    "accuracy",
)
_GAIN, _PRIOR = "score per e-fold of C", Normal(0.0, 0.3)
OBSERVATIONAL_COMPUTE = Law(
    name="observational-compute",
    title="Capability of a family from its training compute",
    inputs=(C,),
    params=(
        Param("theta", LogNormal(0.05, 1.0), _GAIN, "accuracy", r"\theta", why=WHY_EFFICIENCY),
        Param(
            "nu_f",
            _PRIOR,
            "score at C = 1",
            "accuracy",
            r"\nu_{f}",
            coordinate=_LEVEL,
            why=WHY_LEVEL,
        ),
    ),
    mean=mean_score,
    equation=r"S = \nu_{f} + \theta \ln(C)",
    reference=Reference("Ruan et al. 2024", RUAN, "eq. 3"),
    response="score",
    response_unit="accuracy",
    noise=_scatter(0.03),
    note='Families differ: fit with pooling={"theta": partial("family"), "level": '
    'partial("family")}; scores come from capability_scores, one component a fit.',
)


@memoised
def observational(components: tuple[str, ...], floor: float = 0.0) -> Law:
    r"""Accuracy on a task from capability scores.

    .. math:: P = f + (1 - f)\, h\, \sigma(\beta^\top S + \alpha)

    Parameters
    ----------
    components : tuple of str
        Labels of the scores; column ``S_1`` for "1".
    floor : float
        f, the accuracy of guessing.

    Returns
    -------
    Law
        Response ``accuracy``, a fraction; reads S_1 to S_K.

    References
    ----------
    Ruan et al. 2024, arXiv:2405.10938, eq. 4.
    """
    check_floor(floor)
    from bayescale.families.family import recipe_of

    def mean(h: Any, alpha: Any, beta: Any, S: Any) -> Any:
        """P = f + (1 - f) h / (1 + exp(-(beta . S + alpha)))."""
        return risen(floor, h, (beta * S).sum(-1) + alpha)

    odds = Coordinate(
        "odds",
        inner_odds,
        lambda alpha, h: odds_of(h, alpha),
        "log odds of the rise at the mean score",
    )
    rise = Coordinate(
        "rise",
        lambda rise, h, reach: rise * namespace(h).expand_dims(h / reach, axis=-1),
        lambda beta, h, alpha: beta * namespace(h).expand_dims(reach_of(h, alpha) / h, axis=-1),
        "rise of those log odds per unit of score, at the mean score",
        "log odds",
    )
    score = Input("S", "capability score of the model", "accuracy", ("component",), positive=False)
    steep, dims, unit = "log odds per unit of score", ("component",), "log odds"
    return Law(
        name="observational",
        title="Accuracy on a task from capability scores",
        inputs=(score,),
        params=(
            plateau(lambda h, alpha: reach_of(h, alpha)),
            Param(
                "alpha", Normal(0.0, 2.0), "intercept", unit, r"\alpha", coordinate=odds,
                why=WHY_INTERCEPT,
            ),
            Param(
                "beta", Normal(0.0, 5.0), steep, unit, r"\beta", dims, coordinate=rise,
                why=WHY_WEIGHT,
            ),
        ),
        mean=mean,
        equation=risen_latex(floor, r"-\beta S - \alpha"),
        reference=Reference("Ruan et al. 2024", RUAN, "eq. 4"),
        response="accuracy",
        response_unit="",
        labels={"component": components},
        noise=_scatter(0.02),
        design=lambda: {f"S_{c}": _spread(k) for k, c in enumerate(components)},
        signs=("beta",),
        recipe=recipe_of("observational", components=components, floor=floor),
    )  # fmt: skip


def _spread(nth: int) -> list[float]:
    """Forty scores of a component, each half as spread as the one before."""
    return [0.4 * 0.5**nth * (2 * ((k * (7 + 6 * nth)) % 40) / 39 - 1) for k in range(40)]
