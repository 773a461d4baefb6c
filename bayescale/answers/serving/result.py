"""What is told of models that are trained and then served."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.serving.choice import ServedChoice
from bayescale.tables import Shown, Table, frame, intervals, quantity, with_spread

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

QUANTITIES = (
    "N", "D", "tokens_per_param", "training", "total", "saving", "overtraining",
    "N_training_optimal", "D_training_optimal", "loss",
)  # fmt: skip
SHOWN = ("N", "D", "overtraining", "total", "saving")


@dataclass(frozen=True)
class InferenceOptimum(Shown):
    """Posterior of the cheapest model over its life, for some losses and served tokens.

    Parameters
    ----------
    target : array, shape (target,)
        What was asked for: budgets in FLOP whose compute-optimal loss is to be reached, or losses.
    kind : {"C", "loss"}
        Which of them.
    inference_tokens : array, shape (served,)
        D_inf.
    draws : mapping
        ``N``, ``D``, ``tokens_per_param``; FLOP of ``training`` and in ``total``; ``saving``, the
        share of the total that the training-optimal model of the same loss costs more;
        ``overtraining``, D/N over that model's; ``N_training_optimal``, ``D_training_optimal``;
        ``loss``. Each of shape (draw, target, served), NaN where the loss is out of reach.
    recommended : tuple of ServedChoice or None
        For each target and number of served tokens (the latter faster) the single choice with
        the least expected loss at a total that is enough for most draws; None where none is.
    title, unit, cost : str
    converged : bool
    warnings : tuple of str
    """

    target: np.ndarray
    kind: str
    inference_tokens: np.ndarray
    draws: Mapping[str, np.ndarray]
    recommended: tuple[ServedChoice | None, ...]
    title: str
    unit: str
    cost: str
    converged: bool
    warnings: tuple[str, ...]

    @property
    def unreachable(self) -> np.ndarray:
        """Probability that the loss is out of reach, shape (target, served)."""
        return np.isnan(self.draws["N"]).mean(axis=0)

    def records(self) -> list[dict[str, Any]]:
        """A nested record for each target and number of served tokens."""
        listed = []
        for k, target in enumerate(self.target):
            for j, served in enumerate(self.inference_tokens):
                record: dict[str, Any] = {
                    "target": {self.kind: float(target)},
                    "inference_tokens": float(served),
                    "unreachable": float(self.unreachable[k, j]),
                }
                for name in QUANTITIES:
                    values = self.draws[name][:, k, j]
                    finite = values[np.isfinite(values)]
                    record[name] = intervals(finite) if len(finite) else None
                choice = self.recommended[k * len(self.inference_tokens) + j]
                listed.append(record | {"recommended": choice.to_dict() if choice else None})
        return listed

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {
            "unit": self.unit,
            "cost": self.cost,
            "converged": self.converged,
            "warnings": list(self.warnings),
            "optima": self.records(),
        }

    def to_frame(self) -> "pd.DataFrame":
        """A tidy table: one row for each target, served tokens and quantity."""
        return frame(
            [
                {self.kind: r["target"][self.kind], "inference_tokens": r["inference_tokens"]}
                | {"quantity": name, **(r[name] or {})}
                for r in self.records()
                for name in QUANTITIES
            ]
        )

    @property
    def dataset(self) -> "xr.Dataset":
        """Draws with named dims (draw, target, served)."""
        import xarray as xr

        dims = ("draw", "target", "served")
        axes = {"target": self.target, "served": self.inference_tokens}
        return xr.Dataset({k: (dims, v) for k, v in self.draws.items()}, axes)

    def table(self) -> Table:
        """The answer as a table."""
        rows, notes = [], []
        for record, choice in zip(self.records(), self.recommended, strict=True):
            value, served = record["target"][self.kind], quantity(record["inference_tokens"])
            asked = quantity(value) if self.kind == "C" else f"{value:.4g}"
            cells = [asked, served]
            for name in SHOWN:
                cells += _cells(name, record[name])
            rows.append([*cells, f"{record['unreachable']:.0%}"])
            if choice is not None:
                notes.append(
                    f"{self.kind} = {asked}, {served} served: {choice.describe(self.unit)}"
                )
        first = "loss of C" if self.kind == "C" else "loss"
        columns = [first, "served", "N", "90%", "D", "90%", "overtrained", "90%"]
        columns += ["total FLOP", "90%", "saved", "90%", "P(out of reach)"]
        head = [
            f"90% credible intervals; {self.cost}; overtrained: D/N over that of the "
            "training-optimal model of the same loss; saved: of that model's total"
        ]
        return Table(columns, rows, self.title, self.warnings, head + notes)


def _cells(name: str, q: Mapping[str, float] | None) -> list[str]:
    """Median and 90% interval of one quantity."""
    if q is None:
        return ["–", "–"]
    if name == "saving":
        middle, low, high = (f"{q[x]:.1%}" for x in ("median", "q05", "q95"))
    elif name == "overtraining":
        sd = max((q["q95"] - q["q05"]) / 3.3, 1e-3)
        middle, low, high = (f"{with_spread(q[x], sd)}x" for x in ("median", "q05", "q95"))
    else:
        middle, low, high = (quantity(q[x]) for x in ("median", "q05", "q95"))
    return [middle, f"{low} to {high}"]
