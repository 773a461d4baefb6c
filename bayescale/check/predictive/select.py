"""Which checks there are for a data set, and which of them were asked for."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bayescale.check.predictive import calibration, groups, isoflop, level, spread, tail, trend
from bayescale.check.predictive.quantity import Checked, Skipped
from bayescale.check.predictive.replicates import Replicates
from bayescale.errors import FitError, nearest

Check = Callable[[], Checked | Skipped]


def posterior_checks(seen: Replicates, budgets: Any, rng: np.random.Generator) -> dict[str, Check]:
    found: dict[str, Check] = {}
    for name in trend.inputs_of(seen):
        found[f"trend_{name}"] = lambda name=name: trend.trend(seen, name)
    found["trend_step"] = lambda: trend.step(seen)
    found["tail"] = lambda: tail.tail(seen)
    found |= _slice_checks(seen, budgets)
    found["calibration"] = lambda: calibration.calibration(seen, rng)
    for column in groups.group_columns(seen):
        found[f"group:{column}"] = lambda column=column: groups.group(seen, column)
    if not any(name.startswith("group:") for name in found):
        why = "no column of words has 2 to 30 groups; name one as group:COLUMN"
        found["group"] = lambda: Skipped("group", why)
    found["spread"] = lambda: spread.spread(seen)
    return found


def prior_checks(seen: Replicates, budgets: Any) -> dict[str, Check]:
    """Checks of a prior by name."""
    found: dict[str, Check] = {"level": lambda: level.level(seen)}
    for name in trend.inputs_of(seen):
        found[f"trend_{name}"] = lambda name=name: trend.trend(seen, name)
    found |= _slice_checks(seen, budgets)
    found["scatter"] = lambda: level.scatter(seen)
    return found


def _slice_checks(seen: Replicates, budgets: Any) -> dict[str, Check]:
    from bayescale.answers.points import read_values

    asked = None if budgets is None else np.sort(read_values("C", budgets))
    slices = isoflop.slices_of(seen, asked)
    if isinstance(slices, str):
        why, names = slices, ("isoflop_curvature", "isoflop_minimum")
        return {name: lambda name=name: Skipped(name, why) for name in names}
    return {
        "isoflop_curvature": lambda: isoflop.curvature(seen, slices),
        "isoflop_minimum": lambda: isoflop.minimum(seen, slices),
    }


def chosen(
    checks: str | Sequence[str] | None, available: dict[str, Check], seen: Replicates
) -> list[str]:
    """Names of the checks to make; kinds spelt out, and any column taken for a group."""
    if checks is None:
        return list(available)
    names: list[str] = []
    for asked in [checks] if isinstance(checks, str) else checks:
        of_kind = [n for n in available if n.startswith((f"{asked}_", f"{asked}:"))]
        if asked in available or of_kind:
            names += of_kind or [asked]
            continue
        column = str(asked).removeprefix("group:")
        if column != asked and column in seen.runs.table and not seen.prior:
            available[asked] = lambda column=column: groups.group(seen, column)
            names.append(asked)
            continue
        known = list(available)
        raise FitError(
            f"unknown check '{asked}'; known: {', '.join(known)}." + nearest(asked, known)
        )
    if not names:
        raise FitError(f"checks names nothing; known: {', '.join(available)}.")
    return list(dict.fromkeys(names))
