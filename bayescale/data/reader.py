"""One reading under way: which column is what, the numbers in it, the rows that stay."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data import checks
from bayescale.data.aliases import ROLES
from bayescale.data.cells import Numbers, read_numbers
from bayescale.data.columns import Candidate, choose, listed
from bayescale.data.cost import CostModel
from bayescale.data.derive import third
from bayescale.data.flags import Flag, find_flags
from bayescale.data.headers import read_header
from bayescale.data.messages import rows_text, short
from bayescale.data.runs import Runs
from bayescale.errors import DataError, nearest

if TYPE_CHECKING:
    import pandas as pd

    from bayescale.data.curves import Curves


@dataclass(frozen=True)
class Kept:
    """Which rows of a table are kept; true where any may be left out.

    Parameters
    ----------
    where
        Row filter.
    drop_missing
        Whether rows with an empty cell in N, D, C or loss are left out.
    curves
        Of training curves the start may be left out.
    """

    where: str | None = None
    drop_missing: bool = False
    curves: "Curves | None" = None

    def __bool__(self) -> bool:
        return bool(self.where or self.drop_missing or self.curves)


class TableReader:
    """Turns a raw table into `Runs`; used once, by `read_runs`.

    Parameters
    ----------
    frame
        The table as it stands in the file.
    rows
        Row numbers in the file.
    source
        Name of the file, for messages.
    cost
        How N, D and C are tied.
    units
        Stated units of N, D, C.
    flags
        Flags that are already known.
    own_names
        Where the table comes out of `Runs`: canonical name to name in the file.
    """

    def __init__(
        self,
        frame: "pd.DataFrame",
        rows: np.ndarray,
        source: str,
        cost: CostModel,
        units: Mapping[str, float],
        flags: Sequence[Flag] = (),
        own_names: Mapping[str, str] | None = None,
    ) -> None:
        self.frame: Any = frame
        self.rows, self.source, self.cost, self.units = rows, source, cost, units
        self.own_names = dict(own_names or {})
        self.flags, self.stated = list(flags), set(units) | set(self.own_names)
        self.chosen: dict[str, Candidate] = {}
        self.numbers: dict[str, Numbers] = {}
        self.values: dict[str, np.ndarray] = {}
        self.names: dict[str, str] = {}
        self._seen: dict[tuple[str, bool], Numbers] = {}

    def read(self, mapping: Mapping[str, str | None], kept: Kept, sha256: str) -> Runs:
        """Find the columns, filter, check, and put the table together."""
        self._take_columns(mapping)
        given = tuple(role for role in self.values if role in ROLES)
        self._take_active()
        found = third(self.values, self.cost, self.frame)
        if found:
            role, self.values[role], self.names[role] = found
        keep = self._filter(kept.where) if kept.where else np.ones(len(self.rows), dtype=bool)
        if kept.curves is not None and kept.curves.drop_before is not None:
            keep = self._drop_start(kept.curves, keep)
        if kept.drop_missing:
            keep = self._complete(given, keep)
        bad = {role: _moved(self.numbers[role].bad, keep) for role in given}
        self._cut(keep)
        read = {role: self.values[role] for role in given}
        checks.check_text(bad, self.rows, self.source)
        for role in given:
            suffixed = self.numbers[role].suffixed[keep]
            checks.check_suffixes(read[role], suffixed, role, self.rows, self.source)
        checks.check_missing(read, self.rows, self.source)
        checks.check_range(read, self.rows, self.source)
        checks.check_units(read, self.stated, self.source, self._cost_ratio(given))
        return self._finish(given, sha256)

    def _take_columns(self, mapping: Mapping[str, str | None]) -> None:
        """Choose the column of each role and read its numbers."""
        # Active parameters aren't N, unless the user says so.
        headers = [
            str(c) for c in self.frame.columns if c != self.cost.column or c in mapping.values()
        ]
        self.chosen, others = choose(headers, mapping, self._candidate_values, self.source)
        for role, taken in self.chosen.items():
            numbers = self._read(taken.column, role)
            scale = self.units.get(role, taken.scale)
            self.numbers[role] = numbers
            self.values[role] = numbers.scaled(scale, role)
            name = self.own_names.get(taken.column, taken.column)
            self.names[role] = name if scale == 1.0 else f"{name} x {short(scale)}"
            if taken.scale != 1.0 or numbers.suffixed.any():
                self.stated.add(role)
        for role, names in others.items():
            message = f"{role} <- {self.names[role]}; {listed(names, 6)} could also be meant."
            self.flags.append(Flag("other-columns", (), message))

    def _read(self, column: str, role: str) -> Numbers:
        key = (column, role == "loss")  # suffixes such as "7B" are read alike for N, D and C
        if key not in self._seen:
            self._seen[key] = read_numbers(self.frame[column], role)
        return self._seen[key]

    def _candidate_values(self, candidate: Candidate) -> np.ndarray | None:
        """Return the numbers of a column, or None if it holds text."""
        numbers = self._read(candidate.column, "N")
        return None if numbers.bad else numbers.scaled(candidate.scale, candidate.column)

    def _take_active(self) -> None:
        """Turn the column of active parameters into numbers."""
        name = self.cost.column
        if self.cost.kind != "active" or name is None:
            return
        if name not in self.frame:
            known = [str(c) for c in self.frame.columns]
            raise DataError(
                f"{self.cost.describe()} needs the column '{name}', but {self.source} has "
                f"{listed(known)}." + nearest(name, known)
            )
        numbers = self._read(name, "N")
        wrong = ~(numbers.values > 0)
        if wrong.any():
            raise DataError(
                f"{self.source}: active parameters ('{name}') must be numbers above zero, but "
                f"aren't in {rows_text(self.rows[wrong])}."
            )
        scale = read_header(name).scale
        if scale != 1.0 and self.cost.scale == 1.0 and not numbers.suffixed.any():
            self.cost = replace(self.cost, scale=scale)
        self.frame = self.frame.assign(**{name: numbers.values})

    def _view(self) -> "pd.DataFrame":
        """The table under the file's own names and the canonical ones."""
        view = self.frame.copy()
        for role, taken in self.chosen.items():
            if self.numbers[role].suffixed.any():
                view[taken.column] = self.values[role]  # so that "7B" can be compared
        for role, column in self.values.items():
            view[role] = column
            if role in self.own_names:
                view[self.own_names[role]] = column
        return view

    def _filter(self, where: str) -> np.ndarray:
        from bayescale.data.where import filter_rows

        keep = filter_rows(self._view(), where)
        if not keep.all():
            message = f"{keep.sum()} of {len(keep)} rows kept: {where}"
            self.flags.append(Flag("filtered", (), message))
        return keep

    def _drop_start(self, curves: "Curves", keep: np.ndarray) -> np.ndarray:
        """Return the rows to keep that don't belong to the start of a training curve."""
        from bayescale.data.curves.start import after_start

        view: Any = self._view()
        after, flag = after_start(view[keep], curves)
        self.flags.append(flag)
        keep = keep.copy()
        keep[keep] = after
        return keep

    def _complete(self, given: tuple[str, ...], keep: np.ndarray) -> np.ndarray:
        """Return the rows to keep that have no empty cell in N, D, C and loss."""
        whole = np.ones(len(self.rows), dtype=bool)
        for role in given:
            empty = np.isnan(self.values[role])
            # Text isn't an empty cell: it stays an error.
            empty[[place for place, _ in self.numbers[role].bad]] = False
            whole &= ~empty
        if not (keep & whole).any():
            raise DataError(
                f"{self.source}: no row has all of {', '.join(given)}, so drop_missing leaves "
                "nothing. Leave a column out, for instance columns={'C': ''}."
            )
        lost = self.rows[keep & ~whole]
        if len(lost):
            message = f"{rows_text(lost)}: an empty cell in {', '.join(given)}; left out."
            self.flags.append(Flag("dropped", (), message))
        return keep & whole

    def _cut(self, keep: np.ndarray) -> None:
        self.frame = self.frame[keep].reset_index(drop=True)
        self.rows = self.rows[keep]
        self.values = {role: column[keep] for role, column in self.values.items()}

    def _cost_ratio(self, given: tuple[str, ...]) -> np.ndarray | None:
        if not {"N", "D", "C"} <= set(given):
            return None
        computed = self.cost.flops(self.values["N"], self.values["D"], self.frame)
        return self.values["C"] / computed

    def _finish(self, given: tuple[str, ...], sha256: str) -> Runs:
        import pandas as pd

        roles = {taken.column for role, taken in self.chosen.items() if role in ROLES}
        same = {role for role, taken in self.chosen.items() if taken.column == role}
        rest = self.frame.drop(columns=list((roles | same) - {self.cost.column}))
        # The file's own "N", where another column was taken as N, keeps its numbers.
        rest = rest.rename(columns={r: f"{r} (file)" for r in self.values if r in rest})
        order = [*ROLES, *(name for name in self.values if name not in ROLES)]
        canonical = {role: self.values[role] for role in order if role in self.values}
        table = pd.concat([pd.DataFrame(canonical, index=rest.index), rest], axis=1)
        return Runs(
            table=table,
            columns={role: self.names[role] for role in canonical},
            cost=self.cost,
            row_numbers=self.rows,
            flags=(*self.flags, *find_flags(table, self.rows, self.cost, "C" in given)),
            source=self.source,
            sha256=sha256,
            derived=frozenset(set(canonical) - set(self.chosen)),
        )


def _moved(cells: tuple[tuple[int, str], ...], keep: np.ndarray) -> tuple[tuple[int, str], ...]:
    """Return the unreadable cells among the kept rows, at their new positions."""
    place = np.cumsum(keep) - 1
    return tuple((int(place[at]), problem) for at, problem in cells if keep[at])
