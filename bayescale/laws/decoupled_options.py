"""Options of the decoupled laws, and where they are simulated when no table is given."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from bayescale.errors import LawError, nearest
from bayescale.laws.decoupled_parts import COMPOSITIONS, Parts

VARIES = {True: ("a", "K", "N0", "gamma"), False: ("B", "beta")}  # with and without a size term
DEFAULT = {True: ("a", "K", "N0"), False: ("B",)}


def checked(parts: Parts, varies: Sequence[str] | None, size: bool) -> tuple[str, ...]:
    """What varies, after a look at all options.

    Raises
    ------
    LawError
        An option names something unknown.
    """
    varies = DEFAULT[size] if varies is None else tuple(varies)
    asked = (
        ("objectives", parts.objectives, parts.sources),
        ("varying", parts.varying, parts.objectives),
        ("varies", varies, VARIES[size]),
        ("composition", (parts.composition,), COMPOSITIONS),
    )
    for option, values, known in asked:
        for value in values:
            if value not in known:
                raise LawError(
                    f"law 'decoupled': {option} names '{value}'; known: {', '.join(known)}."
                    + nearest(value, list(known))
                )
    if not parts.objectives:
        raise LawError("law 'decoupled' has no objectives; name at least one.")
    if parts.varying and len(parts.sources) == 1:
        raise LawError("law 'decoupled' has one source, whose composition can't vary.")
    return varies


def plain_design(parts: Parts, size: bool) -> dict[str, Any]:
    """Six sizes, four token counts and three compositions, a row for each objective."""
    first, *others = parts.sources
    sizes = np.geomspace(7e7, 3e9, 6) if size else (1e9,)
    counts = np.geomspace(4e9, 2.5e11, 4 if size else 16)
    mixes = np.array([0.5, 1.0, 1.5]) * parts.centre if others else (0.0,)
    rows = []
    for n, tokens, r in product(sizes, counts, mixes):
        own = tokens if parts.composition == "ratio" else tokens * (1 - r * len(others))
        held = {f"D_{first}": own} | {f"D_{s}": tokens * r for s in others}
        rows += [({"N": n} if size else {}) | held | {"objective": o} for o in parts.objectives]
    return {name: [row[name] for row in rows] for name in rows[0]}
