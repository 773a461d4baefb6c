"""What predictive checks give: a table, a record, and the pictures."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayescale.check.predictive.quantity import LEVEL, Checked, Quantity, Skipped
from bayescale.tables import Shown, Table, frame

if TYPE_CHECKING:
    import pandas as pd

    from bayescale.fitted import Fit


@dataclass(frozen=True)
class PredictiveChecks(Shown):
    """Posterior or prior predictive checks of a law on runs.

    Parameters
    ----------
    kind : {"posterior", "prior"}
    law, source : str
        Name of the law, and where the runs are from.
    runs, draws : int
        Number of runs, and of draws that replicates were made from.
    checks : tuple of Checked
        Those that were made, each with its test quantities.
    skipped : tuple of Skipped
        Those that these runs can't carry, with the reason.
    converged : bool
        Whether the fit passed its gate; True for the prior.
    warnings : tuple of str
    fit : Fit or None
        The fit that was checked; None for the prior of a law.
    """

    kind: str
    law: str
    source: str
    runs: int
    draws: int
    checks: Sequence[Checked]
    skipped: Sequence[Skipped]
    converged: bool
    warnings: Sequence[str]
    fit: "Fit | None" = field(default=None, repr=False)

    def __getitem__(self, name: str) -> Checked:
        """A check by name.

        Raises
        ------
        FitError
            It was not made; the message says why or gives the nearest.
        """
        from bayescale.errors import FitError, nearest

        for check in self.checks:
            if check.name == name:
                return check
        for check in self.skipped:
            if check.name == name:
                raise FitError(f"the check '{name}' was skipped: {check.reason}.")
        known = [check.name for check in self.checks]
        raise FitError(
            f"there is no check '{name}' here; made: {', '.join(known)}." + nearest(name, known)
        )

    @property
    def quantities(self) -> list[tuple[Checked, Quantity]]:
        """All test quantities with their checks."""
        return [(check, q) for check in self.checks for q in check.quantities]

    @property
    def flagged(self) -> list[tuple[Checked, Quantity]]:
        """Those that are rare among replicates."""
        return [(check, q) for check, q in self.quantities if q.flagged]

    def headline(self) -> str:
        """How many quantities are flagged, and how many would be by chance."""
        count, chance = len(self.quantities), LEVEL * len(self.quantities)
        return (
            f"{len(self.flagged)} of {count} test quantities flagged "
            f"(by chance at most about {chance:.1f})"
        )

    def records(self) -> list[dict[str, Any]]:
        """A flat record for each test quantity."""
        return [{"check": check.name, **q.to_dict()} for check, q in self.quantities]

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {
            "kind": self.kind,
            "law": self.law,
            "source": self.source,
            "runs": self.runs,
            "draws": self.draws,
            "level": LEVEL,
            "converged": self.converged,
            "warnings": list(self.warnings),
            "flagged": len(self.flagged),
            "checks": self.records(),
            "notes": {check.name: check.note for check in self.checks if check.note},
            "skipped": [{"check": s.name, "reason": s.reason} for s in self.skipped],
        }

    def to_frame(self) -> "pd.DataFrame":
        """A tidy table: one row for each test quantity."""
        return frame(self.records())

    def table(self) -> Table:
        """The answer as a table, with what to try next below it."""
        rows = [_row(check, q, self.draws) for check, q in self.quantities]
        columns = ["check", "observed", "replicated 90%", "p", "verdict"]
        title = (
            f"{self.kind.capitalize()} predictive checks of {self.law} on {self.runs} runs from "
            f"{self.source}: {self.headline()}"
        )
        notes = [f"{c.name} {q.name}: {_why(q)}" for c, q in self.flagged]
        notes += [f"{c.name}: {c.note}" for c in self.checks if c.note]
        notes += [f"skipped {s.name}: {s.reason}" for s in self.skipped]
        notes.append(self._reading())
        return Table(columns, rows, title, self.warnings, notes, ("check", "verdict"))

    def _reading(self) -> str:
        text = (
            f"p: share of {self.draws} replicates that exceed the observed value, ± its "
            f"Monte-Carlo error; flagged below {LEVEL / 2:.3g} or above {1 - LEVEL / 2:.4g}."
        )
        if self.kind == "prior":
            return text + " A prior should allow what was observed, not predict it."
        return text + (
            " The same runs made the fit, so p lies nearer to 0.5 than it would by chance "
            "(conservative): a flag weighs more than its absence."
        )


def _why(q: Quantity) -> str:
    return f"{q.detail}: {q.advice}" if q.detail else q.advice


def _row(check: Checked, q: Quantity, draws: int) -> list[str]:
    p = q.p_text(draws)
    if q.sided == "both" and p[0] not in "<>":
        p = f"{p} ± {q.mcse:.3f}"
    name = f"{check.name} {q.name} ({q.unit})"
    return [name, f"{q.observed:.3g}", f"{q.q05:.3g} to {q.q95:.3g}", p, q.verdict]
