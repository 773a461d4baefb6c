"""A power law with a floor in one variable."""

from typing import Any

from bayescale.arrays import power
from bayescale.law import Input, Law, Reference, renamed
from bayescale.laws.common import coefficient, exponent, find_input, irreducible_loss


def mean(E: Any, A: Any, alpha: Any, x: Any) -> Any:
    """L = E + A x^-alpha."""
    return E + A * power(x, -alpha)


def power_law(variable: str | Input = "N", name: str = "") -> Law:
    """Loss from one variable: L = E + A x^-alpha.

    Parameters
    ----------
    variable : str or Input
        ``"N"``, ``"D"``, ``"C"``, or an input of your own.
    name : str
        Name of the law; default ``power-law-N`` and so on.

    Returns
    -------
    Law

    Raises
    ------
    LawError
        The variable is a name other than N, D and C.
    """
    x = find_input(variable, "power_law", ("E", "A", "alpha", "term"))
    return Law(
        name=name or f"power-law-{x.name}",
        title=f"Loss from {x.meaning or x.name} alone",
        inputs=(x,),
        params=(
            irreducible_loss(),
            coefficient(
                "A", "term", "alpha", x.name, f"reducible loss at {x.name} = 1", "reducible loss"
            ),
            exponent("alpha", f"exponent of {x.name}", r"\alpha"),
        ),
        terms=("E", "term"),
        slopes=(("alpha", "term"),),
        mean=renamed(mean, x=x.name),
        equation=rf"L = E + \frac{{A}}{{{x.name}^{{\alpha}}}}",
        reference=Reference("Kaplan et al. 2020, with a floor", "2001.08361", "eq. 1.1 to 1.3"),
    )
