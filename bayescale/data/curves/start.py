"""The start of training, which follows no scaling law: checkpoints before a step."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data.curves.options import Curves
from bayescale.data.flags import Flag
from bayescale.errors import DataError, nearest

if TYPE_CHECKING:
    import pandas as pd


def after_start(view: "pd.DataFrame", curves: Curves) -> tuple[np.ndarray, Flag]:
    """Which rows stay, and what is said of it.

    Done while the table is read, before its numbers are checked: a curve may begin with a
    checkpoint at no tokens.

    Parameters
    ----------
    view : DataFrame
        The table with the file's own names and the canonical ones.
    curves : Curves

    Raises
    ------
    DataError
        There is no such column of numbers, or no row is left.
    """
    import pandas as pd

    column, least = curves.start()
    if column not in view:
        known = [str(c) for c in view.columns]
        other = " Of another column: drop_before='step=1000'." if column == "D" else ""
        raise DataError(
            f"curves: drop_before reads '{column}', which is no column; there are "
            f"{', '.join(known)}.{other}" + nearest(column, known)
        )
    numeric: Any = pd.to_numeric(view[column], errors="coerce")
    values = np.asarray(numeric, dtype=float)
    if np.isnan(values).all():
        raise DataError(f"curves: drop_before reads '{column}', which holds no numbers.")
    keep = ~(values < least)
    if not keep.any():
        raise DataError(
            f"curves: no checkpoint is left with {column} of at least {least:g}; the largest is "
            f"{np.nanmax(values):g}."
        )
    dropped = int((~keep).sum())
    message = f"{dropped} of {len(keep)} checkpoints dropped: {curves.describe_start()}."
    return keep, Flag("curves", (), message)
