"""Inputs, parameters and default priors that several loss laws share, with the reason for each."""

from collections.abc import Container
from typing import Any

import numpy as np

from bayescale.errors import LawError
from bayescale.law import Coordinate, Input, Param, renamed
from bayescale.priors import LogNormal, Prior

N = Input("N", "model parameters", "parameters")
D = Input("D", "training tokens", "tokens")
C = Input("C", "training compute", "FLOP")
ALONE = {"N": N, "D": D, "C": C}

IRREDUCIBLE = LogNormal(1.5, 1.0)
WHY_IRREDUCIBLE = (
    "text has 1.4 to 2.7 nats/token in the literature; a factor e either way also covers bits, "
    "per-byte losses, images and speech"
)

# what finite size (or data, or compute) costs at the centre of the data
TERM = LogNormal(0.3, 1.0)
WHY_TERM = "small sweeps sit where each term is a few tenths of a nat; two prior SDs: 0.04 to 2.2"

EXPONENT = LogNormal(0.35, 0.4)
WHY_EXPONENT = "published exponents run from .05 (Kaplan) to .7; two prior SDs: .16 to .78"


def find_input(variable: str | Input, law: str, taken: Container[str]) -> Input:
    """The input of a law in one variable: by name, or a user's own.

    Raises
    ------
    LawError
        The variable is a name other than N, D and C, or the name of one of the law's parameters.
    """
    if isinstance(variable, str) and variable not in ALONE:
        raise LawError(f"{law} knows N, D and C; for '{variable}' pass an Input of your own.")
    x = ALONE[variable] if isinstance(variable, str) else variable
    if x.name in taken:
        raise LawError(f"the input '{x.name}' has the name of a parameter; rename the column.")
    return x


def irreducible_loss() -> Param:
    """E, the loss that neither size nor data take away."""
    return Param("E", IRREDUCIBLE, "irreducible loss", "nats/token", "E", why=WHY_IRREDUCIBLE)


def exponent(name: str, meaning: str, latex: str) -> Param:
    """An exponent of a term of the reducible loss."""
    return Param(name, EXPONENT, meaning, "", latex, why=WHY_EXPONENT)


def coefficient(
    name: str, coordinate: str, exponent: str, variable: str, meaning: str, costs: str
) -> Param:
    """A coefficient such as A of A N^-alpha, sampled as its term at the data's centre.

    Parameters
    ----------
    name, coordinate : str
        ``A`` and ``size_term``.
    exponent, variable : str
        ``alpha`` and ``N``.
    meaning, costs : str
        Of the coefficient, and of its term.
    """
    names = {"exponent": exponent, "x_ref": f"{variable}_ref"}
    centred = Coordinate(
        coordinate,
        to_param=renamed(_coefficient, term=coordinate, **names),
        from_param=renamed(_term, coefficient=name, **names),
        meaning=f"{costs} at the data's geometric mean of {variable}",
        unit="nats/token",
    )
    return Param(name, TERM, meaning, "nats/token", name, coordinate=centred, why=WHY_TERM)


def scale(
    name: str,
    coordinate: str,
    exponent: str,
    variable: Input,
    meaning: str,
    costs: str,
    prior: Prior = TERM,
    why: str = WHY_TERM,
) -> Param:
    """A scale such as N_c of (N_c/N)^alpha, sampled as its term at the data's centre.

    Parameters are those of `coefficient`; ``prior`` is the term's.
    """
    names = {"exponent": exponent, "x_ref": f"{variable.name}_ref"}
    centred = Coordinate(
        coordinate,
        to_param=renamed(_scale, term=coordinate, **names),
        from_param=renamed(_scaled_term, scale=name, **names),
        meaning=f"{costs} at the data's geometric mean of {variable.name}",
        unit="nats/token",
    )
    letter, _, index = name.partition("_")
    latex = f"{letter}_{{{index}}}"
    return Param(name, prior, meaning, variable.unit, latex, coordinate=centred, why=why)


def _coefficient(term: Any, exponent: Any, x_ref: Any) -> Any:
    return term * x_ref**exponent


def _term(coefficient: Any, exponent: Any, x_ref: Any) -> Any:
    return coefficient * x_ref**-exponent


def _scale(term: Any, exponent: Any, x_ref: Any) -> Any:
    return x_ref * term ** (1 / exponent)


def _scaled_term(scale: Any, exponent: Any, x_ref: Any) -> Any:
    return (scale / x_ref) ** exponent


def grid(**axes: Any) -> dict[str, np.ndarray]:
    """Columns of a plain design: every value of each input with every value of the others."""
    crossed = np.meshgrid(*axes.values())
    return {name: column.ravel() for name, column in zip(axes, crossed, strict=True)}
