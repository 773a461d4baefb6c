"""Things about a run table that a user should know and a fit can live with."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data.divergence import diverged
from bayescale.data.messages import range_text, rows_text
from bayescale.data.overrepetition import MARGIN, harm, safe_epochs

if TYPE_CHECKING:
    import pandas as pd

    from bayescale.data.cost import CostModel

SEVERAL = {"target", "objective"}  # columns that name what a row's loss is of


@dataclass(frozen=True)
class Flag:
    """One remark on a run table.

    Parameters
    ----------
    kind
        Short name of the finding, for instance "diverged".
    rows
        Row numbers in the file it is about; empty if it is about the whole table.
    message
        One line for people.
    """

    kind: str
    rows: tuple[int, ...]
    message: str


def find_flags(
    table: "pd.DataFrame", rows: np.ndarray, cost: "CostModel", given_compute: bool
) -> tuple[Flag, ...]:
    """Look a run table over.

    Parameters
    ----------
    table
        Canonical columns N, D, C, loss as far as they are there, then the others.
    rows
        Row numbers in the file.
    cost
        Cost model, compared with C where the file gives C beside N and D.
    given_compute
        Whether C comes from the file.
    """
    found = [*_few_rows(rows), *_duplicates(table, rows)]
    found += [*_few_tokens(table, rows), *_mixed_units(table, rows)]
    if not SEVERAL & set(table):  # losses of several targets at one N and D are no repeats
        found += [*_repeats(table, rows), *_diverged(table, rows), *_harmed(table, rows)]
    if given_compute and {"N", "D", "C"} <= set(table):
        found += _cost_ratio(table, rows, cost)
    return tuple(found)


def _few_rows(rows: np.ndarray) -> list[Flag]:
    if len(rows) > 2:
        return []
    runs = "one run" if len(rows) == 1 else "two runs"
    return [Flag("few-rows", (), f"only {runs}: no law can be fitted to so few.")]


def _duplicates(table: "pd.DataFrame", rows: np.ndarray) -> list[Flag]:
    try:
        copies = table.duplicated(keep="first").to_numpy()
    except TypeError:  # cells that can't be hashed (lists in JSON lines)
        copies = table.astype(str).duplicated(keep="first").to_numpy()
    # Without any other column, equal (N, D, loss) may be an honest coincidence only if rounded.
    return _flag("duplicates", rows, copies, "an exact copy of an earlier row; delete the copies.")


def _repeats(table: "pd.DataFrame", rows: np.ndarray) -> list[Flag]:
    inputs = [c for c in ("N", "D", "U") if c in table]
    if not {"N", "D"} <= set(inputs) or "loss" not in table:
        return []
    groups: Any = table.groupby(inputs, sort=False)["loss"]
    differ = (groups.transform("nunique") > 1).to_numpy()
    if not differ.any():
        return []
    cells = int((groups.nunique() > 1).sum())
    factor = float((groups.transform("max") / groups.transform("min")).max())
    by = f"a factor {factor:.2g}" if factor > 2 else f"{100 * (factor - 1):.2g}%"
    return _flag(
        "repeats",
        rows,
        differ,
        f"the same {', '.join(inputs)} as another run with a different loss ({cells} such "
        f"cells, losses differ by up to {by}): repeats with other "
        "seeds tell the noise; runs with other settings should be one setting a cell, or "
        "filtered with where.",
    )


def _few_tokens(table: "pd.DataFrame", rows: np.ndarray) -> list[Flag]:
    if not {"N", "D"} <= set(table):
        return []
    few = (table["D"] < table["N"] / 100).to_numpy()
    return _flag(
        "few-tokens",
        rows,
        few,
        "less than one token per 100 parameters: far outside what the laws are made for.",
    )


def _mixed_units(table: "pd.DataFrame", rows: np.ndarray) -> list[Flag]:
    found = []
    for role in ("N", "D"):
        if role not in table:
            continue
        values = table[role].to_numpy()
        if values.max() > 1e6:
            message = f"{role} below 1,000 while others are above 1e6: mixed units?"
            found += _flag("mixed-units", rows, values < 1e3, message)
    return found


def _diverged(table: "pd.DataFrame", rows: np.ndarray) -> list[Flag]:
    if "loss" not in table or not {"N", "D"} & set(table):
        return []
    inputs = [table[c].to_numpy() for c in ("N", "D") if c in table]
    return _flag(
        "diverged",
        rows,
        diverged(inputs, table["loss"].to_numpy()),
        "a loss far above that of a run with no more parameters and no more tokens: diverged, "
        "or over-repeated data? Such runs follow no smooth law; leave them out with where.",
    )


def _harmed(table: "pd.DataFrame", rows: np.ndarray) -> list[Flag]:
    if not {"N", "D", "U", "loss"} <= set(table):
        return []
    N, D, U, loss = (table[c].to_numpy(dtype=float) for c in ("N", "D", "U", "loss"))
    if not np.all(U > 0):  # an error where a law reads it
        return []
    worse = harm(N, D, U, loss) > MARGIN
    if not worse.any():
        return []
    limit = safe_epochs(D, U, worse)
    return _flag(
        "over-repeated",
        rows,
        worse,
        "more epochs over the same tokens made the loss higher: repetition harms here, which no "
        f"law of repetition follows; leave such runs out, for instance where='D < {limit:g} * U'.",
    )


def _cost_ratio(table: "pd.DataFrame", rows: np.ndarray, cost: "CostModel") -> list[Flag]:
    ratio = table["C"].to_numpy() / cost.flops(table["N"], table["D"], table)
    far = (ratio < 0.2) | (ratio > 5)
    found = _flag(
        "cost-far",
        rows,
        far,
        f"C is less than 0.2 or more than 5 times {cost.describe().removeprefix('C = ')} "
        f"({range_text(ratio[far]) if far.any() else ''}): is it the compute of this run, and N "
        "the right count of parameters?",
    )
    if not found and (abs(ratio - 1) > 0.02).any():
        equation = cost.describe().removeprefix("C = ")
        message = f"C as given is {range_text(ratio)} times {equation}; it is kept."
        found = [Flag("cost", (), message)]
    return found


def _flag(kind: str, rows: np.ndarray, which: np.ndarray, message: str) -> list[Flag]:
    if not which.any():
        return []
    numbers = tuple(int(r) for r in rows[which])
    return [Flag(kind, numbers, f"{rows_text(numbers)}: {message}")]
