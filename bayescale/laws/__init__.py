"""The laws: one file each, one line here."""

from bayescale.errors import LawError, nearest
from bayescale.law import Law
from bayescale.laws.broken_power_law import broken_power_law
from bayescale.laws.chinchilla import CHINCHILLA
from bayescale.laws.compute_frontier import COMPUTE_FRONTIER
from bayescale.laws.coupled import COUPLED
from bayescale.laws.kaplan import KAPLAN
from bayescale.laws.overtraining import OVERTRAINING
from bayescale.laws.power_law import power_law
from bayescale.laws.repetition import repetition

LAWS: dict[str, Law] = {
    law.name: law
    for law in (
        CHINCHILLA,
        KAPLAN,
        COUPLED,
        COMPUTE_FRONTIER,
        power_law("N"),
        power_law("D"),
        power_law("C"),
        broken_power_law("N"),
        broken_power_law("D"),
        broken_power_law("C"),
        repetition(),
        repetition(excess_params=False),
        OVERTRAINING,
    )
}


def get_law(law: Law | str) -> Law:
    """Find a law by name; a `Law` is returned as it is.

    Raises
    ------
    LawError
        No law has that name; the message gives the nearest and lists all.
    """
    if isinstance(law, Law):
        return law
    if not isinstance(law, str):
        raise LawError(f"the law is {law!r}; expected a Law or a name: {', '.join(LAWS)}.")
    if law not in LAWS:
        _say_family(law.partition(":")[0])
        raise LawError(f"unknown law '{law}'; known: {', '.join(LAWS)}." + nearest(law, list(LAWS)))
    return LAWS[law]


def _say_family(name: str) -> None:
    from bayescale.families import FAMILIES

    if name in FAMILIES:
        raise LawError(
            f"'{name}' is a family of laws, whose labels come from a table; build one with its "
            "factory, or pass the name to fit with the table."
        )
