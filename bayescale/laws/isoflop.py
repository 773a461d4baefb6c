r"""IsoFLOP slices as one hierarchical law: a valley in ln N a budget, minima along a power law.

Budget k has its own least loss L_k and curvature h_k, and its best size is
:math:`N_k = G_k (C/6)^a`, with G_k partially pooled over budgets around a common G
(arXiv:2203.15556, section 3.2, where slices and the power law are fitted one after the other).
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bayescale.arrays import namespace, power
from bayescale.errors import LawError, nearest
from bayescale.law import Coordinate, Derived, Law, Param, Reference
from bayescale.laws.common import EXPONENT, WHY_EXPONENT, C, N
from bayescale.laws.memoised import memoised
from bayescale.noise import Noise
from bayescale.priors import Beta, LogNormal, Normal, Uniform
from bayescale.signature import taking
from bayescale.support import POSITIVE

EXAMPLE = ("1e18", "3e18", "1e19", "3e19", "1e20")
ASIDE = 1.5  # e-folds of N either side of the minimum where the rise of a slice is sampled
# Spreads keep off 0: below what slices can tell nothing is left to learn, and the sampler would
# crawl down a funnel. Tails heavier than 4 let a valley run through some runs exactly and leave out
# the others: a spike of the density far from the posterior, about which the sampler would be set
# up. On 40 runs whose minima lie on the power law: 795 gradients a draw with HalfNormal(0.2) and
# the usual tail, 30 with these spreads and degrees of freedom from 2; on twelve real slices of five
# runs 86 from 2, 36 from 4.
STRAY = LogNormal(0.03, 0.8)  # of ln N_opt around the power law; two prior SDs: .6 to 15%
DIFFER = LogNormal(0.3, 0.7)  # of the log rise between budgets; two prior SDs: .07 to 1.2
TAIL = Uniform(4.0, 50.0)  # degrees of freedom of the noise
SIZES = 8  # of each budget of the plain design
MEANS: dict[str, Callable[..., Any]] = {}  # by shape
_BEST = r", \quad N_{k} = G_{k} \left(\frac{C}{6}\right)^{a}"
_EQUATIONS = {
    "parabola": r"L = L_{k} + \frac{h_{k}}{2} \ln^{2}\left(\frac{N}{N_{k}}\right)",
    "cubic": r"L = L_{k} + \frac{h_{k}}{2} \ln^{2}\left(\frac{N}{N_{k}}\right)"
    r" \left(1 + \frac{s}{3} \ln\left(\frac{N}{N_{k}}\right)\right)",
    "powers": r"L = L_{k} + \frac{h_{k}}{\alpha + \beta} \left("
    r"\frac{\left(N_{k} / N\right)^{\alpha} - 1}{\alpha}"
    r" + \frac{\left(N / N_{k}\right)^{\beta} - 1}{\beta}\right)",
}


def off_best(G: Any, a: Any, N: Any, C: Any) -> Any:
    """Distance ln N/N_k: how far a size lies off its budget's best."""
    xp = namespace(G, a, N, C)
    return xp.log(N) - xp.log(G) - a * xp.log(C / 6)


def parabola(L_min: Any, G: Any, a: Any, h: Any, N: Any, C: Any) -> Any:
    """L = L_k + h_k x^2/2 with x = ln N/N_k and N_k = G_k (C/6)^a."""
    return L_min + 0.5 * h * off_best(G, a, N, C) ** 2


def cubic(L_min: Any, G: Any, a: Any, h: Any, s: Any, N: Any, C: Any) -> Any:
    """L = L_k + h_k x^2/2 (1 + s x/3) with x = ln N/N_k and N_k = G_k (C/6)^a."""
    x = off_best(G, a, N, C)
    return L_min + 0.5 * h * x**2 * (1 + s * x / 3)


def powers(L_min: Any, G: Any, a: Any, h: Any, alpha: Any, beta: Any, N: Any, C: Any) -> Any:
    """L = L_k + h_k/(alpha + beta) [((N/N_k)^-alpha - 1)/alpha + ((N/N_k)^beta - 1)/beta]."""
    x = off_best(G, a, N, C)
    xp = namespace(x)
    sides = xp.expm1(-alpha * x) / alpha + xp.expm1(beta * x) / beta
    return L_min + h * sides / (alpha + beta)


