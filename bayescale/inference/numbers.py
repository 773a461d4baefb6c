"""A column of a run table as numbers within bounds, or an error that names the cell."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayescale.errors import DataError

if TYPE_CHECKING:
    from bayescale.data.runs import Runs

INFINITE = float("inf")


@dataclass(frozen=True)
class Bounds:
    """Where the numbers of a column may lie; ``open`` leaves the ends out."""

    lower: float = -INFINITE
    upper: float = INFINITE
    open: bool = False

    def outside(self, values: np.ndarray) -> np.ndarray:
        """True where a value is not finite or out of bounds."""
        with np.errstate(invalid="ignore"):
            low = values <= self.lower if self.open else values < self.lower
            high = values >= self.upper if self.open else values > self.upper
        return ~np.isfinite(values) | low | high

    def __str__(self) -> str:
        if self.upper < INFINITE:
            ends = ", ends excluded" if self.open else ""
            return f"a number from {self.lower:g} to {self.upper:g}{ends}"
        if self.lower == 0 and self.open:
            return "a positive number"
        return f"a number of at least {self.lower:g}" if self.lower > -INFINITE else "a number"


def read_numbers(runs: "Runs", name: str, bounds: Bounds) -> np.ndarray:
    """A column as float64.

    Raises
    ------
    DataError
        A cell is empty, no number, or out of bounds.
    """
    import pandas as pd

    raw = runs.column(name)
    values = np.asarray(pd.to_numeric(pd.Series(raw), errors="coerce"), dtype=np.float64)
    bad = bounds.outside(values)
    if not bad.any():
        return values
    first = int(np.argmax(bad))
    raise DataError(
        f"column '{name}' is {raw[first]!s} in row {int(runs.row_numbers[first])}; {bounds} "
        f"was expected: {_advice(values, bounds)}"
    )


def _advice(values: np.ndarray, bounds: Bounds) -> str:
    finite = values[np.isfinite(values)]
    if bounds.upper == 1 and finite.size and 1 < finite.max() <= 100 and finite.min() >= 0:
        return "in percent? Divide the column by 100."
    if (
        bounds.upper == 1
        and bounds.open
        and finite.size
        and set(finite[bounds.outside(finite)]) <= {0, 1}
    ):
        return (
            "a score of exactly 0 or 1 has no log odds; leave the row out, or fit with noise on "
            "the response (noise=normal() / --noise normal)."
        )
    return "correct the cell or leave the row out."
