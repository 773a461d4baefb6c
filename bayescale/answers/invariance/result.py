"""Whether something stays the same: its change with a region of practical equivalence, and LOO."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.tables import Shown, Table, frame, intervals, with_spread

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayescale.check.comparison.result import Comparison


@dataclass(frozen=True)
class Change:
    """Posterior of a difference that is 0 where something stays the same.

    Parameters
    ----------
    name, meaning : str
        Short name, and what is subtracted from what.
    draws : array, shape (draw,)
    delta : float
        Half width of the region of practical equivalence: a smaller change matters to nobody.
    where : mapping
        What it is of: objective, compositions, group.
    """

    name: str
    meaning: str
    draws: np.ndarray
    delta: float
    where: Mapping[str, Any] = field(default_factory=dict)

    @property
    def below_zero(self) -> float:
        """Posterior probability of a fall."""
        return float((self.draws < 0).mean())

    @property
    def equivalent(self) -> float:
        """Posterior probability of a change within the region of practical equivalence."""
        return float((np.abs(self.draws) < self.delta).mean())

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record."""
        return {
            "name": self.name,
            "meaning": self.meaning,
            **self.where,
            "change": intervals(self.draws),
            "probability_below_zero": self.below_zero,
            "delta": self.delta,
            "probability_equivalent": self.equivalent,
        }


@dataclass(frozen=True)
class Invariance(Shown):
    """What speaks for a law in which something stays the same, and what against.

    Parameters
    ----------
    question : str
    changes : tuple of Change
    comparison : Comparison or None
        Free and tied laws by what they predict of runs left out; None where it wasn't asked for.
    laws : mapping of str to str
        What each compared law ties.
    title : str
    converged : bool
        Whether the fit, and the fits of tied laws, passed their gates.
    warnings : tuple of str
    """

    question: str
    changes: tuple[Change, ...]
    comparison: "Comparison | None"
    laws: Mapping[str, str]
    title: str
    converged: bool
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {
            "question": self.question,
            "converged": self.converged,
            "warnings": list(self.warnings),
            "changes": [c.to_dict() for c in self.changes],
            "laws": dict(self.laws),
            "comparison": self.comparison.to_dict() if self.comparison else None,
        }

    def to_frame(self) -> "pd.DataFrame":
        """A tidy table: one row for each change."""
        records = [c.to_dict() for c in self.changes]
        return frame([r | q for r in records for q in [r.pop("change")]])

    @property
    def dataset(self) -> "xr.Dataset":
        """Draws of each change, by its name, with the dim (draw,)."""
        import xarray as xr

        return xr.Dataset({c.name: ("draw", c.draws) for c in self.changes})

    def table(self) -> Table:
        """The answer as a table."""
        rows = []
        for c in self.changes:
            q, sd = intervals(c.draws), float(np.std(c.draws))
            middle, low, high = (with_spread(q[x], sd) for x in ("median", "q05", "q95"))
            shares = [f"{c.below_zero:.3g}", f"{c.delta:g}", f"{c.equivalent:.3g}"]
            rows.append([c.name, middle, f"{low} to {high}", *shares, c.meaning])
        columns = ["", "change", "90%", "P(< 0)", "delta", "P(|.| < delta)", "meaning"]
        notes = ["delta: a smaller change is taken for none"]
        if self.comparison is not None:
            best = self.comparison.best
            notes.append(f"left out in turn: {len(best.units)} ({best.units.by}); elpd in nats")
            for name in self.comparison.names:
                size, error = self.comparison.difference(name)
                against = "best" if name == best.name else f"{size:.1f} (SE {error:.1f})"
                notes.append(f"{name}, {self.laws[name]}: {against}")
        return Table(columns, rows, f"{self.question} {self.title}", self.warnings, notes)
