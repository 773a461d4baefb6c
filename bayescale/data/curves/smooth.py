"""A centred rolling mean of the loss along each run."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data.curves.which import Which
from bayescale.data.flags import Flag
from bayescale.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


def smoothed(
    table: "pd.DataFrame", which: Which, width: int, columns: list[str]
) -> tuple["pd.DataFrame", list[Flag]]:
    """The table with columns replaced by their centred mean over ``width`` checkpoints.

    Near the ends of a run, and beside empty cells, the window is the widest odd one that fits on
    both sides: a window that looks back only would lift the end of a falling curve.

    Parameters
    ----------
    table : DataFrame
        Rows of each run in order.
    which : Which
    width : int
        Odd.
    columns : list of str

    Raises
    ------
    DataError
        No run is as long as the window, or a column holds no numbers.
    """
    short = np.flatnonzero(which.sizes() < width)
    if len(short) == len(which.names):
        raise DataError(
            f"curves: smooth={width} is wider than every run (the longest has "
            f"{which.sizes().max()} checkpoints); take a smaller window."
        )
    values: Any = table[columns]
    if text := [c for c in columns if values[c].dtype.kind not in "fiu"]:
        raise DataError(f"curves: column '{text[0]}' is to be smoothed but holds no numbers.")
    found = values * np.nan
    for size in range(width, 0, -2):
        groups = values.groupby(which.code, sort=False)
        means = groups.rolling(size, center=True, min_periods=size).mean()
        found = found.fillna(means.droplevel(0).sort_index())
    what = "loss" if columns == ["loss"] else ", ".join(columns)
    flags = [
        Flag(
            "curves",
            (),
            f"{what} smoothed along each run: centred mean of {width} checkpoints, narrower "
            "towards the ends.",
        )
    ]
    if len(short):
        message = f"{len(short)} of {len(which.names)} runs shorter than that, smoothed less: "
        flags.append(Flag("curves", (), f"{message}{which.listed(short)}."))
    return table.assign(**{c: found[c] for c in columns}), flags
