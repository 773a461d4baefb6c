"""Tables that make no sense for a mixture law, and a plain design to simulate on."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bayescale.errors import DataError
from bayescale.laws.mixture_plan import Plan

SAME_TOKENS = 1e-3  # unique tokens may exceed sampled ones by so much: rounding
SIZES = (2e8, 8e8, 3e9)
TOKENS = (5e9, 2e10, 8e10)
EPOCHS = (2.0, 4.0)


def check_table(plan: Plan) -> Callable[..., None]:
    """The law's check of inputs as its mean gets them (see `Law.check`)."""

    def check(columns: Mapping[str, Any], row_numbers: np.ndarray) -> None:
        D, target = columns["D"], columns["target"]
        _check_sources(plan, D)
        empty = D.sum(-1) <= 0
        if empty.any():
            row = row_numbers[int(np.argmax(empty))]
            raise DataError(f"row {row} has no tokens of any source; leave such rows out.")
        if plan.transfer != "additive":
            _check_own(plan, D, target, row_numbers)
        if plan.repeated:
            _check_epochs(plan, D, columns["U"], row_numbers)

    return check


def _check_sources(plan: Plan, D: np.ndarray) -> None:
    for k, source in enumerate(plan.sources):
        if not (D[:, k] > 0).any():
            raise DataError(
                f"no run has any tokens of '{source}' (column D_{source}), so nothing is known of "
                f"it; set the law up without it."
            )


def _check_own(plan: Plan, D: np.ndarray, target: np.ndarray, rows: np.ndarray) -> None:
    """Without additive transfer a target's loss is infinite where it has no own tokens."""
    own = ((D @ plan.own) * target).sum(-1)
    bad = (own <= 0) & ((target @ plan.pick_owned).sum(-1) > 0)
    if bad.any():
        at = int(np.argmax(bad))
        name = plan.targets[int(np.argmax(target[at]))]
        raise DataError(
            f"row {rows[at]} has a loss of '{name}' but no tokens of it ({int(bad.sum())} such "
            "rows), where the law's loss is infinite: take transfer='additive', by which other "
            "sources bring tokens, or leave such rows out."
        )


def _check_epochs(plan: Plan, D: np.ndarray, U: np.ndarray, rows: np.ndarray) -> None:
    sampled = D[:, [plan.sources.index(s) for s in plan.repeated]]
    above = (sampled * (1 + SAME_TOKENS) < U) & (sampled > 0)
    if above.any():
        at, k = (int(x) for x in np.argwhere(above)[0])
        source = plan.repeated[k]
        raise DataError(
            f"row {rows[at]}: U_{source} is {U[at, k]:.4g}, above the {sampled[at, k]:.4g} sampled "
            f"tokens of '{source}' (D_{source}): epochs below one. Unique tokens are those that "
            "the run has seen; an empty or zero cell means no repetition."
        )


def default_design(plan: Plan) -> dict[str, list[Any]]:
    """Columns of a plain design: sources alone, in pairs and all together, at several sizes.

    Of sources that may be repeated, further runs see a quarter or half as many unique tokens.
    """
    count = len(plan.sources)
    mixtures = [np.eye(count)[k] for k in range(count)]
    mixtures += [
        np.array([{i: 0.75, j: 0.25}.get(k, 0.0) for k in range(count)])
        for i in range(count)
        for j in range(count)
        if i != j
    ]
    if count > 2:
        mixtures.append(np.full(count, 1 / count))
    names = [*(["N"] if plan.size else []), *(f"D_{s}" for s in plan.sources)]
    names += [*(f"U_{s}" for s in plan.repeated), "target", "run"]
    found: dict[str, list[Any]] = {name: [] for name in names}
    for size in SIZES if plan.size else (1.0,):
        for total in TOKENS:
            for share in mixtures:
                for epochs in (1.0, *(EPOCHS if plan.repeated and share.max() < 1 else ())):
                    _add_run(plan, found, size, total * share, epochs)
    return found


def _add_run(
    plan: Plan, found: dict[str, list[Any]], size: float, tokens: np.ndarray, epochs: float
) -> None:
    """One run: a row for each target that has tokens, or that needs none of its own."""
    run = len(set(found["run"]))
    for target in plan.targets:
        own = tokens[plan.sources.index(target)] if target in plan.sources else 0.0
        if target in plan.owned and not own and plan.transfer != "additive":
            continue
        row = {"N": size, "target": target, "run": f"run {run + 1}"}
        row |= {f"D_{s}": tokens[k] for k, s in enumerate(plan.sources)}
        row |= {f"U_{s}": row[f"D_{s}"] / epochs for s in plan.repeated}
        for name, values in found.items():
            values.append(row[name])
