r"""An accuracy that rises from guessing to a plateau: what several accuracy laws share.

:math:`m = h \sigma(o)` with log odds o = a at the data's centre. Runs that lie all on one side of
the rise fix m and its slope, and leave h, a and the steepness to trade off along a bent ridge. So
what is sampled are the log odds of m itself, their slope at the centre, and h as m plus a share of
what m leaves: h = m + reach (1 - m). Measured on data sets of the whole prior: a fifth did not
converge with h and a themselves.
"""

from collections.abc import Callable
from typing import Any

from bayescale.arrays import namespace
from bayescale.errors import LawError
from bayescale.law import Coordinate, Param
from bayescale.priors import Beta

WHY_PLATEAU = "most tasks can be solved to 90% or so: half of the prior reaches 79% of what is left"


def check_floor(floor: Any) -> None:
    """Raise where the accuracy of guessing is no share below 1."""
    if isinstance(floor, bool) or not isinstance(floor, int | float) or not 0 <= floor < 1:
        raise LawError(f"floor is {floor!r}; expected the accuracy of guessing, from 0 to below 1.")


def plateau(reach_from: Callable[..., Any]) -> Param:
    """h, what is reached of the rise above guessing.

    Parameters
    ----------
    reach_from : callable
        `reach_of` in the law's own parameters and references.
    """
    reach = Coordinate(
        "reach",
        plateau_of,
        reach_from,
        "plateau above the rise at the centre, over what that leaves",
    )
    meaning = "plateau, as a share of what guessing leaves"
    return Param("h", Beta(3.0, 1.0), meaning, "", "h", coordinate=reach, why=WHY_PLATEAU)


def sigmoid(x: Any) -> Any:
    """1/(1 + e^-x)."""
    return 1 / (1 + namespace(x).exp(-x))


def plateau_of(reach: Any, odds: Any) -> Any:
    """Plateau h from the log odds of the rise m at the centre, and the share of 1 - m above it."""
    return sigmoid(odds) + sigmoid(-odds) * reach


def reach_of(h: Any, inner: Any) -> Any:
    """Inverse of `plateau_of`, from the log odds of the rise's share of h."""
    return h * sigmoid(-inner) / (1 - h * sigmoid(inner))


def odds_of(h: Any, inner: Any) -> Any:
    """Log odds of m = h sigma(inner)."""
    return inner + namespace(h).log(reach_of(h, inner))


def inner_odds(odds: Any, reach: Any) -> Any:
    """Inverse of `odds_of`: log odds of m/h, from those of m."""
    return odds - namespace(reach).log(reach)


def risen(floor: float, h: Any, odds: Any) -> Any:
    """P = f + (1 - f) h / (1 + exp(-odds))."""
    return floor + (1 - floor) * h / (1 + namespace(h, odds).exp(-odds))


def risen_latex(floor: float, minus_odds: str) -> str:
    """The equation of `risen`, with the negative log odds in LaTeX."""
    front, top = (f"{floor:g} + ", f"{1 - floor:g} h") if floor else ("", "h")
    return rf"P = {front}\frac{{{top}}}{{1 + \exp{{\left({minus_odds} \right)}}}}"
