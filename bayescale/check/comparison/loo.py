"""``loo``: how well a fit predicts each run, or each group of runs, that it was not shown."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayescale.check.comparison.naming import named
from bayescale.check.comparison.pointwise import log_likelihood
from bayescale.check.comparison.psis import good_k, log_mean_exp, psis
from bayescale.check.comparison.refits import cannot_weigh, exact
from bayescale.check.comparison.units import Units, find_units
from bayescale.errors import FitError
from bayescale.tables import Shown, Table, frame

if TYPE_CHECKING:
    import pandas as pd

    from bayescale.fitted import Fit

MAX_REFITS = 50
FEW_UNITS = 10  # below which a standard error says little


@dataclass(frozen=True)
class Loo(Shown):
    """Leave-one-out predictive density of one fit.

    Parameters
    ----------
    name : str
        Of the fit.
    units : Units
        What was left out together.
    elpd_i : array, shape (unit,)
        Log predictive density of each unit by a fit to the others, nats.
    lppd_i : array, shape (unit,)
        The same by the fit to all.
    pareto_k : array, shape (unit,)
        Of the importance weights; NaN where none could be had.
    threshold : float
        Pareto k above which weights don't serve.
    refitted : tuple of int
        Units whose density comes of an exact refit.
    unreliable : tuple of int
        Units with k above the threshold that were not refitted.
    converged : bool
        Whether the fit passed its gate.
    warnings : tuple of str
    """

    name: str
    units: Units
    elpd_i: np.ndarray
    lppd_i: np.ndarray
    pareto_k: np.ndarray
    threshold: float
    refitted: tuple[int, ...]
    unreliable: tuple[int, ...]
    converged: bool
    warnings: tuple[str, ...]

    @property
    def elpd(self) -> float:
        """Expected log predictive density of as many new units, nats."""
        return float(self.elpd_i.sum())

    @property
    def se(self) -> float:
        """Standard error of `elpd`."""
        return standard_error(self.elpd_i)

    @property
    def p_loo(self) -> float:
        """Effective number of parameters."""
        return float((self.lppd_i - self.elpd_i).sum())

    @property
    def bad(self) -> int:
        """Number of units whose k is above the threshold, or could not be had."""
        return int((~(self.pareto_k <= self.threshold)).sum())

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON."""
        known = self.pareto_k[~np.isnan(self.pareto_k)]
        names = self.units.names
        return {
            "name": self.name,
            "by": self.units.by,
            "units": len(self.units),
            "elpd": self.elpd,
            "se": self.se,
            "p_loo": self.p_loo,
            "pareto_k": {
                "max": float(known.max()) if len(known) else None,
                "bad": self.bad,
                "threshold": self.threshold,
            },
            "refitted": [names[u] for u in self.refitted],
            "unreliable": [names[u] for u in self.unreliable],
            "converged": self.converged,
            "warnings": list(self.warnings),
            "pointwise": [
                {self.units.by: n, "elpd": float(e), "pareto_k": float(k)}
                for n, e, k in zip(names, self.elpd_i, self.pareto_k, strict=True)
            ],
        }

    def to_frame(self) -> "pd.DataFrame":
        """A tidy table: one row a unit."""
        return frame(
            [
                {
                    self.units.by: name,
                    "elpd": float(self.elpd_i[u]),
                    "p_loo": float(self.lppd_i[u] - self.elpd_i[u]),
                    "pareto_k": float(self.pareto_k[u]),
                    "refitted": u in self.refitted,
                }
                for u, name in enumerate(self.units.names)
            ]
        )

    def table(self) -> Table:
        """The result as a table."""
        rows = [
            [self.name, f"{self.elpd:.1f}", f"{self.se:.1f}", f"{self.p_loo:.1f}", k_cell(self)]
        ]
        notes = [f"elpd: log predictive density of each {self.units.by} by a fit to the others"]
        notes += [self.units.note] if self.units.note else []
        if self.refitted:
            notes.append(f"exact refits without {self.units.by} {listed(self, self.refitted)}")
        title = f"Leave one {self.units.by} out: {len(self.units)} left out in turn"
        columns = ["", "elpd", "SE", "p_loo", "Pareto k"]
        return Table(columns, rows, title, self.warnings, notes)


