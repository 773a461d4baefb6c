"""Results as tables: what was measured with ratios against fit_many, and targets."""

from collections.abc import Sequence

import numpy as np

from bayescale.tables import Table
from benchmarks.many.contender import Outcome
from benchmarks.many.lineup import (
    GPU,
    LOOP,
    LOOP_ONE_CORE,
    MANY,
    MAX_RHAT,
    MIN_ESS,
    NUTPIE,
    NUTPIE_RHAT,
)
from benchmarks.many.measure import Row
from benchmarks.speed.table import number, ratio, target_row


def measured(rows: Sequence[Row], notes: Sequence[str]) -> Table:
    """Cost a fit of each contender and what its draws are worth."""
    columns = ("", "fits", "wall ms", "CPU ms", "cores", "start s", "draws", "gradients",
               f"ESS>={MIN_ESS}", "least/median", f"R-hat<{MAX_RHAT}", "failed", "wall x", "CPU x",
               "load")  # fmt: skip
    ours = next((r.outcome for r in rows if r.name == MANY), Outcome())
    cells = [_cells(r, ours) for r in rows]
    more = [f"{r.name}: {note}" for r in rows for note in _notes(r, ours)]
    return Table(columns, cells, title="Measured", notes=[*notes, *more])


def _cells(row: Row, ours: Outcome) -> tuple[str, ...]:
    o = row.outcome
    if o.spent is None or o.start is None:
        return (row.name, *(["–"] * 13), f"{row.load:.1f}")
    ess, rhat = np.asarray(o.min_ess), np.asarray(o.max_rhat)
    return (
        row.name,
        f"{o.fits:,}",
        number(1e3 * o.spent.wall / o.fits),
        number(1e3 * o.spent.cpu / o.fits),
        f"{o.spent.cpu / o.spent.wall:.2f}",
        f"{o.start.wall:.0f} / {o.start.cpu:.0f}",
        number(o.draws),
        number(o.gradients),
        _share(ess >= MIN_ESS),
        f"{ess.min():.0f} / {np.median(ess):.0f}" if len(ess) else "–",
        _share(rhat < MAX_RHAT),
        str(len(o.failures)),
        number(ratio(wall(o), wall(ours))),
        number(ratio(cpu(o), cpu(ours))),
        f"{row.load:.1f}",
    )


def targets(rows: Sequence[Row]) -> Table:
    """The project's targets.

    A single fit spreads its chains over the cores too; a loop held to one core shows what using
    them all gives. Wall seconds depend on who else runs, so nutpie's, which uses all, is compared
    by CPU seconds as well.
    """
    by_name = {r.name: r.outcome for r in rows}
    names = (MANY, LOOP, LOOP_ONE_CORE, NUTPIE, NUTPIE_RHAT, GPU)
    ours, loop, single, nutpie, strict, gpu = (by_name.get(n, Outcome()) for n in names)
    reached = [e >= MIN_ESS for e in ours.min_ess]
    share = float(np.mean(reached)) if reached else None
    median = float(np.median(gpu.min_ess)) if gpu.min_ess else None
    lines = [
        target_row(f"share of fits with min ESS >= {MIN_ESS}", share, 1.0, True),
        target_row("rate over a warm loop of fit", ratio(wall(loop), wall(ours)), 1.8, True),
        target_row("where fit has one core", ratio(wall(single), wall(ours)), 1.8, True),
        target_row("rate over a loop of nutpie", ratio(wall(nutpie), wall(ours)), 20.0, True),
        target_row("the same, by CPU seconds", ratio(cpu(nutpie), cpu(ours)), 20.0, True),
        target_row("where its R-hat passes too", ratio(wall(strict), wall(ours)), 20.0, True),
        target_row("ms a fit on a GPU", times(wall(gpu), 1e3), 1.0),
        target_row("median min ESS there", median, MIN_ESS, True),
    ]
    return Table(("", "reached", "target", "met"), lines, title="Targets")


def wall(outcome: Outcome) -> float | None:
    """Wall seconds a fit."""
    return outcome.spent.wall / outcome.fits if outcome.spent else None


def cpu(outcome: Outcome) -> float | None:
    """CPU seconds a fit."""
    return outcome.spent.cpu / outcome.fits if outcome.spent else None


def times(value: float | None, factor: float) -> float | None:
    """Product, or None where there was no value."""
    return None if value is None else factor * value


def _share(which: np.ndarray) -> str:
    return f"{100 * which.mean():.3g}%" if len(which) else "–"


def _notes(row: Row, ours: Outcome) -> list[str]:
    o = row.outcome
    pairs = list(zip(o.a, ours.a, strict=False)) if o is not ours else []
    told = [", ".join(f"{k} {v}" for k, v in o.versions.items())] if o.versions else []
    told += [f"missing: {o.missing}"] if o.missing else []
    if pairs:
        apart = max(abs(m - mean) / sd for (m, _), (mean, sd) in pairs)
        told.append(f"means of a within {apart:.2f} posterior sd of {MANY}'s in {len(pairs)} fits")
    return [*told, *o.notes, *dict.fromkeys(o.failures)]
