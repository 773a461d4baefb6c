"""What power-scaling says of each quantity, as values and tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayescale.errors import FitError, nearest
from bayescale.tables import Shown, Table, frame

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Sensitivity:
    """How one quantity answers to power-scaling.

    Parameters
    ----------
    name, label : str
    prior, likelihood : float
        Change of the cumulative Jensen-Shannon distance per doubling of the power.
    by_prior : mapping
        The same for the prior of each sampled parameter by itself.
    diagnosis : str
    advice : str
        What to do; empty where nothing is needed.
    """

    name: str
    label: str
    prior: float
    likelihood: float
    by_prior: Mapping[str, float]
    diagnosis: str
    advice: str

    @property
    def leading(self) -> str:
        """The parameter whose prior matters most."""
        return max(self.by_prior, key=lambda name: self.by_prior[name])


@dataclass(frozen=True)
class PowerScaling(Shown):
    """Sensitivity of quantities to powers of prior and likelihood.

    Parameters
    ----------
    quantities : tuple of Sensitivity
    threshold : float
        From which a sensitivity counts.
    pareto_k : mapping
        ``prior`` and ``likelihood``: Pareto k of the importance weights.
    title : str
    notes : tuple of str
    converged : bool
    warnings : tuple of str
    """

    quantities: tuple[Sensitivity, ...]
    threshold: float
    pareto_k: Mapping[str, float]
    title: str
    notes: tuple[str, ...]
    converged: bool
    warnings: tuple[str, ...]

    def __getitem__(self, name: str) -> Sensitivity:
        """The sensitivity of a quantity, by its name."""
        for q in self.quantities:
            if name in (q.name, q.label):
                return q
        known = [q.name for q in self.quantities]
        raise FitError(
            f"no quantity '{name}'; there are {', '.join(known)}." + nearest(name, known)
        )

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {
            "threshold": self.threshold,
            "pareto_k": dict(self.pareto_k),
            "converged": self.converged,
            "warnings": list(self.warnings),
            "quantities": [
                {
                    "name": q.name,
                    "label": q.label,
                    "prior": q.prior,
                    "likelihood": q.likelihood,
                    "diagnosis": q.diagnosis,
                    "advice": q.advice,
                    "by_prior": dict(q.by_prior),
                }
                for q in self.quantities
            ],
        }

    def to_frame(self) -> "pd.DataFrame":
        """One row a quantity; a column ``prior[NAME]`` for each prior by itself."""
        return frame(
            [
                {
                    "name": q.name,
                    "prior": q.prior,
                    "likelihood": q.likelihood,
                    "diagnosis": q.diagnosis,
                    **{f"prior[{name}]": v for name, v in q.by_prior.items()},
                }
                for q in self.quantities
            ]
        )

    def table(self) -> Table:
        """The answer as a table."""
        rows = [
            [q.label, f"{q.prior:.3f}", f"{q.likelihood:.3f}", _leading(q), q.diagnosis]
            for q in self.quantities
        ]
        alike: dict[str, list[str]] = {}
        for q in self.quantities:
            if q.advice:
                alike.setdefault(q.advice, []).append(q.label)
        notes = [*self.notes, *(f"{', '.join(labels)}: {what}" for what, labels in alike.items())]
        columns = ["", "prior", "likelihood", "of the prior of", "diagnosis"]
        text = ("", "of the prior of", "diagnosis")
        return Table(columns, rows, self.title, self.warnings, notes, text)


def _leading(q: Sensitivity) -> str:
    return f"{q.leading} {q.by_prior[q.leading]:.3f}" if q.by_prior else ""