def loo(
    fit: "Fit",
    *,
    by: str | None = None,
    refit: Literal["exact", "never"] = "exact",
    max_refits: int = MAX_REFITS,
    workers: int | None = None,
    executor: Any = None,
    progress: bool | None = None,
) -> Loo:
    """Leave one run, or one group of runs, out: the density of each by a fit to the others.

    Importance weights of the posterior draws stand for the refits (PSIS-LOO, Vehtari, Gelman,
    Gabry, arXiv:1507.04544). Where their Pareto k is above min(1 - 1/log10(draws), 0.7) they
    don't serve, and the fit is made again without those rows. Of rows of one run (checkpoints)
    all are left out together, with one joint density: their errors go together, and the others
    would give each away.

    Parameters
    ----------
    fit : Fit
    by : str, optional
        Column that names the run or another group; ``"row"`` leaves single rows out. Default:
        the run's column of the noise, or one that is named like a run's and has several rows a
        run; single rows where there is none and the residuals show no training curves.
    refit : {"exact", "never"}
        Whether units with a bad k are refitted.
    max_refits : int
        At most so many, those with the worst k first.
    workers, executor, progress
        As for `bayescale.fit_many`, for the refits.

    Returns
    -------
    Loo

    Raises
    ------
    FitError
        Rows look like checkpoints and no column names the run; a draw or log likelihood is not
        finite; a unit can only be refitted and must not be.
    """
    ((name, one),) = named([fit]).items()
    units = find_units({name: one}, by)
    options = {"workers": workers, "executor": executor, "progress": progress}
    return loo_of(one, name, units, refit, max_refits, options)


def loo_of(
    fit: "Fit",
    name: str,
    units: Units,
    refit: str,
    max_refits: int,
    options: Mapping[str, Any],
) -> Loo:
    """`loo` for units that are decided; ``options`` are for the refits."""
    if refit not in ("exact", "never"):
        raise FitError(f"refit is {refit!r}; expected 'exact' or 'never'.")
    limit = max_refits if refit == "exact" else 0
    table = log_likelihood(fit, units, name)
    elpd, k = psis(table)
    threshold = good_k(table.shape[0] * table.shape[1])
    needed = cannot_weigh(fit, units)
    k[needed] = np.nan
    bad = [int(u) for u in np.argsort(-np.nan_to_num(k, nan=np.inf)) if not k[u] <= threshold]
    if len(needed) > limit:
        raise FitError(
            f"{name}: {len(needed)} groups by '{units.by}' have parameters of their own, so each "
            f"needs a refit, and {limit} are allowed; allow more: max_refits={len(needed)}."
        )
    done = exact(fit, units, bad[:limit], name, **options)
    for one in done:
        elpd[one.unit] = one.elpd
    poor = [one.unit for one in done if not one.converged]
    lines = _warnings(fit, units, threshold, bad[limit:], poor)
    return Loo(
        name=name,
        units=units,
        elpd_i=elpd,
        lppd_i=log_mean_exp(table.reshape(-1, len(units))),
        pareto_k=k,
        threshold=threshold,
        refitted=tuple(one.unit for one in done),
        unreliable=tuple(sorted(bad[limit:])),
        converged=fit.converged,
        warnings=tuple(lines),
    )


def standard_error(values: np.ndarray) -> float:
    """Standard error of a sum over units."""
    return float(np.sqrt(len(values)) * np.std(values, ddof=1))


def listed(found: Loo, which: tuple[int, ...], most: int = 10) -> str:
    """Names of units, the first ones."""
    more = f" and {len(which) - most} more" if len(which) > most else ""
    return ", ".join(found.units.names[u] for u in which[:most]) + more


def k_cell(found: Loo) -> str:
    """Largest Pareto k, and what was done about bad ones, in a few words."""
    known = found.pareto_k[~np.isnan(found.pareto_k)]
    worst = f"{known.max():.2f}" if len(known) else "–"
    parts = [f"{len(found.refitted)} refitted"] if found.refitted else []
    parts += [f"{len(found.unreliable)} UNRELIABLE"] if found.unreliable else []
    return f"{worst} ({', '.join(parts)})" if parts else worst


def _warnings(
    fit: "Fit", units: Units, threshold: float, left: list[int], poor: list[int]
) -> list[str]:
    lines = list(fit.warnings)
    if left:
        names = ", ".join(units.names[u] for u in left[:5]) + (" …" if len(left) > 5 else "")
        lines.append(
            f"{len(left)} of {len(units)} have a Pareto k above {threshold:.2f} and were not "
            f"refitted ({units.by} {names}): their densities are too high by an unknown amount. "
            "Allow more refits: max_refits (--max-refits)."
        )
    if poor:
        names = ", ".join(units.names[u] for u in poor[:5])
        lines.append(f"refits without {units.by} {names} did not pass their gate.")
    if len(units) < FEW_UNITS:
        lines.append(f"only {len(units)} groups were left out: the standard errors say little.")
    return lines
