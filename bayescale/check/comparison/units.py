"""What is left out together: single rows, or all rows of a run or another group."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayescale.check.comparison.checkpoints import correlated, run_column
from bayescale.errors import FitError

if TYPE_CHECKING:
    from bayescale.data.runs import Runs
    from bayescale.fitted import Fit

ROW = "row"
MIN_UNITS = 3


@dataclass(frozen=True)
class Units:
    """Groups of rows that are left out together.

    Parameters
    ----------
    by : str
        ``"row"``, or the column that names the groups.
    names : tuple of str
        Row number or name of each group, in the order of their first row.
    index : integer array, shape (row,)
        Position of each row's group.
    note : str
        Why it is by this column, or what speaks against single rows; else empty.
    """

    by: str
    names: tuple[str, ...]
    index: np.ndarray
    note: str = ""

    def __len__(self) -> int:
        return len(self.names)

    def rows(self, unit: int) -> np.ndarray:
        """Positions of the rows of a group."""
        return np.flatnonzero(self.index == unit)


def find_units(fits: "Mapping[str, Fit]", by: str | None) -> Units:
    """Decide what is left out together.

    Parameters
    ----------
    fits : mapping
        Fits to the same rows.
    by : str or None
        ``"row"``, a column, or None to decide by noise, columns and residuals.

    Raises
    ------
    FitError
        Rows look like checkpoints and no column names the run, there is no such column, or too
        few groups.
    """
    first = next(iter(fits.values()))
    if by is not None:
        single = by == ROW and ROW not in first.runs.table
        units = _single_rows(first.runs) if single else _groups(first.runs, by)
        _check_whole_runs(fits, units)
        return units
    columns = {n: f.model.noise.runs for n, f in fits.items() if f.model.noise.runs}
    if columns:
        name, column = next(iter(columns.items()))
        assert column is not None
        shared = "an offset" if fits[name].model.noise.offsets else "their scatter"
        why = f"rows of one '{column}' share {shared} in {_of(name, fits)}noise"
        return _groups(first.runs, column, f"{why}, so they are left out together.")
    column = run_column(first.runs)
    if column is not None:
        why = f"several rows have one '{column}': they are checkpoints of a run"
        return _groups(first.runs, column, f"{why}, and are left out together.")
    # a law that fits badly makes errors that look alike: the least correlated law decides
    found = [correlated(f) for f in fits.values()]
    least = min((c for c in found if c), key=lambda c: c.r) if all(found) else None
    if least and least.checkpoints:
        raise FitError(
            f"these rows look like {least}: rows of one run are correlated, and leaving out one "
            "row at a time is too optimistic. Name the run's column: by='run' (shell: --by run); "
            "or by='row' if you know that every row is a training of its own."
        )
    hint = "if they are, leave out whole runs by the column that names them (by=…)."
    return _single_rows(first.runs, f"These rows may be {least}: {hint}" if least else "")


def _check_whole_runs(fits: "Mapping[str, Fit]", units: Units) -> None:
    """With memory a row is told by its neighbours: a run is left out whole or not at all."""
    for name, fit in fits.items():
        column = fit.model.noise.runs
        if fit.model.noise.along is None or column is None:
            continue
        run = fit.runs.column(column).astype(str)
        for one in dict.fromkeys(run):
            if len(np.unique(units.index[run == one])) > 1:
                raise FitError(
                    f"{_of(name, fits)}noise remembers along '{column}', so checkpoints of one run "
                    f"tell of each other; leaving out by '{units.by}' parts {column} '{one}'. "
                    f"Leave out whole runs: by='{column}' (shell: --by {column})."
                )


def _of(name: str, fits: "Mapping[str, Fit]") -> str:
    return f"{name}'s " if len(fits) > 1 else "this fit's "


def _single_rows(runs: "Runs", note: str = "") -> Units:
    names = tuple(str(int(r)) for r in runs.row_numbers)
    return Units(ROW, names, np.arange(len(runs)), note)


def _groups(runs: "Runs", column: str, note: str = "") -> Units:
    values = runs.column(column)  # refuses, and names the nearest
    import pandas as pd

    missing = np.flatnonzero(pd.isna(values))
    if len(missing):
        row = int(runs.row_numbers[missing[0]])
        raise FitError(f"column '{column}' names no group in row {row}; fill it or drop the row.")
    labels = [str(v) for v in values]
    names = tuple(dict.fromkeys(labels))
    place = {name: k for k, name in enumerate(names)}
    if len(names) < MIN_UNITS:
        raise FitError(
            f"column '{column}' has {len(names)} group{'s' if len(names) > 1 else ''}; leaving "
            f"out one at a time needs {MIN_UNITS} or more."
        )
    return Units(column, names, np.array([place[v] for v in labels]), note)
