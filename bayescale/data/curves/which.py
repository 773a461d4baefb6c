"""Which rows are one training run: a column, or several together."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data.messages import rows_text
from bayescale.errors import DataError, nearest

if TYPE_CHECKING:
    import pandas as pd

    from bayescale.data.runs import Runs

MOST_NAMED = 3


@dataclass(frozen=True)
class Which:
    """The run of each row.

    Parameters
    ----------
    column : str
        Column of the table that holds the names.
    code : integer array, shape (row,)
        Number of the run, in the order of the first rows.
    names : tuple of str
    """

    column: str
    code: np.ndarray
    names: tuple[str, ...]

    def sizes(self) -> np.ndarray:
        """Number of rows of each run."""
        return np.bincount(self.code, minlength=len(self.names))

    def listed(self, which: np.ndarray) -> str:
        """The first names of some runs, given by their numbers."""
        shown = ", ".join(self.names[int(k)] for k in which[:MOST_NAMED])
        more = len(which) - MOST_NAMED
        return shown + (f" and {more} more" if more > 0 else "")


def find_columns(runs: "Runs", patterns: Sequence[str], what: str) -> list[str]:
    """Columns of a table by names or patterns, by the file's own names too.

    Raises
    ------
    DataError
        A pattern that no column fits.
    """
    own = {str(c): {str(c)} for c in runs.table.columns}
    for role, name in runs.columns.items():
        if role not in runs.derived:
            own[role].add(name)
    found: list[str] = []
    for pattern in patterns:
        fits = [c for c, names in own.items() if any(fnmatchcase(n, pattern) for n in names)]
        if not fits:
            known = sorted(set().union(*own.values()))
            raise DataError(
                f"curves: {runs.source} has no column '{pattern}' ({what}); it has "
                f"{', '.join(known)}." + nearest(pattern, known)
            )
        found += [c for c in fits if c not in found]
    return found


def name_runs(runs: "Runs", patterns: Sequence[str]) -> tuple["pd.DataFrame", Which]:
    """The table, with a column of names where several columns name the run, and the runs.

    Raises
    ------
    DataError
        No such column, or an empty name.
    """
    import pandas as pd

    table = runs.table
    columns = find_columns(runs, patterns, "to name the run")
    for column in columns:
        empty = table[column].isna().to_numpy()
        if empty.any():
            raise DataError(
                f"curves: '{column}' names no run in {rows_text(runs.row_numbers[empty])}; fill "
                "it or leave the rows out (where=, --where)."
            )
    keys: Any = table.groupby(columns, sort=False)
    code = np.asarray(keys.ngroup())
    if len(columns) == 1:
        texts: Any = table[columns[0]].astype(str)
        names = pd.unique(texts)
        return table, Which(columns[0], code, tuple(str(n) for n in names))
    names = tuple(f"r{k + 1}" for k in range(int(code.max()) + 1))
    column = "run" if "run" not in table else "curve"
    labels = np.asarray(names, dtype=object)[code]
    return table.assign(**{column: labels}), Which(column, code, names)
