"""How the cost of fit_many grows: with fits, rows, chains, lanes; what lock-step wastes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayescale.tables import Table
from benchmarks.many.contender import Outcome
from benchmarks.many.lineup import Contender, Size
from benchmarks.many.measure import Bench, Row
from benchmarks.many.sweeps import simulate
from benchmarks.many.table import cpu, times, wall
from benchmarks.speed.lineup import bayescale_caches
from benchmarks.speed.table import number

ROWS = {64: 40, 256: 40, 1024: 20, 4096: 8, 16384: 4}  # rows -> fits
CHAINS, LANES = (2, 4, 8), (1, 4, 16)
OF_CHAINS, OF_LANES = 40, 128  # fits; both workers get some at 16 lanes


@dataclass(frozen=True)
class Point:
    """One measurement: what was varied, and to which value."""

    varied: str
    value: int
    row: Row


def run(bench: Bench, size: Size) -> Iterator[Point]:
    """Measure fit_many over and over, one thing varied at a time."""
    for fits in (f for f in (10, 100, 1000) if f <= size.fits):
        yield _point(bench, "fits", fits, fits)
    for rows, fits in ROWS.items():
        if size.quick and rows > 1024:
            continue
        fits = size.some(fits)
        file = bench.folder / f"{rows}.npz"
        simulate(fits, rows, size.design, size.seed).write(file)
        yield _point(_with(bench, file=str(file)), "rows", rows, fits)
    for chains in CHAINS:
        yield _point(_with(bench, chains=chains), "chains", chains, size.some(OF_CHAINS))
    for lanes in LANES:
        yield _point(bench, "lanes", lanes, size.some(OF_LANES), {"lanes": lanes})


def _with(bench: Bench, **changes: Any) -> Bench:
    return replace(bench, task=replace(bench.task, **changes))


def _point(
    bench: Bench, varied: str, value: int, fits: int, options: Mapping[str, Any] | None = None
) -> Point:
    """All is fitted once before it is timed: what only some fits need is compiled by then."""
    name = f"{varied} {value}"
    given = {"all_first": True, **(options or {})}
    contender = Contender(name, "fit_many", fits, lambda _: given, bayescale_caches)
    return Point(varied, value, bench.run(contender, Outcome()))


def tables(points: Sequence[Point]) -> Iterator[Table]:
    """A table of each thing varied, then that of lock-step."""
    for varied in dict.fromkeys(p.varied for p in points):
        own = [p for p in points if p.varied == varied]
        missing = [f"{p.row.name}: {p.row.outcome.missing}" for p in own if p.row.outcome.missing]
        columns = (varied, "fits", "wall ms/fit", "CPU ms/fit", "cores", "draws/chain",
                   "gradients/draw", "median min ESS", "failed", "load")  # fmt: skip
        rows = [_cells(p) for p in own if p.row.outcome.spent]
        yield Table(columns, rows, title=f"Against {varied}", notes=[*missing, *_slope(own)])
    waste = max((p.row.outcome for p in points), key=lambda o: o.fits).extra.get("lockstep", {})
    title = "Lock-step: longest trajectory of a batch over the mean, summed over kept draws"
    rows = [(width, number(value)) for width, value in waste.items()]
    yield Table(("lanes", "times the work of fits alone"), rows, title=title)


def _cells(point: Point) -> tuple[str, ...]:
    o = point.row.outcome
    assert o.spent is not None
    return (
        f"{point.value:,}",
        str(o.fits),
        number(times(wall(o), 1e3)),
        number(times(cpu(o), 1e3)),
        f"{o.spent.cpu / o.spent.wall:.2f}",
        number(o.draws),
        number(o.gradients),
        number(float(np.median(o.min_ess))) if o.min_ess else "–",
        str(len(o.failures)),
        f"{point.row.load:.1f}",
    )


def _slope(points: Iterable[Point]) -> list[str]:
    """How CPU seconds a fit grow, as a power between neighbours."""
    found = [(p.value, c) for p in points if (c := cpu(p.row.outcome))]
    if len(found) < 2:
        return []
    x, y = np.log(np.array(found)).T
    powers = ", ".join(f"{p:+.2f}" for p in np.diff(y) / np.diff(x))
    return [f"CPU seconds a fit grow with the power {powers} from one line to the next"]
