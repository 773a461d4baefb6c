"""IsoFLOP slices from a table: which budgets it has, and which runs lie on them."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bayescale.data.isoflop import Slices, find_slices
from bayescale.families.family import Family
from bayescale.law import Law
from bayescale.laws.isoflop import isoflop

if TYPE_CHECKING:
    from bayescale.data.runs import Runs


def arrange(
    runs: "Runs",
    *,
    budgets: Any = None,
    shape: str = "powers",
    deviations: bool = True,
) -> tuple[Law, "Runs"]:
    """Find IsoFLOP slices in a table and keep the runs that lie on them.

    Parameters
    ----------
    runs : Runs
        With N, C (or D) and loss.
    budgets : number, str or several, optional
        Budgets in FLOP; runs within 10% of one lie on its slice. Or the name of a column that
        says a run's budget. Default: values of C that repeat exactly with several sizes, else
        clusters of runs in compute.
    shape, deviations
        As in `bayescale.laws.isoflop.isoflop`.

    Raises
    ------
    DataError
        There are fewer than two slices with at least three sizes (four for a shape other than
        the parabola), a given budget has no run, or several experiments are mixed.
    """
    law = isoflop(shape=shape, deviations=deviations)  # refuses an unknown shape first
    least = 3 if shape == "parabola" else 4
    found: Slices = find_slices(runs, budgets, least)
    law = isoflop(found.labels, shape, deviations)
    kept = runs.select(found.place >= 0, found.said) if (found.place < 0).any() else runs
    place = found.place[found.place >= 0]
    table = kept.table.assign(C=found.C[place], budget=[found.labels[k] for k in place])
    columns = {**kept.columns, "C": "budget of the slice"}
    flags = (*kept.flags, *found.flags)
    return law, replace(kept, table=table, columns=columns, flags=flags)


ISOFLOP = Family(
    name="isoflop",
    title="IsoFLOP slices whose minima follow a power law of compute",
    build=isoflop,
    arrange=arrange,
    example=isoflop(),
    options={
        "budgets": "compute of the slices: 1e18+1e19, or a column that says it",
        "shape": "powers, cubic or parabola: loss against ln N at one budget",
        "deviations": "yes or no: whether minima scatter around the power law",
    },
)
