"""An accuracy that rises from guessing to a plateau: what several accuracy laws share."""

from typing import Any

from bayescale.arrays import namespace
from bayescale.errors import LawError
from bayescale.law import Param
from bayescale.priors import Beta

WHY_PLATEAU = "most tasks can be solved to 90% or so; half of the prior lies above .84"


def check_floor(floor: Any) -> None:
    """Raise where the accuracy of guessing is no share below 1."""
    if isinstance(floor, bool) or not isinstance(floor, int | float) or not 0 <= floor < 1:
        raise LawError(f"floor is {floor!r}; expected the accuracy of guessing, from 0 to below 1.")


def plateau() -> Param:
    """h, what is reached of the rise above guessing."""
    meaning = "plateau, as a share of what guessing leaves"
    return Param("h", Beta(4.0, 1.0), meaning, "", "h", why=WHY_PLATEAU)


def risen(floor: float, h: Any, odds: Any) -> Any:
    """P = f + (1 - f) h / (1 + exp(-odds))."""
    return floor + (1 - floor) * h / (1 + namespace(h, odds).exp(-odds))


def risen_latex(floor: float, minus_odds: str) -> str:
    """The equation of `risen`, with the negative log odds in LaTeX."""
    front, top = (f"{floor:g} + ", f"{1 - floor:g} h") if floor else ("", "h")
    return rf"P = {front}\frac{{{top}}}{{1 + \exp{{\left({minus_odds} \right)}}}}"
