"""Losses of a mixture's targets: one row a run and target, from a wide or a long table."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data.cells import read_numbers
from bayescale.data.columns import listed
from bayescale.data.flags import Flag
from bayescale.data.messages import rows_text
from bayescale.data.mixture_columns import WHAT, MixtureColumns
from bayescale.data.runs import Runs
from bayescale.errors import DataError, nearest

if TYPE_CHECKING:
    import pandas as pd

_RUN_NAMES = ("run", "run_id", "run_name", "index")


def number_cells(runs: Runs, column: str, what: str) -> np.ndarray:
    """A column as numbers, NaN where a cell is empty; text is an error."""
    cells: Any = runs.table[column]
    numbers = read_numbers(cells, "D")
    if numbers.bad:
        place, problem = numbers.bad[0]
        row = runs.row_numbers[place]
        raise DataError(f"{runs.source} row {row}: {column} ({what}): {problem}")
    return numbers.values


def responses(
    runs: Runs, found: MixtureColumns, targets: Sequence[str] | None, base: "pd.DataFrame"
) -> tuple["pd.DataFrame", np.ndarray, list[Flag], str]:
    """The long table with target and loss, its row numbers, flags, and what the loss was."""
    headers = {str(c) for c in runs.table.columns}
    if {"target", "loss"} <= headers and not found.losses:
        return _long(runs, targets, base)
    if not found.losses:
        raise DataError(
            f"{runs.source} has no losses of targets ({WHAT['losses']}), and no columns target "
            f"and loss; it has {listed(sorted(headers))}. Name them: losses={{'text': 'column'}}."
        )
    return _melted(runs, found.losses, base)


def _long(
    runs: Runs, targets: Sequence[str] | None, base: "pd.DataFrame"
) -> tuple["pd.DataFrame", np.ndarray, list[Flag], str]:
    names = runs.table["target"].astype(str).to_numpy()
    loss = number_cells(runs, "loss", "loss")
    known = list(dict.fromkeys(names))
    for name in [targets] if isinstance(targets, str) else targets or ():
        if name not in known:
            raise DataError(
                f"no row of {runs.source} has target '{name}'; there are {listed(known)}."
                + nearest(name, known)
            )
    wanted = np.isin(names, list(targets) if targets else known)
    keep = wanted & np.isfinite(loss)
    lost = wanted & ~keep
    flags = _masked(list(zip(names[lost], runs.row_numbers[lost], strict=True)))
    long: Any = base.assign(target=names, loss=loss)
    long = long.assign(run=_run_names(long, runs, in_long_table=True))
    return long[keep].reset_index(drop=True), runs.row_numbers[keep], flags, "loss"


def _melted(
    runs: Runs, losses: Mapping[str, str], base: "pd.DataFrame"
) -> tuple["pd.DataFrame", np.ndarray, list[Flag], str]:
    import pandas as pd

    named = base.assign(run=_run_names(base, runs, in_long_table=False))
    parts, rows, empty = [], [], []
    for target, column in losses.items():
        loss = number_cells(runs, column, f"loss of '{target}'")
        keep = np.isfinite(loss)
        if not keep.any():
            raise DataError(
                f"no row of {runs.source} has a loss of '{target}' ({column}); leave the target "
                "out: targets=(…)."
            )
        empty += [(target, row) for row in runs.row_numbers[~keep]]
        parts.append(named.assign(target=target, loss=loss)[keep])
        rows.append(runs.row_numbers[keep])
    order = np.argsort(np.concatenate(rows), kind="stable")  # rows of a run stay together
    long: Any = pd.concat(parts, ignore_index=True)
    flags = _masked(empty)
    names = listed(list(losses.values()), 4)
    return long.iloc[order].reset_index(drop=True), np.concatenate(rows)[order], flags, names


def _masked(empty: Sequence[tuple[str, Any]]) -> list[Flag]:
    if not empty:
        return []
    rows = tuple(sorted({int(row) for _, row in empty}))
    names = listed(list(dict.fromkeys(name for name, _ in empty)), 4)
    cells = f"{len(empty)} empty loss cell{'s' if len(empty) > 1 else ''}"
    return [Flag("dropped", rows, f"{cells} in {rows_text(rows)} ({names}): left out.")]


def _run_names(table: "pd.DataFrame", runs: Runs, in_long_table: bool) -> np.ndarray:
    """The run of each row: by a column of that name, else by row or by equal inputs."""
    for name in _RUN_NAMES:
        if name in table and (in_long_table or table[name].is_unique):
            return table[name].astype(str).to_numpy()
    if not in_long_table:
        return np.array([f"row {r}" for r in runs.row_numbers])
    inputs = [c for c in table if c in ("N", "D") or str(c).startswith(("D_", "U_"))]
    group = table.groupby(inputs, sort=False, dropna=False).ngroup()
    again = table.groupby([*inputs, "target"], sort=False, dropna=False).cumcount()
    pairs = zip(group, again, strict=True)
    return np.array([f"{g + 1}" + (f"-{k + 1}" if k else "") for g, k in pairs])
