"""What refits of perturbed inputs (or without a group) say, as values and tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.check.sensitivity.quantities import Moved, Quantity, Watch
from bayescale.errors import FitError, nearest
from bayescale.tables import Shown, Table, frame, intervals

if TYPE_CHECKING:
    import pandas as pd

WITH_INTERVAL = ("a", "L_opt", "loss")  # the others show their median in the table


@dataclass(frozen=True)
class Refit:
    """One perturbation and what the fit to it says.

    Parameters
    ----------
    key, kind, label : str
    runs : int
    moved : mapping
        Quantity -> how it moved.
    converged : bool
    verdict : str
        The gate's headline.
    """

    key: str
    kind: str
    label: str
    runs: int
    moved: Mapping[str, Moved]
    converged: bool
    verdict: str

    @property
    def size(self) -> float:
        """The largest shift of a watched quantity, in SDs."""
        return max((abs(m.shift) for m in self.moved.values() if np.isfinite(m.shift)), default=0.0)

    def to_dict(self) -> dict[str, Any]:
        """A plain record."""
        return {
            "key": self.key,
            "kind": self.kind,
            "label": self.label,
            "runs": self.runs,
            "converged": self.converged,
            "verdict": self.verdict,
            "quantities": {name: vars(m) for name, m in self.moved.items()},
        }


@dataclass(frozen=True)
class Perturbation(Shown):
    """Fits to perturbed inputs against the base fit, the largest effect first.

    Parameters
    ----------
    base : mapping
        Quantity -> its draws in the base fit.
    refits : tuple of Refit
    skipped : mapping
        Perturbation -> why it could not be had.
    watch : Watch
        Budget and point at which quantities are watched.
    title : str
    notes : tuple of str
    converged : bool
        Of the base fit.
    warnings : tuple of str
    """

    base: Mapping[str, Quantity]
    refits: tuple[Refit, ...]
    skipped: Mapping[str, str]
    watch: Watch
    title: str
    notes: tuple[str, ...]
    converged: bool
    warnings: tuple[str, ...]

    def __getitem__(self, key: str) -> Refit:
        """A perturbation by its key, such as ``N_factor_up``."""
        for r in self.refits:
            if r.key == key:
                return r
        known = [r.key for r in self.refits]
        raise FitError(
            f"no perturbation '{key}'; there are {', '.join(known)}." + nearest(key, known)
        )

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        base = {
            name: intervals(q.draws[np.isfinite(q.draws)]) | {"sd": q.sd, "log": q.log}
            for name, q in self.base.items()
        }
        return {
            **self.watch.to_dict(),
            "converged": self.converged,
            "warnings": list(self.warnings),
            "base": base,
            "perturbations": [r.to_dict() for r in self.refits],
            "skipped": dict(self.skipped),
        }

    def to_frame(self) -> "pd.DataFrame":
        """A tidy table: one row for each perturbation and quantity."""
        return frame(
            [
                {
                    "key": r.key,
                    "kind": r.kind,
                    "label": r.label,
                    "runs": r.runs,
                    "converged": r.converged,
                    "quantity": name,
                    **vars(m),
                }
                for r in self.refits
                for name, m in r.moved.items()
            ]
        )

    def table(self) -> Table:
        """The answer as a table."""
        columns = ["fit"]
        for name, q in self.base.items():
            columns += [q.label, *(["90%"] if name in WITH_INTERVAL else []), "SD"]
        rows = [["base", *self._base_cells()], *([_label(r), *self._cells(r)] for r in self.refits)]
        notes = [*self.notes, *(f"left out: {kind}: {why}" for kind, why in self.skipped.items())]
        notes += [f"* {r.label}: {r.verdict}" for r in self.refits if not r.converged]
        return Table(columns, rows, self.title, self.warnings, notes, ("fit",))

    def _base_cells(self) -> list[str]:
        cells: list[str] = []
        for name, q in self.base.items():
            cells += [*_ends(q, *q.middle(), name), ""]
        return cells

    def _cells(self, refit: Refit) -> list[str]:
        cells: list[str] = []
        for name, q in self.base.items():
            m = refit.moved[name]
            shift = f"{m.shift:+.1f}" if np.isfinite(m.shift) else "–"
            cells += [*_ends(q, m.median, m.q05, m.q95, name), shift]
        return cells


def _label(refit: Refit) -> str:
    return refit.label if refit.converged else f"{refit.label} *"


def _ends(q: Quantity, median: float, low: float, high: float, name: str) -> list[str]:
    middle = q.write(median)
    return [middle, f"{q.write(low)} to {q.write(high)}"] if name in WITH_INTERVAL else [middle]
