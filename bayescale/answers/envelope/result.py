"""The answer of the envelope: what it says, as a table, JSON, DataFrame and xarray."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.approach import PowerLaw
from bayescale.answers.envelope.crossings import Crossings
from bayescale.answers.envelope.curves import CurveDraws
from bayescale.tables import Shown, Table, frame, intervals, quantity, with_spread

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

NEVER = 0.05  # a run with less probability than this of being the best anywhere is called off it
SHOWN = 8  # crossings in the table; all are in the JSON
QUANTITIES = ("N_opt", "D_opt", "tokens_per_param", "loss")


@dataclass(frozen=True)
class Envelope(Shown):
    """Posterior of the lower envelope of training curves.

    Parameters
    ----------
    exponents : mapping
        ``a`` and ``b``, draws of shape (draw,).
    size, tokens : PowerLaw
        N_opt and D_opt along compute.
    curves : CurveDraws
        The runs' curves, draws whose envelope crosses often enough.
    crossings : Crossings
    spread : array, shape (draw,)
        By which share of its loss a run's whole curve is off, SD between runs.
    C : array, shape (budget,)
        Budgets that were asked about, FLOP.
    title, source, unit : str
    warnings : tuple of str
    converged : bool
        Always True: draws are independent.
    """

    exponents: Mapping[str, np.ndarray]
    size: PowerLaw
    tokens: PowerLaw
    curves: CurveDraws
    crossings: Crossings
    spread: np.ndarray
    C: np.ndarray
    title: str
    source: str
    unit: str
    warnings: tuple[str, ...] = ()
    converged: bool = field(default=True)
    name: str = field(default="envelope")

    def n_opt(self, C: Any) -> np.ndarray:
        """Compute-optimal parameters at budgets in FLOP, shape (draw, budget)."""
        return self.size.at(C)

    def d_opt(self, C: Any) -> np.ndarray:
        """Compute-optimal tokens at budgets in FLOP, shape (draw, budget)."""
        return self.tokens.at(C)

    def loss(self, C: Any) -> np.ndarray:
        """Least loss of the curves with at most C FLOP, shape (draw, budget); NaN beyond the data.

        It is that of the sizes at hand: between two of them the best size would lose a little
        less.
        """
        from bayescale.answers.points import read_values

        log_c, grid = np.log(read_values("C", C)), self.crossings.grid
        step = grid[1] - grid[0]
        place = np.clip((log_c - grid[0]) / step, 0, len(grid) - 1 - 1e-9)
        left = place.astype(int)
        share = place - left
        lowest = self.crossings.lowest
        found = lowest[:, left] * (1 - share) + lowest[:, left + 1] * share
        inside = (log_c >= grid[0] - 1e-9) & (log_c <= grid[-1] + 1e-9)
        return np.where(inside, found, np.nan)

    @property
    def span(self) -> tuple[float, float]:
        """Smallest and largest compute of the curves."""
        return float(np.exp(self.crossings.grid[0])), float(np.exp(self.crossings.grid[-1]))

    @property
    def on_envelope(self) -> dict[str, float]:
        """For each run the probability that it is the best one at some compute."""
        share = self.crossings.on.mean(axis=0)
        return {n: float(p) for n, p in zip(self.curves.data.names, share, strict=True)}

    @property
    def never(self) -> tuple[str, ...]:
        """Runs that are practically never the best one."""
        return tuple(n for n, p in self.on_envelope.items() if p < NEVER)

    def at_budgets(self) -> dict[str, np.ndarray]:
        """Draws of N_opt, D_opt, their ratio and the envelope's loss at the budgets asked."""
        size, tokens = self.n_opt(self.C), self.d_opt(self.C)
        values = (size, tokens, tokens / size, self.loss(self.C))
        return dict(zip(QUANTITIES, values, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        found, largest = self.at_budgets(), self.span[1]
        budgets = []
        for k, c in enumerate(self.C):
            factor = float(max(1.0, c / largest))
            record: dict[str, Any] = {"C": float(c)}
            record |= {name: _intervals(v[:, k]) for name, v in found.items()}
            budgets.append(
                record | {"outside": {"inside_data": factor <= 1 + 1e-9, "factor": factor}}
            )
        return {
            "approach": self.name,
            "source": self.source,
            "unit": self.unit,
            "converged": self.converged,
            "warnings": list(self.warnings),
            "exponents": {name: intervals(v) for name, v in self.exponents.items()},
            "spread_between_runs": intervals(self.spread),
            "noise": {
                "sigma": intervals(self.curves.sigma),
                "memory": intervals(self.curves.memory),
            },
            "crossings": crossing_records(self),
            "runs": run_records(self),
            "never_on_envelope": list(self.never),
            "C_range": list(self.span),
            "budgets": budgets,
        }

    def to_frame(self) -> "pd.DataFrame":
        """A tidy table: exponents, then one row for each budget and quantity."""
        rows = [{"C": np.nan, "quantity": n, **intervals(v)} for n, v in self.exponents.items()]
        for name, values in self.at_budgets().items():
            for k, c in enumerate(self.C):
                known = _intervals(values[:, k])
                rows += [{"C": float(c), "quantity": name, **known}] if known else []
        return frame(rows)

    @property
    def dataset(self) -> "xr.Dataset":
        """Draws with named dims (draw, budget, compute); budgets and compute in FLOP."""
        import xarray as xr

        arrays: dict[str, Any] = {n: ("draw", v) for n, v in self.exponents.items()}
        arrays |= {n: (("draw", "budget"), v) for n, v in self.at_budgets().items()}
        arrays["envelope"] = (("draw", "compute"), self.crossings.lowest)
        grid = np.exp(self.crossings.grid)
        return xr.Dataset(arrays, {"budget": self.C, "compute": grid})

    def table(self) -> Table:
        """The answer as a table."""
        rows = []
        for k, c in enumerate(self.C):
            cells = [quantity(float(c))]
            for name, v in self.at_budgets().items():
                cells += _cells(v[:, k], name == "loss")
            rows.append(cells)
        notes = [f"90% credible intervals; L is the least of the curves, in {self.unit}"]
        notes += [f"{n} = {interval_text(v)}" for n, v in self.exponents.items()]
        notes += _crossing_lines(crossing_records(self))
        notes.append(f"runs are off by {interval_text(100 * self.spread)} % of their loss (SD)")
        if self.never:
            notes.append(f"never on the envelope (P < {NEVER:g}): {', '.join(self.never)}")
        columns = ["C", "N_opt", "90%", "D_opt", "90%", "D/N", "90%", "L", "90%"]
        return Table(columns, rows, self.title, self.warnings, notes)


def interval_text(draws: np.ndarray) -> str:
    """Median and 90% interval with as many digits as the draws carry."""
    q, sd = intervals(draws), float(np.std(draws))
    middle, low, high = (with_spread(q[k], sd) for k in ("median", "q05", "q95"))
    return f"{middle} ({low} to {high})"


def crossing_records(answer: Envelope) -> list[dict[str, Any]]:
    """Pairs of runs that cross in at least 5% of draws, by compute."""
    found, data = answer.crossings, answer.curves.data
    there = np.isfinite(found.log_c)
    pairs, place = np.unique(found.pair[there], axis=0, return_inverse=True)
    place, log_c = place.ravel(), found.log_c[there]
    records = []
    for k, pair in enumerate(pairs):
        own = log_c[place == k]
        if len(own) < NEVER * len(there):
            continue
        log_n = data.log_n[pair]
        records.append(
            {
                "runs": [data.names[int(r)] for r in pair],
                "N": [float(n) for n in np.exp(log_n)],
                "N_between": float(np.exp(log_n.mean())),
                "C": intervals(np.exp(own)),
                "probability": len(own) / len(there),
            }
        )
    return sorted(records, key=lambda r: r["C"]["median"])


def run_records(answer: Envelope) -> list[dict[str, Any]]:
    """Each run with its size, its span of tokens, and how surely it is the best somewhere."""
    data = answer.curves.data
    low, high = np.exp(data.spans(data.log_d))
    share = answer.on_envelope
    return [
        {
            "run": name,
            "N": float(np.exp(data.log_n[k])),
            "D": [float(low[k]), float(high[k])],
            "checkpoints": int((data.code == k).sum()),
            "on_envelope": share[name],
        }
        for k, name in enumerate(data.names)
    ]


def _crossing_lines(records: list[dict[str, Any]]) -> list[str]:
    """The likeliest crossings, by compute."""
    least = sorted((r["probability"] for r in records), reverse=True)[:SHOWN][-1]
    lines = []
    for r in records:
        if r["probability"] < least:
            continue
        small, large = (quantity(n) for n in r["N"])
        middle, low, high = (quantity(r["C"][k]) for k in ("median", "q05", "q95"))
        sure = "" if r["probability"] > 0.995 else f", in {r['probability']:.0%} of draws"
        lines.append(f"N = {small} and {large} cross at C = {middle} ({low} to {high}){sure}")
    return lines


def _intervals(draws: np.ndarray) -> dict[str, float] | None:
    return intervals(draws) if np.isfinite(draws).all() else None


def _cells(draws: np.ndarray, fine: bool) -> list[str]:
    q = _intervals(draws)
    if q is None:
        return ["–", "–"]
    sd = float(np.std(draws))
    middle, low, high = (
        with_spread(q[k], sd) if fine else quantity(q[k]) for k in ("median", "q05", "q95")
    )
    return [middle, f"{low} to {high}"]
