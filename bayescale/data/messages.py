"""Small pieces of the messages about tables: rows, ranges."""

from collections.abc import Iterable

import numpy as np


def rows_text(rows: Iterable[int], most: int = 5) -> str:
    """Return "row 3" or "rows 3, 7, 12 and 40 more"."""
    numbers = [int(r) for r in rows]
    shown = ", ".join(str(n) for n in numbers[:most])
    more = f" and {len(numbers) - most} more" if len(numbers) > most else ""
    return f"row{'s' if len(numbers) != 1 else ''} {shown}{more}"


def short(value: float) -> str:
    """Return a number as people type it: 1e9, not 1e+09."""
    mantissa, e, exponent = f"{value:g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if e else mantissa


def range_text(values: np.ndarray) -> str:
    """Return "between 0.07 and 70", or "7" for a single value."""
    low, high = float(np.min(values)), float(np.max(values))
    return f"{low:.4g}" if low == high else f"between {low:.4g} and {high:.4g}"
