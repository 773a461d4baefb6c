r"""Broken power law: exponents that change at breaks, smoothly or sharply.

:math:`L = E + A x^{-c_0} \prod_i (1 + (x/d_i)^{1/f_i})^{-c_i f_i}`: below the first break the
reducible loss falls with exponent :math:`c_0`, beyond break i with :math:`c_0 + … + c_i`, and
:math:`f_i` is the width of break i in e-folds of x (arXiv:2210.14891, eq. 1).
"""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from bayescale.arrays import namespace
from bayescale.errors import LawError
from bayescale.law import Input, Law, Param, Reference
from bayescale.laws.breaks import EXPONENT, WHY_EXPONENT, break_params, height_param, steps
from bayescale.laws.common import find_input, irreducible_loss
from bayescale.signature import taking

MOST = 3
POINTS = 40
WIDE = {"N": (1e6, 1e11), "D": (1e7, 1e12), "C": (1e16, 1e23)}  # decades, for a break to lie inside


def broken_power_law(variable: str | Input = "D", breaks: int = 1, name: str = "") -> Law:
    """Loss from one variable by a power law with one to three breaks.

    All exponents are positive, so the loss falls; breaks are ordered, d_1 < d_2 < d_3.

    Parameters
    ----------
    variable : str or Input
        ``"N"``, ``"D"``, ``"C"``, or an input of your own.
    breaks : int
        1 to 3.
    name : str
        Name of the law; default ``broken-power-law-D``, with 2 or 3 behind it for more breaks.

    Returns
    -------
    Law

    Raises
    ------
    LawError
        The variable is a name other than N, D and C, or there are no breaks or more than three.
    """
    if isinstance(breaks, bool) or breaks not in range(1, MOST + 1):
        raise LawError(f"broken_power_law with breaks={breaks!r}; expected 1, 2 or 3.")
    return _made(variable, int(breaks), name)


@cache
def _made(variable: str | Input, breaks: int, name: str) -> Law:
    """The law; once for each choice, however the factory was called."""
    own = ["E", "A", "c_0", *(f"{k}_{i}" for i in range(1, breaks + 1) for k in "cdf")]
    taken = [*own, "term", "shift_1", *(f"{k}_{i}" for i in range(4) for k in ("slope", "gap"))]
    x = find_input(variable, "broken_power_law", taken)
    shape = [n for n in own if n not in ("E", "A")]

    def mean(values: Mapping[str, Any]) -> Any:
        """L = E + A x^-c_0 prod (1 + (x/d_i)^(1/f_i))^(-c_i f_i)."""
        xp = namespace(values["A"], values[x.name])
        descent = xp.log(values["A"]) - steps(xp.log(values[x.name]), values, breaks)
        return values["E"] + xp.exp(descent)

    factors = "".join(
        rf" \cdot \left(1 + \left(\frac{{{x.name}}}{{d_{{{i}}}}}\right)^{{\frac{{1}}{{f_{{{i}}}}}}}"
        rf"\right)^{{-c_{{{i}}} f_{{{i}}}}}"
        for i in range(1, breaks + 1)
    )
    return Law(
        name=name or f"broken-power-law-{x.name}" + (f"-{breaks}" if breaks > 1 else ""),
        title=f"Loss from {x.meaning or x.name} alone, exponent changing at "
        + ("one break" if breaks == 1 else f"{breaks} breaks"),
        inputs=(x,),
        params=(
            irreducible_loss(),
            height_param(x, shape, breaks),
            Param("c_0", EXPONENT, "exponent below the first break", "", "c_{0}", why=WHY_EXPONENT),
            *(p for i in range(1, breaks + 1) for p in break_params(x, i, breaks)),
        ),
        terms=("E", "term"),
        slopes=(("c_0", "term"), *((f"slope_{i}", "term") for i in range(1, breaks + 1))),
        mean=taking([*own, x.name], mean),
        equation=rf"L = E + \frac{{A}}{{{x.name}^{{c_{{0}}}}}}{factors}",
        reference=Reference("Caballero et al. 2022", "2210.14891", "eq. 1"),
        may_rise=(x.name,) if breaks > 1 and x.name in WIDE else (),
        recipe=_recipe(variable, breaks, name),
        design=lambda: {x.name: np.geomspace(*WIDE.get(x.name, (1e2, 1e7)), POINTS)},
        note="A break outside the data can't be seen: its place and width then repeat their "
        "priors. Breaks nearer to each other than their widths can make the loss rise between.",
    )


def _recipe(variable: str | Input, breaks: int, name: str) -> tuple[str, str] | None:
    """By what a saved fit builds the law again: a family's options, where JSON can hold them."""
    if not isinstance(variable, str):
        return None
    options = {"variable": variable, "breaks": breaks, "name": name}
    return "broken-power-law", json.dumps(options, sort_keys=True)
