"""The law of the best batch size from a table: which sizes were tried, and which was best."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data.flags import Flag
from bayescale.errors import DataError
from bayescale.families.family import Family
from bayescale.law import Law
from bayescale.laws.batch_size import batch_size_law

if TYPE_CHECKING:
    from bayescale.data.runs import Runs


def arrange(
    runs: "Runs",
    *,
    response: str = "batch_size",
    score: str = "Z",
    by: str | Sequence[str] = (),
    grid: str | Sequence[Any] = (),
) -> tuple[Law, "Runs"]:
    """The law for a table, and the table with one row a choice of batch size.

    Parameters
    ----------
    runs : Runs
        Either one row a choice, with the composite score and the best batch size, or one row a
        trial with the loss too: then the trial with the least loss of each choice is kept.
    response : str
        Column of the batch size.
    score : str
        Column of Z = P - P0, or of what else the best size may follow.
    by : str or sequence of str
        Columns that tell the choices apart, for a table of trials; default: the score.
    grid : sequence of numbers, or such a text joined by ``+``
        Sizes that were tried; default: those in the table.

    Raises
    ------
    DataError
        A column is missing, a number isn't positive, fewer than two sizes were tried, or the
        score is the same in all rows.
    """
    runs.require([response, score], by="law 'batch-size' (response='…' and score='…' name them)")
    table: Any = runs.table.assign(
        batch_size=_numbers(runs, response, positive=True), Z=_numbers(runs, score, positive=False)
    )
    sizes = _grid(grid, table["batch_size"].to_numpy(), runs)
    keys = [by] if isinstance(by, str) else list(by) or ["Z"]
    runs.require([k for k in keys if k != "Z"], by="law 'batch-size' (by='…')")
    keep = np.arange(len(table))
    flags = runs.flags
    if "loss" in table and table.duplicated(keys).any():
        keep = _best(table, keys, runs)
        said = f"{len(table)} trials are {len(keep)} choices: the batch size with the least loss"
        flags = (*flags, Flag("note", (), said))
    kept: Any = table.iloc[keep].reset_index(drop=True)
    Z = kept["Z"].to_numpy(dtype=float)
    if np.ptp(Z) == 0:
        raise DataError(
            f"column '{score}' is the same in all {len(kept)} rows of {runs.source}: nothing says "
            "how the best batch size follows it."
        )
    law = batch_size_law(tuple(float(s) for s in sizes), float(f"{np.std(Z):.2g}"))
    return law, replace(runs, table=kept, row_numbers=runs.row_numbers[keep], flags=flags)


def _numbers(runs: "Runs", column: str, positive: bool) -> np.ndarray:
    from bayescale.data.cells import read_numbers

    cells: Any = runs.table[column]
    read = read_numbers(cells, "value")
    if read.bad:
        place, problem = read.bad[0]
        raise DataError(f"{runs.source} row {runs.row_numbers[place]}: {column}: {problem}")
    bad = ~np.isfinite(read.values) | (positive & ~(read.values > 0))
    if bad.any():
        row = runs.row_numbers[int(np.argmax(bad))]
        what = "a positive number" if positive else "a number"
        raise DataError(f"column '{column}' of {runs.source} needs {what} in row {row}.")
    return read.values


def _grid(grid: str | Sequence[Any], found: np.ndarray, runs: "Runs") -> np.ndarray:
    """Sizes tried: as stated, else those in the table."""
    stated = [grid] if isinstance(grid, str | int | float) else list(grid)
    try:
        sizes = np.unique([float(v) for v in stated]) if stated else np.unique(found)
    except ValueError:
        raise DataError(f"grid is {grid!r}; expected batch sizes such as 128+256+512.") from None
    if len(sizes) < 2:
        raise DataError(
            f"{runs.source} has one batch size, {sizes[0]:g}; say which others were tried, "
            "grid=128+256+512."
        )
    off = ~np.isclose(found[:, None], sizes, rtol=1e-9).any(axis=1)
    if off.any():
        row, listed = runs.row_numbers[int(np.argmax(off))], ", ".join(f"{v:g}" for v in sizes)
        raise DataError(
            f"batch size {found[np.argmax(off)]:g} in row {row} of {runs.source} isn't among those "
            f"stated as tried ({listed})."
        )
    return sizes


def _best(table: Any, keys: list[str], runs: "Runs") -> np.ndarray:
    """Positions of the trials with the least loss, in the order of the choices."""
    if table["loss"].isna().any():
        row = runs.row_numbers[int(np.argmax(table["loss"].isna().to_numpy()))]
        raise DataError(f"column 'loss' of {runs.source} is empty in row {row}; leave it out.")
    least = table.groupby(keys, sort=False)["loss"].idxmin()
    return np.array([table.index.get_loc(k) for k in least])


BATCH_SIZE = Family(
    name="batch-size",
    title="Best batch size from the composite score",
    build=batch_size_law,
    arrange=arrange,
    example=batch_size_law(),
    options={
        "response": "column of the batch size (batch_size)",
        "score": "column of the composite score, or of what else it follows (Z)",
        "by": "columns that tell choices apart in a table of trials, such as model+D (the score)",
        "grid": "sizes tried, such as 128+256+512 (those in the table)",
    },
    reading={"columns": {"N": "", "C": ""}},
)
