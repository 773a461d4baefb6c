"""Priors from records and from text, by the name of their family."""

from dataclasses import fields
from typing import Any

from bayescale.errors import LawError, nearest
from bayescale.priors import (
    Beta,
    Gamma,
    HalfCauchy,
    HalfNormal,
    LogNormal,
    Normal,
    Prior,
    Uniform,
)

FAMILIES: dict[str, type[Prior]] = {
    c.__name__: c for c in (Normal, LogNormal, HalfNormal, HalfCauchy, Gamma, Beta, Uniform)
}


def prior_from_dict(record: dict[str, Any]) -> Prior:
    """Build a prior from `Prior.to_dict`'s record.

    Raises
    ------
    LawError
        The family is unknown or its numbers have other names.
    """
    numbers = dict(record)
    family = str(numbers.pop("family", ""))
    if family not in FAMILIES:
        raise LawError(
            f"unknown prior family '{family}'; known: {', '.join(FAMILIES)}."
            + nearest(family, list(FAMILIES))
        )
    try:
        return FAMILIES[family](**numbers)
    except TypeError:
        names = ", ".join(f.name for f in fields(FAMILIES[family]))
        raise LawError(f"prior {family} takes {names}; got {', '.join(numbers)}.") from None


def parse_prior(text: str) -> Prior:
    """Read a prior as written in the shell, such as ``LogNormal(1.5, 0.2)``.

    Raises
    ------
    LawError
        The text is not a known family with numbers in brackets.
    """
    import re

    match = re.fullmatch(r"\s*(\w+)\s*\(([^()]*)\)\s*", text)
    if not match:
        raise LawError(f"prior '{text}' is not of the form Family(number, …), e.g. Normal(0, 1).")
    family, inside = match.groups()
    try:
        numbers = [float(part) for part in inside.split(",")] if inside.strip() else []
    except ValueError:
        raise LawError(f"prior '{text}': numbers were expected in the brackets.") from None
    names = [f.name for f in fields(FAMILIES[family])] if family in FAMILIES else []
    if names and len(numbers) != len(names):
        count = "1 number" if len(names) == 1 else f"{len(names)} numbers"
        raise LawError(f"prior {family} takes {count} ({', '.join(names)}).")
    return prior_from_dict({"family": family} | dict(zip(names, numbers, strict=False)))
