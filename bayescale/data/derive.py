"""The third of N, D and C from the other two."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bayescale.data.cost import CostModel
from bayescale.data.messages import short

if TYPE_CHECKING:
    import pandas as pd


def third(
    values: Mapping[str, np.ndarray], cost: CostModel, table: "pd.DataFrame"
) -> tuple[str, np.ndarray, str] | None:
    """Compute the one of N, D and C that a table lacks.

    Parameters
    ----------
    values
        Role to numbers, as far as they are known.
    cost
        How the three are tied.
    table
        The whole table, for a cost model that needs another column.

    Returns
    -------
    tuple or None
        The role, its numbers (NaN where the others are unusable) and the formula; None where
        nothing can be computed.
    """
    missing = {"N", "D", "C"} - set(values)
    active = cost.kind == "active"
    if not (len(missing) == 1 or (active and missing == {"N", "C"})):
        return None
    with np.errstate(all="ignore"):  # unusable rows are reported later, or filtered out
        if "C" in missing:
            size = values.get("N", np.array(np.nan))
            formula = cost.describe().removeprefix("C = ")
            return "C", cost.flops(size, values["D"], table), formula
        if "D" in missing:
            return "D", cost.tokens(values["N"], values["C"], table), solved_for("D", cost)
        if active:
            return None  # compute doesn't fix the total size of a sparse model
        return "N", cost.params(values["C"], values["D"], table), solved_for("N", cost)


def solved_for(role: str, cost: CostModel) -> str:
    """Return the formula for N or D, for instance "C / (6 N)"."""
    if cost.kind == "custom":
        return f"solved from {cost.describe()}"
    other = "N" if role == "D" else "D"
    size = f"[{cost.column}]" if cost.kind == "active" else other
    scale = f"{short(cost.scale)} x " if cost.scale != 1.0 else ""
    return f"C / ({cost.factor:g} {scale}{size})"
