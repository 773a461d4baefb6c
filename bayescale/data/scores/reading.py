"""A table of benchmark accuracies, wide or long, as a checked matrix of fractions."""

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data.columns import listed
from bayescale.data.frames import tidy, to_pandas
from bayescale.errors import DataError, nearest

if TYPE_CHECKING:
    import pandas as pd

UNITS = ("auto", "fraction", "percent")


@dataclass(frozen=True)
class Accuracies:
    """Accuracies of models on benchmarks.

    Parameters
    ----------
    models, benchmarks : tuple of str
    values : array, shape (model, benchmark)
        Fractions, NaN where there is no score.
    notes : tuple of str
        What was decided on the way.
    """

    models: tuple[str, ...]
    benchmarks: tuple[str, ...]
    values: np.ndarray
    notes: tuple[str, ...]

    def missing(self) -> tuple[tuple[str, str], ...]:
        """Cells without a score: (model, benchmark)."""
        cells = np.argwhere(np.isnan(self.values))
        return tuple((self.models[i], self.benchmarks[k]) for i, k in cells)

    def check_silent(self) -> None:
        """Raise where a model has no score at all."""
        silent = np.flatnonzero(np.isnan(self.values).all(axis=1))
        if len(silent):
            raise DataError(
                f"model '{self.models[silent[0]]}' has no score on any of the benchmarks "
                f"({listed(self.benchmarks)}): add its scores or leave it out."
            )


def read_accuracies(
    source: Any, model: str, benchmarks: Sequence[str] | None, unit: str
) -> Accuracies:
    """Read a wide or long table of accuracies.

    Parameters
    ----------
    source
        Path or table: a row a model with a column a benchmark, or columns model, benchmark and
        score.
    model : str
        Column that names the models.
    benchmarks : sequence of str, optional
        Benchmarks to take; default: all columns of numbers (wide), all that occur (long).
    unit : {"auto", "fraction", "percent"}

    Raises
    ------
    DataError
        Naming the cell, model or benchmark that is wrong.
    """
    if unit not in UNITS:
        raise DataError(f"unit is {unit!r}; expected one of {', '.join(UNITS)}.")
    frame, key = open_table(source, model)
    bench, score = _find(frame, "benchmark"), _find(frame, "score")
    if bench is not None and score is not None and bench not in (benchmarks or ()):
        frame = _wide(frame, key, bench, score)
    names = _chosen(frame, key, benchmarks)
    models = _models(frame, key)
    columns: Any = frame
    values = np.column_stack([_numbers(columns[name], name, models) for name in names])
    models, values = _one_row_each(models, names, values)
    values, notes = _fractions(models, names, values, unit)
    return Accuracies(tuple(models), tuple(names), values, notes)


def open_table(source: Any, model: str) -> "tuple[pd.DataFrame, str]":
    """A table of models, and the column that names them.

    Raises
    ------
    DataError
        The file can't be read, or no column of that name.
    """
    frame = _open(source)
    key = _find(frame, model)
    if key is None:
        known = [str(c) for c in frame.columns]
        raise DataError(
            f"the table of scores has no column '{model}' that names the models; there are "
            f"{listed(known)}. Say which with model='...'." + nearest(model, known)
        )
    return frame, key


def _open(source: Any) -> "pd.DataFrame":
    if isinstance(source, str | PathLike):
        from bayescale.data.files import read_bytes, read_file

        path = Path(source)
        return tidy(read_file(path, read_bytes(path)), path.name)[0]
    return tidy(to_pandas(source), "the table of scores")[0]


def _find(frame: "pd.DataFrame", name: str) -> str | None:
    """A column by its name, or by its name in other letter case."""
    if name in frame:
        return name
    return next((str(c) for c in frame.columns if str(c).lower() == name.lower()), None)


def _wide(frame: "pd.DataFrame", model: str, benchmark: str, score: str) -> "pd.DataFrame":
    """One row a model from one row a score."""
    twice = frame.duplicated([model, benchmark])
    if twice.any():
        first = frame[twice].iloc[0]
        raise DataError(
            f"model '{first[model]}' has several scores on benchmark '{first[benchmark]}'; "
            "keep one, or take their mean."
        )
    made = frame.pivot(index=model, columns=benchmark, values=score)
    made = made.reindex(dict.fromkeys(frame[model]))[list(dict.fromkeys(frame[benchmark]))]
    made.columns = [str(c) for c in made.columns]
    return made.rename_axis(model).reset_index()


