"""A checked table of training runs: what every fit takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data.aliases import FURTHER_NAMES, MEANING, ROLES
from bayescale.data.columns import listed
from bayescale.data.cost import CostModel
from bayescale.data.flags import Flag, find_flags
from bayescale.errors import DataError, nearest

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Runs:
    """A table of training runs, one a row; made by `read_runs`.

    Parameters
    ----------
    table
        Canonical columns first, as float64: ``N`` (parameters), ``D`` (tokens), ``C`` (FLOP),
        ``loss`` (nats per token), as far as they are known; then the other columns of the file.
        Index 0..n-1.
    columns
        Canonical name to the name in the file, or to the formula it was computed by.
    cost
        How N, D and C are tied.
    row_numbers
        For each row, its 1-based number among the data rows of the file.
    flags
        What the checks found that a fit can live with.
    source
        Name of the file, or "DataFrame".
    sha256
        Hash of the file's bytes, or of a table's content.
    derived
        Canonical columns that were computed, not read.
    """

    table: "pd.DataFrame"
    columns: Mapping[str, str]
    cost: CostModel
    row_numbers: np.ndarray
    flags: tuple[Flag, ...]
    source: str
    sha256: str
    derived: frozenset[str] = field(default_factory=frozenset)

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self.table)

    def __repr__(self) -> str:
        """Return the first line of `describe`."""
        return f"Runs({self.describe().splitlines()[0]})"

    def column(self, name: str) -> np.ndarray:
        """Return a column as an array.

        Parameters
        ----------
        name
            Canonical name, the file's own name for it, or another column of the file.

        Returns
        -------
        ndarray
            A copy, shape (runs,).

        Raises
        ------
        DataError
            Where there is no such column.
        """
        own = {file: role for role, file in self.columns.items() if role not in self.derived}
        key = name if name in self.table else own.get(name, name)
        if key not in self.table:
            known = [str(c) for c in self.table.columns]
            raise DataError(
                f"{self.source} has no column '{name}'; there are {listed(known)}."
                + nearest(name, known)
            )
        return self.table[key].to_numpy(copy=True)

    def select(self, mask: np.ndarray, why: str) -> "Runs":
        """Return some of the runs.

        Parameters
        ----------
        mask
            True for the runs to keep, shape (runs,).
        why
            The reason, kept as a flag ("C <= 1e21").

        Raises
        ------
        DataError
            Where the mask has another length or keeps nothing.
        """
        mask = np.asarray(mask, dtype=bool)
        if mask.shape != (len(self),):
            raise DataError(f"select: the mask has shape {mask.shape}, the table {len(self)} rows.")
        if not mask.any():
            raise DataError(f"select: no run of {self.source} is left ({why}).")
        table: Any = self.table[mask].reset_index(drop=True)
        rows = self.row_numbers[mask]
        found = find_flags(table, rows, self.cost, "C" not in self.derived)
        kept = tuple(f for f in self.flags if f.kind in FILE_FLAGS)
        note = Flag("selected", (), f"{mask.sum()} of {len(self)} runs kept: {why}")
        return replace(self, table=table, row_numbers=rows, flags=(*kept, note, *found))

    def require(self, names: Sequence[str], by: str) -> None:
        """Raise unless all named columns are there.

        Parameters
        ----------
        names
            Column names that are needed.
        by
            Who needs them, for the message ("law 'chinchilla'").

        Raises
        ------
        DataError
            Naming the missing columns, those that exist, and how to map one.
        """
        missing = [name for name in names if name not in self.table]
        if not missing:
            return
        known = [self.columns[r] for r in ROLES if r in self.columns and r not in self.derived]
        known += [str(c) for c in self.table.columns if c not in self.columns]
        one = missing[0]
        what = ", ".join(f"{m} ({MEANING[m]})" if m in MEANING else f"'{m}'" for m in missing)
        if one in ROLES or one in FURTHER_NAMES:
            more = (
                f" Map it: columns={{'{one}': 'its name'}} (shell: --map \"{one}=its name\")."
                + (" Two of N, D and C give the third." if one in "NDC" else "")
                + (_loss_hint(known) if one == "loss" else "")
            )
        else:
            more = nearest(one, known)
        raise DataError(f"{by} needs {what}, but {self.source} has only {listed(known)}.{more}")

    def describe(self) -> str:
        """Return what was taken for what, then the flags, one a line."""
        taken = []
        for role in (*ROLES, *(name for name in self.columns if name not in ROLES)):
            if role in self.columns:
                sign = "=" if role in self.derived else "<-"
                taken.append(f"{role} {sign} {self.columns[role]}")
        runs = f"{len(self)} run{'s' if len(self) != 1 else ''} from {self.source}"
        first = f"{runs}: {', '.join(taken)}" if taken else f"{runs}: no column is N, D, C or loss"
        return "\n".join([first, *(f"  {flag.kind}: {flag.message}" for flag in self.flags)])


# Flags about the file as a whole, which stay true of a part of it.
FILE_FLAGS = frozenset(
    {"other-columns", "dropped", "filtered", "selected", "curves", "checksum", "note"}
)


def _loss_hint(known: Sequence[str]) -> str:
    words = " ".join(known).lower()
    if "perplexity" in words or "ppl" in words:
        return " A perplexity becomes a loss by its natural logarithm; add that as a column."
    if "bits" in words or "bpb" in words or "bpc" in words:
        return " Bits per token become nats per token times ln 2; add that as a column."
    return ""
