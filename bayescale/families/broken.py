"""Broken power laws by name: which resource, and how many breaks."""

from typing import TYPE_CHECKING

from bayescale.families.family import Family
from bayescale.law import Law
from bayescale.laws.broken_power_law import broken_power_law

if TYPE_CHECKING:
    from bayescale.data.runs import Runs


def arrange(runs: "Runs", *, x: str = "D", breaks: int = 1) -> tuple[Law, "Runs"]:
    """A broken power law for a table; the runs stay as they are.

    Parameters
    ----------
    runs : Runs
    x : {"N", "D", "C"}
    breaks : int
        1 to 3.

    Raises
    ------
    LawError
        Another resource, or another number of breaks.
    """
    return broken_power_law(x, breaks), runs


BROKEN = Family(
    name="broken-power-law",
    title="Loss from one resource, exponent changing at up to three breaks",
    build=broken_power_law,
    arrange=arrange,
    example=broken_power_law("D", 2),
    options={"x": "the resource: N, D or C", "breaks": "1, 2 or 3"},
)
