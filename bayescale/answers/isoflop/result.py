"""What an IsoFLOP fit says: a and b, the optimum of each budget, and of budgets beyond."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.approach import PowerLaw
from bayescale.answers.isoflop.price import Price
from bayescale.tables import Shown, Table, frame, intervals, quantity, with_spread

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayescale.fitted import Fit

QUANTITIES = ("N_opt", "D_opt", "tokens_per_param", "loss")
ASKED = QUANTITIES[:3]  # of a budget without a slice: its least loss is not modelled


@dataclass(frozen=True)
class IsoFLOP(Shown):
    """Posterior of compute-optimal sizes by IsoFLOP slices; an `Approach`.

    Parameters
    ----------
    C : array, shape (budget,)
        FLOP of each slice.
    labels : tuple of str
        Its name in the fit.
    draws : mapping
        ``N_opt`` and ``D_opt`` at the slice's minimum, ``tokens_per_param``, and ``loss`` there;
        each of shape (draw, budget).
    exponents : mapping
        ``a`` and ``b``, draws of shape (draw,).
    size : PowerLaw
        N_opt(C), around which the slices' minima scatter.
    scatter : array, shape (draw,)
        Standard deviation of ln N_opt around it; 0 where the minima were held on it.
    price : Price
        How D follows from N and C.
    asked : array, shape (asked,)
        Further budgets in FLOP that the user asked about.
    n_sizes : integer array, shape (budget,)
        Distinct sizes of each slice.
    span : array, shape (budget, 2)
        Its smallest and largest size.
    interior : boolean array, shape (budget,)
        Whether its lowest loss lies at neither end.
    title, unit : str
    converged : bool
    warnings : tuple of str
    fit : Fit
        Where the draws come from.
    """

    C: np.ndarray
    labels: tuple[str, ...]
    draws: Mapping[str, np.ndarray] = field(repr=False)
    exponents: Mapping[str, np.ndarray] = field(repr=False)
    size: PowerLaw = field(repr=False)
    scatter: np.ndarray = field(repr=False)
    price: Price
    asked: np.ndarray
    n_sizes: np.ndarray
    span: np.ndarray
    interior: np.ndarray
    title: str
    unit: str
    converged: bool
    warnings: tuple[str, ...]
    fit: "Fit" = field(repr=False)
    name: str = "isoflop"

    def n_opt(self, C: Any) -> np.ndarray:
        """Compute-optimal parameters at budgets in FLOP by the power law, shape (draw, budget)."""
        return self.size.at(C)

    def d_opt(self, C: Any) -> np.ndarray:
        """Compute-optimal tokens at budgets in FLOP by the power law, shape (draw, budget)."""
        from bayescale.answers.points import read_values

        budgets = read_values("C", C)
        return self.price.tokens(self.size.at(budgets), budgets)

    @property
    def inside(self) -> np.ndarray:
        """P(the minimum of a slice lies between its smallest and largest size), by budget."""
        sizes = self.draws["N_opt"]
        return ((self.span[:, 0] <= sizes) & (sizes <= self.span[:, 1])).mean(axis=0)

    def at_asked(self) -> dict[str, np.ndarray]:
        """The power law at the budgets asked about, each quantity of shape (draw, asked)."""
        sizes, tokens = self.n_opt(self.asked), self.d_opt(self.asked)
        return {"N_opt": sizes, "D_opt": tokens, "tokens_per_param": tokens / sizes}

    def records(self) -> list[dict[str, Any]]:
        """A record for each slice."""
        inside = self.inside
        return [
            {"C": float(c), "budget": self.labels[k]}
            | {q: intervals(self.draws[q][:, k]) for q in QUANTITIES}
            | {"n_sizes": int(self.n_sizes[k]), "interior": bool(self.interior[k])}
            | {"minimum_inside": float(inside[k])}
            for k, c in enumerate(self.C)
        ]

    def extrapolations(self) -> list[dict[str, Any]]:
        """A record for each budget asked about."""
        if not len(self.asked):
            return []
        found = self.at_asked()
        return [
            {"C": float(c)}
            | {q: intervals(found[q][:, k]) for q in ASKED}
            | {"factor_beyond": float(max(1.0, c / self.C.max(), self.C.min() / c))}
            for k, c in enumerate(self.asked)
        ]

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {
            "approach": self.name,
            "unit": self.unit,
            "cost": self.price.describe(),
            "converged": self.converged,
            "warnings": list(self.warnings),
            "exponents": {k: intervals(v) for k, v in self.exponents.items()},
            "scatter": intervals(self.scatter),
            "budgets": self.records(),
            "asked": self.extrapolations(),
        }

    def to_frame(self) -> "pd.DataFrame":
        """A tidy table: one row for each budget and quantity; ``slice`` says whether it has one."""
        rows = []
        for record in (*self.records(), *self.extrapolations()):
            own = {"C": record["C"], "slice": "budget" in record}
            rows += [own | {"quantity": q, **record[q]} for q in QUANTITIES if q in record]
        return frame(rows)

    @property
    def dataset(self) -> "xr.Dataset":
        """Draws with named dims (draw, budget), a and b with (draw,); budgets in FLOP."""
        import xarray as xr

        arrays = {k: (("draw", "budget"), v) for k, v in self.draws.items()}
        arrays |= {k: (("draw",), v) for k, v in self.exponents.items()}
        return xr.Dataset(arrays, {"budget": self.C})

    def table(self) -> Table:
        """The answer as a table."""
        rows = [self._row(r, "interior" if r["interior"] else "at an end") for r in self.records()]
        rows += [self._row(r, "power law") for r in self.extrapolations()]
        notes = [f"90% credible intervals; L_min in {self.unit}; {self.price.describe()}"]
        notes += [f"{name} = {_told(v)}" for name, v in self.exponents.items()]
        if self.scatter.any():
            share = intervals(np.expm1(self.scatter))
            notes.append(
                f"minima scatter around the power law by {share['median']:.0%} "
                f"({share['q05']:.0%} to {share['q95']:.0%})"
            )
        columns = ["C", "N_opt", "90%", "D_opt", "90%", "D/N", "L_min", "minimum"]
        return Table(columns, rows, self.title, self.warnings, notes, text=("minimum",))

    def _row(self, record: Mapping[str, Any], minimum: str) -> list[str]:
        cells = [quantity(record["C"])]
        for name in QUANTITIES:
            q = record.get(name)
            short = name not in ("N_opt", "D_opt")  # its interval is in the frame
            if q is None:
                cells += ["–"] * (1 if short else 2)
                continue
            ends = (q["median"], q["q05"], q["q95"])
            if name == "loss":
                sd = (q["q95"] - q["q05"]) / 3.3
                middle, low, high = (with_spread(x, sd) for x in ends)
            else:
                middle, low, high = (quantity(x) for x in ends)
            cells += [middle] if short else [middle, f"{low} to {high}"]
        return [*cells, minimum]


@dataclass(frozen=True)
class IsoFLOPs(Shown):
    """IsoFLOP answers of several experiments, each fitted by itself.

    Parameters
    ----------
    by : str
        Column that tells them apart.
    answers : mapping
        Its label -> `IsoFLOP`.
    skipped : mapping
        Its label -> why there is no answer.
    """

    by: str
    answers: Mapping[str, IsoFLOP]
    skipped: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, label: str) -> IsoFLOP:
        from bayescale.errors import FitError, nearest

        if label not in self.answers:
            known = list(self.answers)
            raise FitError(
                f"there is no {self.by} '{label}'; there are {', '.join(known)}."
                + nearest(label, known)
            )
        return self.answers[label]

    def __iter__(self) -> Any:
        return iter(self.answers)

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def converged(self) -> bool:
        """Whether every fit passed its gate."""
        return all(a.converged for a in self.answers.values())

    @property
    def warnings(self) -> tuple[str, ...]:
        """What must be said, with the group that it is of."""
        said = [f"{k}: {w}" for k, a in self.answers.items() for w in a.warnings]
        return (*(f"{k} left out: {why}" for k, why in self.skipped.items()), *said)

    def to_dict(self) -> dict[str, Any]:
        """The answers as JSON."""
        return {
            "by": self.by,
            "converged": self.converged,
            "skipped": dict(self.skipped),
            "groups": {k: a.to_dict() for k, a in self.answers.items()},
        }

    def to_frame(self) -> "pd.DataFrame":
        """A tidy table: one row for each group, budget and quantity."""
        import pandas as pd

        parts = [a.to_frame().assign(**{self.by: k}) for k, a in self.answers.items()]
        joined: Any = pd.concat(parts, ignore_index=True)
        return joined[[self.by, *(c for c in joined if c != self.by)]]

    def table(self) -> Table:
        """a, b and the optimum at the budgets asked about, a row for each group."""
        rows = []
        asked = next(iter(self.answers.values())).asked
        for label, answer in self.answers.items():
            row = [label, str(len(answer.C)), *(_told(v) for v in answer.exponents.values())]
            for record in answer.extrapolations():
                q = record["N_opt"]
                row.append(f"{quantity(q['median'])} ({quantity(q['q05'])} to "
                           f"{quantity(q['q95'])})")  # fmt: skip
            rows.append(row)
        columns = [self.by, "budgets", "a", "b", *(f"N_opt at {quantity(c)}" for c in asked)]
        notes = ["median (90% credible interval); each fitted by itself"]
        return Table(columns, rows, f"IsoFLOP by {self.by}", self.warnings, notes, (self.by,))


def _told(draws: np.ndarray) -> str:
    """Median and 90% interval."""
    q, sd = intervals(draws), float(np.std(draws))
    middle, low, high = (with_spread(q[k], sd) for k in ("median", "q05", "q95"))
    return f"{middle} ({low} to {high})"
