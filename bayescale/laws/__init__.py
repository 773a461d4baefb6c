"""The laws: one file each, one line here."""

from bayescale.errors import LawError, nearest
from bayescale.law import Law
from bayescale.laws.abnar import ABNAR
from bayescale.laws.auto import AUTO
from bayescale.laws.broken_power_law import broken_power_law
from bayescale.laws.chinchilla import CHINCHILLA
from bayescale.laws.clark import CLARK
from bayescale.laws.compute_frontier import COMPUTE_FRONTIER
from bayescale.laws.coupled import COUPLED
from bayescale.laws.kaplan import KAPLAN
from bayescale.laws.krajewski import KRAJEWSKI
from bayescale.laws.loss_to_accuracy import LOSS_TO_ERROR, loss_to_accuracy
from bayescale.laws.observational import OBSERVATIONAL_COMPUTE
from bayescale.laws.overtraining import OVERTRAINING
from bayescale.laws.power_law import power_law
from bayescale.laws.repetition import repetition
from bayescale.laws.step_law import STEP_LAW
from bayescale.laws.width_depth import WIDTH_DEPTH

LAWS: dict[str, Law] = {
    law.name: law
    for law in (
        CHINCHILLA,
        AUTO,
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
        loss_to_accuracy(),
        LOSS_TO_ERROR,
        OBSERVATIONAL_COMPUTE,
        CLARK,
        ABNAR,
        KRAJEWSKI,
        STEP_LAW,
        WIDTH_DEPTH,
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
