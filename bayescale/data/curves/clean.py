"""Cleaning a table of checkpoints, step by step, each step said in its flags."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data.curves.options import Curves
from bayescale.data.curves.order import along_column, in_order
from bayescale.data.curves.smooth import smoothed
from bayescale.data.curves.thin import last_only, thinned
from bayescale.data.curves.which import find_columns, name_runs
from bayescale.data.flags import Flag, find_flags

if TYPE_CHECKING:
    from bayescale.data.runs import Runs


def clean_curves(runs: "Runs", curves: Curves) -> "Runs":
    """Checkpoints in order, smoothed and thinned as asked.

    Used by ``read_runs``, which has left out the start of training before (`after_start`).

    Parameters
    ----------
    runs : Runs
        One row a checkpoint.
    curves : Curves

    Returns
    -------
    Runs
        Rows by run and tokens; flags of kind ``curves`` say what was done.

    Raises
    ------
    DataError
        Checkpoints can't be ordered, a column is missing, or an option asks the impossible;
        named by run and rows.
    """
    from bayescale.data.runs import FILE_FLAGS

    said = [f for f in runs.flags if f.kind in FILE_FLAGS]
    table, which = name_runs(runs, curves.columns)
    names = which.column
    if which.column not in runs.table:
        made = f"column '{which.column}': r1 to {which.names[-1]}, as in the file"
        names = f"{', '.join(curves.columns)} ({made})"
    along = along_column(table, runs.source)
    order, flags = in_order(table, runs.row_numbers, which, along)
    runs = _rows(replace(runs, table=table), order)
    which = replace(which, code=which.code[order])
    table, rows = runs.table, runs.row_numbers
    message = f"{len(table)} checkpoints of {len(which.names)} runs by {names}."
    said += [Flag("curves", (), message), *flags]
    if curves.smooth:
        columns = find_columns(runs, curves.smoothed, "to be smoothed")
        table, flags = smoothed(table, which, curves.smooth, columns)
        said += flags
    keep = np.ones(len(table), dtype=bool)
    if curves.last or curves.thin:
        place = table[along].to_numpy(dtype=float)
        keep, flag = last_only(which) if curves.last else thinned(place, which, curves.thin or 0)
        said.append(flag)
    kept: Any = table[keep].reset_index(drop=True)
    table, rows = kept, rows[keep]
    found = find_flags(table, rows, runs.cost, "C" in runs.columns and "C" not in runs.derived)
    return replace(runs, table=table, row_numbers=rows, flags=(*said, *found))


def _rows(runs: "Runs", positions: np.ndarray) -> "Runs":
    table = runs.table.iloc[positions].reset_index(drop=True)
    return replace(runs, table=table, row_numbers=runs.row_numbers[positions])
