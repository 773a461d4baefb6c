"""The other count of N: with embeddings where N is without, and the other way round."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayescale.data.headers import read_header
from bayescale.errors import DataError

if TYPE_CHECKING:
    from bayescale.data.runs import Runs

SIZE_WORDS = {"n", "params", "param", "parameters", "parameter", "nparams", "numparams", "size"}
OTHER_WORDS = {"c", "d", "flops", "flop", "compute", "tokens", "token", "per", "ratio", "loss"}
WITHOUT = {"no", "non", "without", "wo", "excl", "excluding", "minus"}
VOCABULARY = ("vocab", "vocabsize", "vocabulary", "vocabularysize", "nvocab")
WIDTH = ("width", "dmodel", "hiddensize", "hiddendim", "modeldim", "modelwidth", "nembd", "dim")


class NotApplicable(Exception):
    """A perturbation that these runs or this law can't have; its text says why."""


@dataclass(frozen=True)
class OtherCount:
    """N counted the other way.

    Parameters
    ----------
    values : array, shape (run,)
        Parameters.
    label, source : str
        ``N without embeddings``, and where it is from.
    """

    values: np.ndarray
    label: str
    source: str


def other_count(
    runs: "Runs",
    column: str | None = None,
    vocabulary: "int | float | str | None" = None,
    width: str | None = None,
) -> OtherCount:
    """N counted with embeddings where the runs' N is without, or the other way round.

    A column of the table is taken where one is given or its name says so; else N minus (or plus)
    vocabulary x width, one embedding matrix (arXiv:2001.08361 counts without, arXiv:2203.15556
    with).

    Parameters
    ----------
    runs : Runs
    column : str, optional
        Column with the other count.
    vocabulary : number or str, optional
        Size of the vocabulary, or its column.
    width : str, optional
        Column of the model width.

    Raises
    ------
    NotApplicable
        There is neither.
    DataError
        A named column is missing or holds something other than positive numbers.
    """
    bare = not counts_embeddings(runs.columns.get("N", "N"))
    label = "N with embeddings" if bare else "N without embeddings"
    name = column or _column(runs, bare)
    if name is not None:
        values = _positive(runs, name)
        label = label if column is None else f"N by column '{name}'"
        return _checked(runs, OtherCount(values, label, f"column '{name}'"))
    found = _formula(runs, vocabulary, width)
    if found is None:
        raise NotApplicable(
            "no column with the other count of N is known by its name, and none of vocabulary and "
            "width; name one: size_column='…' (--size-column), or vocabulary=50304 beside a column "
            "width"
        )
    matrix, source = found
    size = runs.column("N").astype(float)
    sign = "+" if bare else "-"
    values = size + matrix if bare else size - matrix
    if (values <= 0).any():
        row = int(runs.row_numbers[np.argmax(values <= 0)])
        raise NotApplicable(f"N {sign} {source} is not positive in row {row}")
    return _checked(runs, OtherCount(values, label, f"N {sign} {source}"))


def counts_embeddings(name: str) -> bool:
    """Whether a column of sizes counts embeddings, as far as its name tells."""
    words = read_header(name).words
    if not any("emb" in word for word in words):
        return True
    return not (WITHOUT & set(words) or any(w.startswith(("noemb", "nonemb")) for w in words))


def _column(runs: "Runs", bare: bool) -> str | None:
    """A column that is named as the other count of N."""
    for column in map(str, runs.table.columns):
        words = set(read_header(column).words)
        if column in runs.columns or not words & SIZE_WORDS or words & OTHER_WORDS:
            continue
        about = "emb" in "".join(words) or bare
        if about and counts_embeddings(column) == bare:
            return column
    return None


def _formula(
    runs: "Runs", vocabulary: "int | float | str | None", width: str | None
) -> tuple[np.ndarray, str] | None:
    """Parameters of one embedding matrix, and its formula."""
    vocabulary = vocabulary if vocabulary is not None else _alias(runs, VOCABULARY)
    width = width or _alias(runs, WIDTH)
    if vocabulary is None or width is None:
        return None
    if isinstance(vocabulary, str):
        return _positive(runs, vocabulary) * _positive(runs, width), f"{vocabulary} x {width}"
    if not np.isfinite(vocabulary) or vocabulary <= 0:
        raise DataError(f"vocabulary is {vocabulary}; expected a number of tokens such as 50304.")
    return float(vocabulary) * _positive(runs, width), f"{vocabulary:g} x {width}"


def _alias(runs: "Runs", names: tuple[str, ...]) -> str | None:
    found = [str(c) for c in runs.table.columns if read_header(str(c)).joined in names]
    return found[0] if found else None


def _positive(runs: "Runs", name: str) -> np.ndarray:
    import pandas as pd

    raw = runs.column(name)
    values = np.asarray(pd.to_numeric(pd.Series(raw), errors="coerce"), dtype=float)
    bad = ~(np.isfinite(values) & (values > 0))
    if bad.any():
        row = int(runs.row_numbers[np.argmax(bad)])
        raise DataError(
            f"column '{name}' is {raw[np.argmax(bad)]} in row {row}; a positive number was "
            "expected: correct the cell, or leave the perturbation of embeddings out."
        )
    return values * read_header(name).scale


def _checked(runs: "Runs", found: OtherCount) -> OtherCount:
    if np.allclose(found.values, runs.column("N").astype(float), rtol=1e-6, atol=0):
        raise NotApplicable(f"{found.source} is N itself")
    return found
