"""Tables in memory: pandas, polars, pyarrow and whatever else narwhals knows."""

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data.csvtext import check_names
from bayescale.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


def to_pandas(table: Any) -> "pd.DataFrame":
    """Return a pandas copy of a table of any kind that narwhals supports.

    Parameters
    ----------
    table
        pandas, polars (eager or lazy), pyarrow, modin, DuckDB relation, ...

    Returns
    -------
    DataFrame
        New, with text column names and a plain index.

    Raises
    ------
    DataError
        Where it is no table.
    """
    import narwhals as nw
    import pandas as pd

    if isinstance(table, pd.DataFrame):
        return _plain(table)
    try:
        frame = nw.from_native(table)
    except TypeError:
        raise DataError(
            f"can't read runs from a {type(table).__name__}: give a path, or a table of pandas, "
            "polars or pyarrow (pandas.DataFrame(...) makes one of dicts, lists and arrays)."
        ) from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    # Column by column, since polars' own to_pandas needs pyarrow.
    return pd.DataFrame({name: _column(frame[name]) for name in frame.columns})


def _column(series: Any) -> Any:
    return series.to_numpy() if series.dtype.is_numeric() else series.to_list()


def _plain(table: "pd.DataFrame") -> "pd.DataFrame":
    """Bring a named index back as columns; drop an unnamed one."""
    if table.columns.nlevels > 1:
        raise DataError(
            "the table's columns have several levels; flatten them to one name a column first."
        )
    named = [name for name in table.index.names if name is not None]
    clash = [name for name in named if name in table.columns]
    frame = table.reset_index(drop=not named or bool(clash))
    frame.columns = [str(name).strip() for name in frame.columns]
    return frame


def tidy(frame: Any, source: str) -> tuple["pd.DataFrame", np.ndarray]:
    """Drop what spreadsheets leave behind: index columns, empty columns, empty rows.

    Parameters
    ----------
    frame
        The table as read.
    source
        Name of the file, for messages.

    Returns
    -------
    tuple
        The tidied table with index 0..n-1, and the 1-based row number of each row in the source.
    """
    names = [str(c).strip() for c in frame.columns]
    check_names(names, source)
    frame = frame.set_axis(names, axis=1)
    unnamed = [c for c in names if not c or c.startswith("Unnamed: ")]
    drop = [c for c in unnamed if _is_index(frame[c]) or bool(frame[c].isna().all())]
    frame = frame.drop(columns=drop)
    filled = frame.notna().any(axis=1).to_numpy() if len(frame.columns) else np.zeros(0, bool)
    rows = np.arange(1, len(frame) + 1)[: len(filled)]
    if not filled.any():
        raise DataError(f"{source} has no rows: expected one row a run.")
    return frame[filled].reset_index(drop=True), rows[filled]


def _is_index(column: Any) -> bool:
    """Tell a written-out row index (0, 1, 2, ... or 1, 2, 3, ...) from data."""
    from pandas.api.types import is_numeric_dtype

    if not is_numeric_dtype(column):
        return False
    values = column.dropna().to_numpy(dtype=np.float64)
    return len(values) > 0 and values[0] in (0, 1) and bool(np.all(np.diff(values) == 1))


def content_hash(frame: "pd.DataFrame") -> str:
    """Return a sha256 of a table's column names and cells."""
    import pandas.util

    hash_rows: Any = pandas.util.hash_pandas_object

    digest = hashlib.sha256("\x1f".join(map(str, frame.columns)).encode())
    try:
        hashes = hash_rows(frame, index=False)
    except TypeError:  # cells that can't be hashed (lists, dicts)
        hashes = hash_rows(frame.astype(str), index=False)
    digest.update(hashes.to_numpy().tobytes())
    return digest.hexdigest()
