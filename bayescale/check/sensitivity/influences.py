"""What leaving runs or groups out does, as values and tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.check.sensitivity.perturbation import Perturbation
from bayescale.check.sensitivity.quantities import Quantity, Watch
from bayescale.tables import Shown, Table, quantity, with_spread

if TYPE_CHECKING:
    import pandas as pd

MOST = 10  # rows of the table


@dataclass(frozen=True)
class Influence(Shown):
    """Leave-one-out changes of a fit's answers, a run each.

    Parameters
    ----------
    base : mapping
        Quantity -> its draws in the fit.
    row_numbers : array, shape (run,)
        In the file.
    columns : mapping
        N, D, C and loss of the runs, as far as they are known.
    change, shift, mc_error : mapping
        Quantity -> array, shape (run,): change of the mean (relative for sizes), the same in
        posterior SDs of the fit, and its Monte Carlo error in SDs.
    pareto_k : array, shape (run,)
        Of the importance weights.
    limit : float
        Pareto k from which weights don't serve.
    refitted : array, shape (run,)
        Runs whose change is that of a fit made again without them.
    failed : mapping
        Row number -> what is wrong with the fit without it.
    watch : Watch
    title : str
    converged : bool
    warnings, notes : tuple of str
    """

    base: Mapping[str, Quantity]
    row_numbers: np.ndarray
    columns: Mapping[str, np.ndarray]
    change: Mapping[str, np.ndarray]
    shift: Mapping[str, np.ndarray]
    mc_error: Mapping[str, np.ndarray]
    pareto_k: np.ndarray
    limit: float
    refitted: np.ndarray
    failed: Mapping[int, str]
    watch: Watch
    title: str
    converged: bool
    warnings: tuple[str, ...]
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.row_numbers)

    @property
    def size(self) -> np.ndarray:
        """The largest shift of each run, in SDs; NaN where its fit failed."""
        sizes = np.abs(np.stack(list(self.shift.values())))
        return np.where(np.isnan(sizes), -np.inf, sizes).max(axis=0)

    @property
    def order(self) -> np.ndarray:
        """Positions of the runs, the most influential first."""
        return np.argsort(-self.size, kind="stable")

    def to_frame(self) -> "pd.DataFrame":
        """One row a run, the most influential first."""
        import pandas as pd

        listed: dict[str, Any] = {"row": self.row_numbers, **self.columns}
        for name in self.base:
            listed |= {
                f"{name}_change": self.change[name],
                f"{name}_shift": self.shift[name],
                f"{name}_mc_error": self.mc_error[name],
            }
        listed |= {"pareto_k": self.pareto_k, "refitted": self.refitted}
        return pd.DataFrame(listed).iloc[self.order].reset_index(drop=True)

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {
            **self.watch.to_dict(),
            "converged": self.converged,
            "warnings": list(self.warnings),
            "pareto_k_limit": self.limit,
            "failed": [{"row": row, "reason": why} for row, why in self.failed.items()],
            "runs": self.to_frame().to_dict(orient="records"),
        }

    def table(self) -> Table:
        """The most influential runs as a table."""
        shown = self.order[:MOST]
        columns = ["row", *self.columns]
        for q in self.base.values():
            columns += [q.label, "SD"]
        rows = [self._cells(k) for k in shown]
        return Table([*columns, "k"], rows, self.title, self.warnings, self._notes(shown))

    def _cells(self, k: int) -> list[str]:
        cells = [str(self.row_numbers[k])]
        cells += [
            with_spread(float(v[k]), float(np.std(v))) if n == "loss" else quantity(float(v[k]))
            for n, v in self.columns.items()
        ]
        for name, q in self.base.items():
            shift = f"{self.shift[name][k]:+.2f}" if np.isfinite(self.shift[name][k]) else "–"
            cells += [q.write_change(float(self.change[name][k])), shift]
        return [*cells, f"{self.pareto_k[k]:.2f}{' *' if self.refitted[k] else ''}"]

    def _notes(self, shown: np.ndarray) -> list[str]:
        errors = [float(np.nanmax(v[shown])) for v in self.mc_error.values()]
        notes = [
            *self.notes,
            "changes of the mean without the run; SD: in posterior SDs of the fit",
        ]
        notes[-1] += f", Monte Carlo error up to {max(errors):.2f}"
        again = int(self.refitted.sum())
        if again:
            notes.append(
                f"* {again} run{'s' if again != 1 else ''} left out by a fit made again (Pareto k "
                f"above {self.limit:.2f}, or asked for); the others by importance weights"
            )
        if len(self) > MOST:
            notes.append(f"the {MOST} most influential of {len(self)} runs; to_frame() has all")
        return notes + [f"without row {row}: {why}" for row, why in self.failed.items()]


@dataclass(frozen=True)
class GroupInfluence(Perturbation):
    """Changes of a fit's answers when groups are left out, each by a fit made again.

    Leaving a group out is a perturbation: ``refits`` has one for each group, and ``skipped`` the
    groups without which there is no fit.

    Parameters
    ----------
    by : str
        Column of the groups.
    """

    by: str = ""

    def to_frame(self) -> "pd.DataFrame":
        """A tidy table: one row for each group and quantity."""
        return super().to_frame().rename(columns={"key": "without"})

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        record = super().to_dict()
        return record | {"by": self.by, "without": record.pop("perturbations")}