MEANS |= {"parabola": parabola, "cubic": cubic, "powers": powers}


@memoised
def isoflop(
    budgets: tuple[str, ...] = EXAMPLE, shape: str = "powers", deviations: bool = True
) -> Law:
    r"""A valley of loss in ln N at each budget, with minima along a power law of compute.

    With x = ln N/N_k and N_k = G_k (C/6)^a, the loss above the slice's least one is

    - ``parabola``: :math:`h_k x^2/2`,
    - ``cubic``: :math:`h_k x^2 (1 + s x/3)/2`,
    - ``powers``: :math:`h_k [(e^{-\alpha x} - 1)/\alpha + (e^{\beta x} - 1)/\beta]/(\alpha+\beta)`,
      a convex valley between a falling and a rising power of N, as any slice of Chinchilla's law
      is; the minima are left free, so a need not be beta/(alpha + beta).

    All three have curvature h_k at the minimum. Where slices are not symmetric, a parabola puts
    the minimum to their steeper side's far end: on slices simulated from Chinchilla's law with
    exponents .65 and .38, eight times the best size either way, N_opt is 15% too large, a cubic's
    .5% too small, and ``powers`` exact (``python -m benchmarks.answers.isoflop_bias``).

    Parameters
    ----------
    budgets : tuple of str
        Labels of the budgets, as they stand in the column ``budget``.
    shape : {"powers", "cubic", "parabola"}
    deviations : bool
        Whether minima scatter around the power law (G partially pooled over budgets), or lie on it.

    Raises
    ------
    LawError
        An unknown shape, or fewer than two budgets.
    """
    from bayescale.families.family import recipe_of

    if shape not in MEANS:
        raise LawError(f"isoflop has no shape '{shape}'; it has {', '.join(MEANS)}." + _near(shape))
    if isinstance(budgets, str) or len(budgets) < 2:
        raise LawError(f"isoflop with budgets={budgets!r}; two or more are needed for a slope.")
    return Law(
        name="isoflop",
        title="IsoFLOP slices whose minima follow a power law of compute",
        inputs=(N, C),
        params=(*_valleys(deviations, shape), *_asymmetry(shape)),
        mean=MEANS[shape],
        equation=_EQUATIONS[shape] + (_BEST if deviations else _BEST.replace("G_{k}", "G")),
        reference=Reference("Hoffmann et al. 2022, approach 2", "2203.15556", "section 3.2"),
        derived=(Derived("b", lambda a: 1 - a, "allocation exponent of D, for C = 6 N D",
                         "", "b"),),
        labels={"budget": tuple(budgets)},
        noise=Noise(nu=TAIL),
        design=lambda: plain_design(tuple(budgets)),
        may_rise=("N", "C"),
        nuisance=tuple(p.name for p in _asymmetry(shape)),
        recipe=recipe_of("isoflop", budgets=budgets, shape=shape, deviations=deviations),
        note="C is the budget of a slice, one for all of its runs.",
    )  # fmt: skip


def _near(shape: Any) -> str:
    return nearest(str(shape), list(MEANS))


