"""What a comparison of laws found."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.check.comparison.loo import Loo, k_cell, standard_error
from bayescale.check.comparison.stacked import Stack
from bayescale.tables import Shown, Table, frame

if TYPE_CHECKING:
    import pandas as pd

    from bayescale.fitted import Fit

CLOSE = 4.0  # nats below which a difference's standard error can't be relied on, arXiv:2008.10296
MANY = 100  # units from which it can
CLEAR = 2.0  # standard errors


@dataclass(frozen=True)
class Comparison(Shown):
    """Laws ranked by how well each predicts runs that it was not shown.

    Parameters
    ----------
    fits : mapping of str to Fit
        Best first, like all that follows.
    loos : mapping of str to Loo
    stacking : mapping of str to float
        Weights of the mixture that predicts left-out runs best.
    pseudo_bma : mapping of str to float
        Akaike-like weights, averaged over Bayesian bootstraps.
    seed : int
    """

    fits: Mapping[str, "Fit"]
    loos: Mapping[str, Loo]
    stacking: Mapping[str, float]
    pseudo_bma: Mapping[str, float]
    seed: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the laws, best first."""
        return tuple(self.loos)

    @property
    def best(self) -> Loo:
        """The law with the highest elpd."""
        return next(iter(self.loos.values()))

    @property
    def by(self) -> str:
        """What was left out: ``"row"``, or the column of runs or groups."""
        return self.best.units.by

    @property
    def converged(self) -> bool:
        """Whether all fits passed their gates."""
        return all(fit.converged for fit in self.fits.values())

    def difference(self, name: str) -> tuple[float, float]:
        """How far elpd is from the best law's, and the paired standard error, nats."""
        each = self.loos[name].elpd_i - self.best.elpd_i
        return float(each.sum()), (0.0 if name == self.best.name else standard_error(each))

    def apart(self, name: str) -> bool:
        """Whether a law is worse than the best by more than chance may make."""
        size, error = self.difference(name)
        return abs(size) >= CLOSE and abs(size) >= CLEAR * error

    @cached_property
    def stack(self) -> Stack:
        """The laws as a mixture with the stacking weights."""
        return Stack(self.fits, self.stacking, self.seed)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the fits say, each with its name, and which laws can't be told apart."""
        lines = [f"{n}: {line}" for n, loo in self.loos.items() for line in loo.warnings]
        for name in self.names[1:]:
            if not self.apart(name):
                size, error = self.difference(name)
                lines.append(
                    f"{name} and {self.best.name} can't be told apart on these runs: elpd differs "
                    f"by {abs(size):.1f} (SE {error:.1f})."
                )
        if len(self.best.units) < MANY:
            lines.append(
                f"{len(self.best.units)} left out: with fewer than {MANY}, standard errors of "
                "differences are often too small (arXiv:2008.10296)."
            )
        return tuple(lines)

    def record(self, name: str) -> dict[str, Any]:
        """One law as JSON."""
        found, (size, error) = self.loos[name], self.difference(name)
        kept = ("elpd", "se", "p_loo", "pareto_k", "refitted", "unreliable", "converged")
        known = found.to_dict()
        return {
            "name": name,
            "law": self.fits[name].law.name,
            "noise": self.fits[name].model.noise.describe(),
            **{k: known[k] for k in kept},
            "elpd_diff": size,
            "diff_se": error,
            "told_apart": None if name == self.best.name else self.apart(name),
            "stacking_weight": self.stacking[name],
            "pseudo_bma_weight": self.pseudo_bma[name],
            "verdict": self.fits[name].gate.headline(),
        }

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON."""
        return {
            "by": self.by,
            "units": len(self.best.units),
            "note": self.best.units.note,
            "best": self.best.name,
            "converged": self.converged,
            "warnings": list(self.warnings),
            "laws": [self.record(name) for name in self.names],
        }

    def to_frame(self) -> "pd.DataFrame":
        """A tidy table: one row a law, best first."""
        rows = []
        for name in self.names:
            record = self.record(name)
            record |= {f"pareto_k_{k}": v for k, v in record.pop("pareto_k").items()}
            record |= {k: len(record[k]) for k in ("refitted", "unreliable")}
            rows.append(record)
        return frame(rows)

    def pointwise(self) -> "pd.DataFrame":
        """Log predictive density of each unit (rows) under each law (columns), nats."""
        import pandas as pd

        index = pd.Index(self.best.units.names, name=self.by)
        return pd.DataFrame({n: loo.elpd_i for n, loo in self.loos.items()}, index=index)

    def table(self) -> Table:
        """The result as a table."""
        rows = [self._row(name) for name in self.names]
        columns = ["", "elpd", "SE", "diff", "SE", "p_loo", "stack", "BMA+", "Pareto k", "fit"]
        what = "single rows" if self.by == "row" else f"all rows of one {self.by}"
        units = self.best.units
        title = f"{len(rows)} laws, {what} left out in turn ({len(units)})"
        notes = [
            "elpd: log predictive density of what was left out, nats; diff: to the best law",
            "stack: weight in the mixture that predicts best; BMA+: Akaike-like weight",
        ]
        notes += [units.note] if units.note else []
        return Table(columns, rows, title, self.warnings, notes, text=("", "fit"))

    def _row(self, name: str) -> list[str]:
        found, (size, error) = self.loos[name], self.difference(name)
        cells = [name, f"{found.elpd:.1f}", f"{found.se:.1f}"]
        cells += ["–", "–"] if name == self.best.name else [f"{size:.1f}", f"{error:.1f}"]
        cells += [f"{found.p_loo:.1f}", f"{self.stacking[name]:.2f}"]
        verdict = self.fits[name].gate.headline().split(" (")[0]
        return [*cells, f"{self.pseudo_bma[name]:.2f}", k_cell(found), verdict]


def ranked(values: Mapping[str, Loo]) -> list[str]:
    """Names by elpd, the highest first."""
    order = np.argsort([-v.elpd for v in values.values()], kind="stable")
    return [list(values)[k] for k in order]
