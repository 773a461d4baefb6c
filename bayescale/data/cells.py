"""The numbers below a header: plain ones, and text such as "7.68B"."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayescale.data.messages import short
from bayescale.data.quantity import parse_number
from bayescale.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

# What people write into a cell that has no value, beside what pandas knows (NA, null, None, ...).
_EMPTY = frozenset(
    {"", "-", "--", "\u2013", "\u2014", "?", "n.a.", "na", "n/a", "none", "null", "nan"}
)


@dataclass(frozen=True)
class Numbers:
    """A column read as numbers.

    Parameters
    ----------
    values
        float64, NaN where a cell is empty or isn't a number.
    bad
        Per unreadable cell: position (0-based) and what is wrong.
    suffixed
        True where the cell names its own unit ("7.68B").
    """

    values: np.ndarray
    bad: tuple[tuple[int, str], ...]
    suffixed: np.ndarray

    def scaled(self, scale: float, what: str) -> np.ndarray:
        """Apply the unit of the header to cells that don't name their own.

        Raises
        ------
        DataError
            Where only some cells name a unit below a header that names one too.
        """
        if scale == 1.0 or not self.suffixed.any():
            return self.values * scale
        present = np.isfinite(self.values)
        if self.suffixed[present].all():
            return self.values
        raise DataError(
            f"{what}: the header names a unit (x {short(scale)}), but some cells below name their "
            "own (such as 7B) and some don't; write all of them in one way."
        )


def read_numbers(series: "pd.Series", what: str) -> Numbers:
    """Read a column as float64, cell by cell only where it isn't numeric already.

    Parameters
    ----------
    series
        The column.
    what
        "N", "D", "C" or "loss", for messages; suffixes are only for the first three.
    """
    import pandas as pd
    from pandas.api.types import is_bool_dtype, is_complex_dtype, is_numeric_dtype

    count = len(series)
    none = np.zeros(count, dtype=bool)
    if is_numeric_dtype(series) and not is_bool_dtype(series) and not is_complex_dtype(series):
        return Numbers(series.to_numpy(dtype=np.float64, na_value=np.nan), (), none)
    missing = series.isna().to_numpy(dtype=bool)
    cells = series.astype(object)
    values = np.full(count, np.nan)
    bad: list[tuple[int, str]] = []
    suffixed = none.copy()
    codes, texts = pd.factorize(cells.where(~missing, None))
    for code, cell in enumerate(texts):
        where = codes == code
        text = str(cell).strip()
        if text.lower() in _EMPTY:
            continue
        try:
            values[where] = _number(cell, what)
            suffixed |= where & (text[-1].isalpha() and text[-1].lower() not in "nfy")
        except DataError as err:
            bad += [(int(place), str(err)) for place in np.flatnonzero(where)]
    return Numbers(values, tuple(sorted(bad)), suffixed)


def _number(cell: object, what: str) -> float:
    """Read one cell; a suffix in a loss is an error, not a scale."""
    if isinstance(cell, bool | np.bool_):
        raise DataError(f"{what}: '{cell}' is true or false, not a number.")
    if isinstance(cell, int | float | np.integer | np.floating):
        return float(cell)
    if what == "loss":
        try:
            return float(str(cell))
        except ValueError:
            comma = " (a decimal comma? write a point)" if "," in str(cell) else ""
            raise DataError(f"{what}: '{cell}' is not a number{comma}.") from None
    return parse_number(str(cell), what)