def _valleys(deviations: bool, shape: str) -> tuple[Param, ...]:
    """Least loss, best size and curvature of each budget."""
    centred = Coordinate(
        "shift",
        lambda shift, a, N_ref, C_ref: N_ref * namespace(shift).exp(shift) * power(C_ref / 6, -a),
        lambda G, a, N_ref, C_ref: namespace(G).log(G * power(C_ref / 6, a) / N_ref),
        "ln of the best size over the data's geometric mean, at its mean C",
        "e-folds",
    )
    own = {"by": "budget", "spread": STRAY} if deviations else {}
    return (
        Param("L_min", LogNormal(2.5, 1.0), "least loss at a budget", "nats/token", "L_{k}",
              by="budget", why="text has 1 to 5 nats/token; a factor e either way covers bits"),
        Param("G", Normal(0.0, 1.0), "best size at C = 6 FLOP", "parameters",
              "G_{k}" if deviations else "G", support=POSITIVE, coordinate=centred,
              why="slices bracket their minima: within a factor of 7 of their centre, and minima "
              "stray from the power law by 1 to 15%", **own),
        Param("a", Beta(2.0, 2.0), "allocation exponent of N", "", "a",
              why="published .46 (Hoffmann) to .73 (Kaplan); two prior SDs: .05 to .95"),
        Param("h", LogNormal(0.07, 1.0), "curvature of a slice at its minimum, in ln N",
              "nats/token", "h_{k}", by="budget", spread=DIFFER,
              coordinate=_rise(shape),
              why="Chinchilla's slices rise by .07 at 1e21 FLOP, and flatten as its reducible loss "
              "falls: by a factor of 2 in four e-folds"),
    )  # fmt: skip


def _rise(shape: str) -> Coordinate:
    """Curvature by what the data see of it: the mean rise of loss at both sides of the minimum.

    Curvature at the very minimum is tied to the exponents of both sides: where these are large the
    valley's floor is flat.
    """

    def per_curvature(values: Mapping[str, Any]) -> Any:
        if shape != "powers":
            return 0.5 * ASIDE**2
        alpha, beta = values["alpha"], values["beta"]
        xp = namespace(alpha)
        sides = (xp.cosh(ASIDE * alpha) - 1) / alpha + (xp.cosh(ASIDE * beta) - 1) / beta
        return sides / (alpha + beta)

    own = [p.name for p in _asymmetry(shape)] if shape == "powers" else []
    return Coordinate(
        "rise",
        taking(["rise", *own], lambda v: v["rise"] / per_curvature(v)),
        taking(["h", *own], lambda v: v["h"] * per_curvature(v)),
        "mean rise of loss a factor of 4.5 below and above the best size",
        "nats/token",
    )


def _asymmetry(shape: str) -> tuple[Param, ...]:
    """What makes one side steeper: third over second derivative is s, or beta - alpha."""
    why = "of Chinchilla's slices it is beta - alpha: published -.3 to .2"
    if shape == "parabola":
        return ()
    if shape == "cubic":
        return (
            Param("s", Normal(0.0, 0.2), "asymmetry: third over second derivative", "", "s",
                  why=why),
        )  # fmt: skip
    skew = Coordinate(
        "skew",
        lambda skew, width: _root(skew, width) - 0.5 * skew,
        lambda alpha, beta: beta - alpha,
        "beta - alpha, the asymmetry",
    )
    width = Coordinate(
        "width",
        lambda skew, width: _root(skew, width) + 0.5 * skew,
        lambda alpha, beta: namespace(alpha, beta).sqrt(alpha * beta),
        "geometric mean of alpha and beta: how much steeper than a parabola both sides grow",
    )
    return (
        Param("alpha", Normal(0.0, 0.2), "exponent of the side of too few parameters", "",
              r"\alpha", support=POSITIVE, coordinate=skew, why=why),
        Param("beta", EXPONENT, "exponent of the side of too few tokens", "", r"\beta",
              coordinate=width, why=WHY_EXPONENT),
    )  # fmt: skip


def _root(skew: Any, width: Any) -> Any:
    """Mean of alpha and beta."""
    return namespace(skew, width).sqrt(width**2 + 0.25 * skew**2)


def plain_design(budgets: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Eight sizes at each budget, from an eighth to eight times sqrt(C/120)."""
    compute = np.array([_compute(b, k) for k, b in enumerate(budgets)])
    around = np.geomspace(1 / 8, 8, SIZES)
    size = np.sqrt(compute / 120)[:, None] * around
    return {
        "N": size.ravel(),
        "C": np.repeat(compute, SIZES),
        "budget": np.repeat(np.array(budgets, dtype=object), SIZES),
    }


def _compute(label: str, place: int) -> float:
    """A budget's compute from its label; labels of a user's own are a factor of 3 apart."""
    try:
        return float(label)
    except ValueError:
        return 1e18 * 3.0**place
