"""The order of checkpoints: by tokens within each run, and what must hold of it."""

from typing import TYPE_CHECKING

import numpy as np

from bayescale.data.curves.names import step_column
from bayescale.data.curves.which import Which
from bayescale.data.flags import Flag
from bayescale.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

GAP = 3.0  # times the run's usual distance of checkpoints, in tokens and in log tokens


def along_column(table: "pd.DataFrame", source: str) -> str:
    """The column that orders checkpoints: tokens, or else steps.

    Raises
    ------
    DataError
        There is neither.
    """
    found = "D" if "D" in table else step_column(table.columns)
    if found is None:
        raise DataError(
            f"curves: {source} has neither tokens D nor a column of steps to order checkpoints "
            "by; map one: columns={'D': 'its name'} (shell: --map \"D=its name\")."
        )
    return found


def log_place(place: np.ndarray) -> np.ndarray:
    """Logarithm of tokens or steps; step 0 counts as 1."""
    return np.log(np.maximum(place, 1.0))


def in_order(
    table: "pd.DataFrame", rows: np.ndarray, which: Which, along: str
) -> tuple[np.ndarray, list[Flag]]:
    """Positions of the rows, run by run and by increasing tokens, and remarks.

    Parameters
    ----------
    table : DataFrame
    rows : array, shape (row,)
        Row numbers in the file.
    which : Which
    along : str
        Column that orders checkpoints.

    Raises
    ------
    DataError
        A run has one step twice, two sizes, or steps that go back as its tokens grow.
    """
    place = table[along].to_numpy(dtype=float)
    order = np.lexsort((place, which.code))
    same = which.code[order][1:] == which.code[order][:-1]
    _check_twice(place[order], rows[order], which, order, same, along)
    _check_size(table, which)
    _check_steps(table, rows, which, order, same, along)
    flags = []
    if (order != np.arange(len(order))).any():
        flags.append(Flag("curves", (), f"rows put in order of run and {along}."))
    return order, [*flags, *_remarks(place, which, order, same)]


def _check_twice(
    place: np.ndarray,
    rows: np.ndarray,
    which: Which,
    order: np.ndarray,
    same: np.ndarray,
    along: str,
) -> None:
    twice = np.flatnonzero(same & (np.diff(place) == 0))
    if len(twice):
        k = int(twice[0])
        name = which.names[which.code[order[k]]]
        raise DataError(
            f"curves: {which.column} '{name}' has {along} = {place[k]:g} in rows {rows[k]} and "
            f"{rows[k + 1]}: two runs under one name, a restarted log, or one row a target? Name "
            "the run by more columns (run=('run', 'seed')), or leave rows out (where=)."
        )


def _check_size(table: "pd.DataFrame", which: Which) -> None:
    if "N" not in table:
        return
    sizes = table["N"].groupby(which.code).nunique().to_numpy()
    if (sizes > 1).any():
        k = int(np.argmax(sizes > 1))
        raise DataError(
            f"curves: {which.column} '{which.names[k]}' has {sizes[k]} sizes N, so it names no "
            "single training run; name the run by more columns, such as run=('run', 'N')."
        )


def _check_steps(
    table: "pd.DataFrame",
    rows: np.ndarray,
    which: Which,
    order: np.ndarray,
    same: np.ndarray,
    along: str,
) -> None:
    column = step_column(table.columns)
    if column is None or column == along or table[column].dtype.kind not in "fiu":
        return
    steps = table[column].to_numpy(dtype=float)[order]
    back = np.flatnonzero(same & (np.diff(steps) < 0))
    if len(back):
        k = int(back[0])
        name = which.names[which.code[order[k]]]
        raise DataError(
            f"curves: in {which.column} '{name}' {along} grows from row {rows[order[k]]} to row "
            f"{rows[order[k + 1]]} while {column} goes from {steps[k]:g} to {steps[k + 1]:g}: "
            "rows of several runs under one name, or a column in another unit?"
        )


def _remarks(place: np.ndarray, which: Which, order: np.ndarray, same: np.ndarray) -> list[Flag]:
    """Runs of one checkpoint, and runs with holes."""
    found = []
    alone = np.flatnonzero(which.sizes() == 1)
    if len(alone):
        has = "has" if len(alone) == 1 else "have"
        message = f"{len(alone)} of {len(which.names)} runs {has} a single checkpoint: "
        found.append(Flag("curves", (), f"{message}{which.listed(alone)}."))
    code = which.code[order][1:][same]
    holes = np.ones(int(same.sum()), dtype=bool)
    for values in (place[order], log_place(place[order])):
        gaps = np.diff(values)[same]
        holes &= gaps > GAP * _usual(gaps, code, len(which.names))[code]
    if holes.any():
        runs = np.unique(code[holes])
        has = "has" if len(runs) == 1 else "have"
        message = (
            f"{len(runs)} of {len(which.names)} runs {has} a hole between checkpoints, over "
            f"{GAP:g} times the usual distance: {which.listed(runs)}."
        )
        found.append(Flag("curves", (), message))
    return found


def _usual(gaps: np.ndarray, code: np.ndarray, runs: int) -> np.ndarray:
    """Median gap of each run; infinite without any."""
    import pandas as pd

    medians = pd.Series(gaps).groupby(code).median()
    return medians.reindex(range(runs)).fillna(np.inf).to_numpy()
