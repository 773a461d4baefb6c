"""Checkpoints in the order of training, for noise that a run remembers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data.curves.order import along_column
from bayescale.errors import DataError
from bayescale.noise.memory import chain_columns
from bayescale.noise.noise import CHECKPOINT, Noise

if TYPE_CHECKING:
    import pandas as pd


def chains(
    noise: Noise,
    table: "pd.DataFrame",
    labels: Sequence[str] = (),
    rows: np.ndarray | None = None,
    source: str = "the table",
) -> dict[str, np.ndarray]:
    """The previous checkpoint of each row, and the distance from it; empty without memory.

    Parameters
    ----------
    noise : Noise
    table : DataFrame
    labels : sequence of str
        Columns of labels: several targets measured at one checkpoint are chains of their own.
    rows : array, shape (row,), optional
        Row numbers in the file.
    source : str
        Name of the file, for messages.

    Raises
    ------
    DataError
        A place that is no positive number, or two rows of one chain at the same place.
    """
    import pandas as pd

    if noise.along is None:
        return {}
    numbers = np.arange(1, len(table) + 1) if rows is None else rows
    ordinal = noise.along == CHECKPOINT
    column = along_column(table, source) if ordinal else noise.along
    numeric: Any = pd.to_numeric(table[column], errors="coerce")
    place = np.asarray(numeric, dtype=float)
    bad = ~np.isfinite(place) | (place < 0 if ordinal else place <= 0)
    if bad.any():
        k = int(np.argmax(bad))
        raise DataError(
            f"column '{column}' is {table[column].iloc[k]!s} in row {numbers[k]}; noise along "
            f"{noise.along} needs a positive number: correct the cell or leave the row out."
        )
    keys = [c for c in (noise.runs, *labels, noise.by) if c]
    found = chain_columns(table.groupby(keys, sort=False).ngroup().to_numpy(), place, ordinal)
    previous = found["previous"]
    twice = (place == place[previous]) & (previous != np.arange(len(place)))
    if twice.any():
        k = int(np.argmax(twice))
        raise DataError(
            f"{keys[0]} '{table[keys[0]].iloc[k]}' has {column} = {place[k]:g} in rows "
            f"{numbers[previous[k]]} and {numbers[k]}; noise along {noise.along} needs one row a "
            "checkpoint: name the run by more columns, or leave a row out."
        )
    return found