def _chosen(frame: "pd.DataFrame", key: str, benchmarks: Sequence[str] | None) -> list[str]:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if benchmarks is None:
        numeric = [c for c in frame.columns if c != key and is_numeric_dtype(frame[c])]
        found = [str(c) for c in numeric if not is_bool_dtype(frame[c])]
        if not found:
            raise DataError(
                "the table of scores has no column of numbers beside the models' names."
            )
        return found
    if isinstance(benchmarks, str):
        raise DataError(f"benchmarks is '{benchmarks}'; expected a list of column names.")
    known = [str(c) for c in frame.columns]
    for name in benchmarks:
        if name not in known or name == key:
            raise DataError(
                f"the table of scores has no benchmark '{name}'; there are {listed(known)}."
                + nearest(name, known)
            )
    return list(dict.fromkeys(benchmarks))


def _models(frame: "pd.DataFrame", key: str) -> list[str]:
    empty = np.flatnonzero(frame[key].isna().to_numpy())
    if len(empty):
        raise DataError(f"column '{key}' names no model in row {empty[0] + 1}.")
    return [str(v) for v in frame[key]]


def _numbers(column: "pd.Series", name: str, models: Sequence[str]) -> np.ndarray:
    import pandas as pd

    values = np.asarray(pd.to_numeric(column, errors="coerce"), dtype=float)
    bad = np.flatnonzero(~np.isfinite(values) & column.notna().to_numpy())
    if len(bad):
        raise DataError(
            f"the score of model '{models[bad[0]]}' on '{name}' is {column.iloc[bad[0]]!r}; an "
            "accuracy was expected (leave the cell empty where there is none)."
        )
    return values


def _one_row_each(
    models: list[str], names: Sequence[str], values: np.ndarray
) -> tuple[list[str], np.ndarray]:
    """Join rows that repeat a model; a run table repeats its backbone's scores in every row."""
    first: dict[str, int] = {}
    for row, model in enumerate(models):
        kept = first.setdefault(model, row)
        differ = ~np.isclose(values[row], values[kept], rtol=1e-9, atol=0, equal_nan=True)
        if differ.any():
            name = names[int(np.argmax(differ))]
            raise DataError(
                f"model '{model}' has two scores on '{name}': {values[kept][differ][0]:g} and "
                f"{values[row][differ][0]:g}; keep one, or give the models names of their own."
            )
    rows = list(first.values())
    return list(first), values[rows]


def _fractions(
    models: Sequence[str], names: Sequence[str], values: np.ndarray, unit: str
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Accuracies as fractions; which benchmarks were in percent."""
    percent = [_in_percent(models, n, values[:, k], unit) for k, n in enumerate(names)]
    made = np.where(percent, values / 100, values)
    if not any(percent):
        return made, ()
    if all(percent):
        return made, ("scores are in percent and were divided by 100",)
    which = [n for n, p in zip(names, percent, strict=True) if p]
    return made, (f"scores are in two units: divided by 100 were {listed(which)}",)


def _in_percent(models: Sequence[str], name: str, column: np.ndarray, unit: str) -> bool:
    top = 100.0 if unit != "fraction" else 1.0
    bad = np.flatnonzero((column < 0) | (column > top))
    if len(bad):
        raise DataError(
            f"the score of model '{models[bad[0]]}' on '{name}' is {column[bad[0]]:g}; an accuracy "
            f"lies between 0 and 1{', or 0 and 100 in percent' if top > 1 else ''}. Correct it, or "
            "leave the benchmark out (benchmarks=[...])."
        )
    if unit != "auto":
        return unit == "percent"
    high, low = column > 1, (column > 0) & (column < 1)
    if high.any() and low.any():  # 0.4 among 61.3: a fraction that got in, or 0.4 %?
        raise DataError(
            f"benchmark '{name}' mixes units: {column[low][0]:g} for model "
            f"'{models[int(np.argmax(low))]}' and {column[high][0]:g} for "
            f"'{models[int(np.argmax(high))]}'. Write all as fractions or all in percent, or say "
            "unit='percent' if they are."
        )
    return bool(high.any())
